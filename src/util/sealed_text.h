// SealedText: human-readable text whose last line is a checksum, so that a reader detects any change.
//
//   ...
//   checksum=0123456789abcdef        XXH3 of every byte before this line, seed 0, in hexadecimal, then '\n'
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cambium/slice.h"

namespace cambium {

// Returns `text`, which ends with '\n', followed by its checksum line.
[[nodiscard]] std::string SealText(std::string text);
// Returns the text without its checksum line, or nullopt if the checksum does not match.
[[nodiscard]] std::optional<Slice> UnsealText(Slice bytes);

// Convert a number to 16 lower-case hexadecimal digits, most significant first, and back. ParseHex returns false for
// any other form.
[[nodiscard]] std::string HexOf(std::uint64_t number);
[[nodiscard]] bool ParseHex(Slice digits, std::uint64_t* number);

}  // namespace cambium
