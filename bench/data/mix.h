// Mix: hashes several numbers into one. Seeds and offsets made from it are the same in every run and on every machine.
#pragma once

#include <cstdint>

namespace cambium::bench {

// The finaliser of splitmix64: a bijection in which each bit of the input changes half of the output's.
constexpr std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
template <typename... More>
constexpr std::uint64_t Mix(std::uint64_t first, std::uint64_t second, More... more) {
  return Mix(Mix(first) ^ second, more...);
}

}  // namespace cambium::bench
