// MendOneByte: finds the one byte that makes bytes right again, where a checksum knows what is right.
#pragma once

#include <cstdint>
#include <string>

namespace cambium {

// Changes one byte of *bytes so that is_right() holds, which looks at them. False, and nothing changed, if there is none,
// or if more than *budget bytes might have to be looked at; those that are, are taken off it. Single bits are tried first:
// they cost a 32nd.
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
