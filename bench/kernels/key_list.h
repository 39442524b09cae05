// KeyList: keys as cambium_bench writes them, in the order in which a kernel uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "data/key.h"
#include "data/permutation.h"

namespace cambium::bench {

inline constexpr std::size_t kKeySize = 16;

// Kernels are the same in every run. Seeds differ by use, because keys that are looked up in the order in which they
// were inserted lie side by side in memory.
inline constexpr std::uint64_t kInsertSeed = 1;
inline constexpr std::uint64_t kLookUpSeed = 2;

// Even numbers are there, odd ones are not: a key that is missing has neighbours on both sides.
[[nodiscard]] constexpr std::uint64_t PresentId(std::uint64_t i) { return 2 * i; }
[[nodiscard]] constexpr std::uint64_t AbsentId(std::uint64_t i) { return 2 * i + 1; }
// The i of either.
[[nodiscard]] inline std::uint64_t NumberOf(Slice key) { return *ParseKey(key, kKeySize) / 2; }

// Immutable, back to back in memory, so that the next key is never what a kernel waits for.
class KeyList {
 public:
  explicit KeyList(std::span<const std::uint64_t> ids) {
    bytes_.reserve(ids.size() * kKeySize);
    KeyBuffer key(kKeySize);
    for (const std::uint64_t id : ids) {
      const Slice bytes = key.Make(id);
      bytes_.append(bytes.data(), bytes.size());
    }
  }

  // `n` present or absent ones in random order, each once.
  static KeyList Shuffled(std::uint64_t n, std::uint64_t seed, bool present = true) {
    const Permutation order(n, seed);
    std::vector<std::uint64_t> ids(n);
    for (std::uint64_t i = 0; i < n; ++i) ids[i] = present ? PresentId(order.At(i)) : AbsentId(order.At(i));
    return KeyList(ids);
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size() / kKeySize; }
  [[nodiscard]] Slice operator[](std::size_t i) const { return {bytes_.data() + i * kKeySize, kKeySize}; }

 private:
  std::string bytes_;
};

// Goes round and round through a list, which must outlive it.
class KeyWheel {
 public:
  explicit KeyWheel(const KeyList& keys) : keys_(keys) {}
  // For thread number `thread` of `threads`: each begins elsewhere.
  KeyWheel(const KeyList& keys, int thread, int threads)
      : keys_(keys), next_(keys.size() / static_cast<std::size_t>(threads) * static_cast<std::size_t>(thread)) {}

  Slice Next() {
    const Slice key = keys_[next_];
    if (++next_ == keys_.size()) next_ = 0;
    return key;
  }

 private:
  const KeyList& keys_;
  std::size_t next_ = 0;
};

}  // namespace cambium::bench
