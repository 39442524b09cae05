// SealedText: text for people whose last line is a checksum, so that it is read only as it was written.
//
//   ...
//   checksum=0123456789abcdef        XXH3 of every byte before this line, seed 0, in hexadecimal, then '\n'
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cambium/slice.h"

namespace cambium {

// `text`, which ends with an end of line, and its checksum.
[[nodiscard]] std::string SealText(std::string text);
// What was sealed; nullopt if it is not that any more.
[[nodiscard]] std::optional<Slice> UnsealText(Slice bytes);

// 16 lower-case digits, the most significant first; and back. False if it is not exactly that.
[[nodiscard]] std::string HexOf(std::uint64_t number);
[[nodiscard]] bool ParseHex(Slice digits, std::uint64_t* number);

}  // namespace cambium
