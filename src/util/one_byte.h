// MendOneByte: repairs a single damaged byte by trying changes until a checksum matches.
#pragma once

#include <cstdint>
#include <string>

namespace cambium {

// Changes one byte of *bytes so that is_right(), which checks *bytes, returns true. Returns false and leaves *bytes
// unchanged if it finds no such change. First tries all changes of a single bit, which are 8 of the 255 possible
// changes of each byte, then all changes of a byte. Skips a search that might check more than *budget bytes. Subtracts
// the bytes that it has checked from *budget.
template <typename IsRight>
bool MendOneByte(std::string* bytes, std::uint64_t* budget, const IsRight& is_right) {
  const std::uint64_t once = std::uint64_t{bytes->size()} * bytes->size();
  const auto try_with = [&](char* byte, unsigned mask) {
    *budget -= bytes->size();
    *byte = static_cast<char>(static_cast<unsigned char>(*byte) ^ mask);
    if (is_right()) return true;
    *byte = static_cast<char>(static_cast<unsigned char>(*byte) ^ mask);
    return false;
  };
  constexpr unsigned kBits = 8;
  constexpr unsigned kMasks = 1u << kBits;
  if (once > *budget / kBits) return false;
  for (char& byte : *bytes) {
    for (unsigned bit = 0; bit < kBits; ++bit) {
      if (try_with(&byte, 1u << bit)) return true;
    }
  }
  if (once > *budget / kMasks) return false;
  for (char& byte : *bytes) {
    for (unsigned mask = 1; mask < kMasks; ++mask) {
      if (try_with(&byte, mask)) return true;
    }
  }
  return false;
}

}  // namespace cambium
