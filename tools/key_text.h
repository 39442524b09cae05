// Keys and values as text: in arguments and in output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cambium/slice.h"

namespace cambium::tool {

// Printable ASCII stands for itself, except the backslash, which is \\; any byte may be written as \xNN.
[[nodiscard]] std::string Escape(Slice bytes);
// False if `text` is malformed: a backslash with something else after it. Bytes above 126 are taken literally, as
// terminals send them.
[[nodiscard]] bool Unescape(const std::string& text, std::string* bytes);

[[nodiscard]] bool FromHex(const std::string& text, std::string* bytes);

// Hexadecimal if `hex`, the value of --hex; else escaped.
[[nodiscard]] inline std::string Format(Slice bytes, bool hex) { return hex ? bytes.ToString(true) : Escape(bytes); }
[[nodiscard]] inline bool Parse(const std::string& text, bool hex, std::string* bytes) {
  return hex ? FromHex(text, bytes) : Unescape(text, bytes);
}

// Returns the text of Format as it is written in a JSON string, without the quotes.
[[nodiscard]] std::string FormatInJson(Slice bytes, bool hex);

// A byte may take up to five bytes of text, so large values become text piece by piece. Calls `put` with the text of
// each piece until it returns false; returns the last result.
inline constexpr std::size_t kTextPieceBytes = 64u << 10;
template <typename Put>
[[nodiscard]] bool PutInPieces(Slice bytes, const Put& put) {
  for (std::size_t at = 0; at < bytes.size(); at += kTextPieceBytes) {
    if (!put(bytes.substr(at, std::min(kTextPieceBytes, bytes.size() - at)))) return false;
  }
  return true;
}

// Returns the beginning that fits into `width` bytes of text, and the length of all bytes.
[[nodiscard]] std::string Abbreviate(Slice bytes, bool hex, std::size_t width);

// "1234567 (1.2 MiB)"; below 1 KiB only the number.
[[nodiscard]] std::string Bytes(std::uint64_t n);
// "1.2 MiB"
[[nodiscard]] std::string ShortBytes(double n);

}  // namespace cambium::tool
