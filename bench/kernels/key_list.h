// KeyList: keys of cambium_bench, in the order in which a kernel uses them.
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

// Seeds are constant, so kernels do the same in every run. Lookups have another seed than inserts, because keys
// inserted one after the other are neighbours in memory.
inline constexpr std::uint64_t kInsertSeed = 1;
inline constexpr std::uint64_t kLookUpSeed = 2;

// Even ids exist, odd ones do not: a missing key has neighbours on both sides.
[[nodiscard]] constexpr std::uint64_t PresentId(std::uint64_t i) { return 2 * i; }
[[nodiscard]] constexpr std::uint64_t AbsentId(std::uint64_t i) { return 2 * i + 1; }
// Returns the i of a present or absent key.
[[nodiscard]] inline std::uint64_t NumberOf(Slice key) { return *ParseKey(key, kKeySize) / 2; }

// Immutable. Keys are contiguous in memory, so that a kernel never waits for the next key.
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

  // Returns `n` present or absent keys in random order, each once.
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

// Repeats the keys of a list, which must outlive it.
class KeyWheel {
 public:
  explicit KeyWheel(const KeyList& keys) : keys_(keys) {}
  // For thread number `thread` of `threads`: each starts at another key.
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
