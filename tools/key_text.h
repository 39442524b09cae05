// Keys and values as text: in arguments, and on the screen.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/slice.h"

namespace cambium::tool {

// Printable ASCII stands for itself, but for the backslash; every byte may be \xNN, and a backslash is \\ too.
[[nodiscard]] std::string Escape(Slice bytes);
// False if it is not that: a backslash that begins nothing. Bytes above 126 stand for themselves, as terminals send them.
[[nodiscard]] bool Unescape(const std::string& text, std::string* bytes);

[[nodiscard]] bool FromHex(const std::string& text, std::string* bytes);

// As flags say: hexadecimal, or escaped.
[[nodiscard]] inline std::string Format(Slice bytes, bool hex) { return hex ? bytes.ToString(true) : Escape(bytes); }
[[nodiscard]] inline bool Parse(const std::string& text, bool hex, std::string* bytes) {
  return hex ? FromHex(text, bytes) : Unescape(text, bytes);
}

// Beginning, as long as it fits into `width` bytes of text, and how long it is.
[[nodiscard]] std::string Abbreviate(Slice bytes, bool hex, std::size_t width);

// "1234567 (1.2 MiB)"; below 1 KiB the number alone.
[[nodiscard]] std::string Bytes(std::uint64_t n);
// "1.2 MiB"
[[nodiscard]] std::string ShortBytes(double n);

}  // namespace cambium::tool
