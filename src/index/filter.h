// Filter: a blocked Bloom filter over the keys of a run. "No" is certain; "yes" is wrong for 1 key in 100 at 10 bits.
//
//   offset     size  field               (little-endian)
//        0     64 n  blocks              512 bits each; all bits of a key are in one block, so a lookup reads one cache
//                                        line, at the price of 0.1 % more false positives than an unblocked filter
//     64 n        4  n                   at least 1
//   64 n+4        1  probes              bits set per key, 1 to 16
//   64 n+5        3  zero
//
// Block and bits of a key: h = Checksum64(key, kFilterHashSeed). The block is number floor((h >> 32) * n / 2^32). Each
// bit number has 9 bits: the first seven numbers are the upper 63 bits of h * 0x9e3779b97f4a7c15, the next seven are
// the upper 63 bits of that product times the same constant, and so on.
//
// The checksum of these bytes is stored by the file that holds them. The filter requires that equal keys have equal
// bytes, so it is not used under a comparator that cannot promise this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cambium/slice.h"
#include "io/system_allocator.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium {

// "cambFilt" read as a little-endian number. Part of the format.
inline constexpr std::uint64_t kFilterHashSeed = 0x746c6946626d6163u;
[[nodiscard]] inline std::uint64_t FilterHash(Slice key) { return Checksum64(key, kFilterHashSeed); }

inline constexpr unsigned kFilterBlockSize = 64;
inline constexpr unsigned kFilterBlockBits = 8 * kFilterBlockSize;
inline constexpr unsigned kFilterTrailerSize = 8;
inline constexpr unsigned kFilterProbesMax = 16;
inline constexpr std::uint64_t kFilterMultiplier = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio, as in SeedAt

// How many bits a key sets, given the filter's bits per key. ln 2 times the bits per key would be optimal if all blocks
// held equally many keys. Fuller blocks give most of the false positives, and fewer bits per key suit them better.
[[nodiscard]] constexpr unsigned FilterProbesFor(unsigned bits_per_key) {
  return std::clamp(bits_per_key * 65 / 100, 1u, kFilterProbesMax);
}

// The block that holds all bits of a key.
[[nodiscard]] inline std::size_t FilterBlockOf(std::uint64_t hash, std::size_t blocks) {
  return static_cast<std::size_t>((hash >> 32) * blocks >> 32);
}

// Calls visit(word, mask) for each bit of a key in its block.
template <typename Visit>
void VisitFilterBits(std::uint64_t hash, unsigned probes, Visit visit) {
  constexpr unsigned kBitNumberBits = 9;
  constexpr unsigned kNumbersPerProduct = 64 / kBitNumberBits;
  static_assert(8 * kFilterBlockSize == 1u << kBitNumberBits);
  std::uint64_t product = hash;
  while (probes > 0) {
    product *= kFilterMultiplier;
    std::uint64_t numbers = product;
    for (unsigned i = 0; i < kNumbersPerProduct && probes > 0; ++i, --probes) {
      const unsigned bit = static_cast<unsigned>(numbers >> (64 - kBitNumberBits));
      numbers <<= kBitNumberBits;
      visit(bit / 64, std::uint64_t{1} << (bit % 64));
    }
  }
}

// Tests all bits without an early exit: where the first missing bit is cannot be predicted by the processor.
[[nodiscard]] inline bool FilterBlockContains(const char* block, std::uint64_t hash, unsigned probes) {
  std::uint64_t missing = 0;
  VisitFilterBits(hash, probes, [&](unsigned word, std::uint64_t mask) {
    missing |= ~DecodeFixed<std::uint64_t>(block + std::size_t{word} * 8) & mask;
  });
  return missing == 0;
}
inline void AddToFilterBlock(char* block, std::uint64_t hash, unsigned probes) {
  VisitFilterBits(hash, probes, [&](unsigned word, std::uint64_t mask) {
    char* const at = block + std::size_t{word} * 8;
    EncodeFixed<std::uint64_t>(at, DecodeFixed<std::uint64_t>(at) | mask);
  });
}

struct alignas(kFilterBlockSize) FilterBlock {
  std::uint64_t words[8] = {};
};
static_assert(sizeof(FilterBlock) == kFilterBlockSize);
using FilterBlocks = std::vector<FilterBlock, SystemAllocator<FilterBlock>>;

// Collects keys, then encodes the filter. One thread.
class FilterBuilder {
 public:
  // `bits_per_key` is 1 to 64; more than 24 gain next to nothing. If `keys_expected` is given, even roughly, the blocks
  // are allocated at once. If not, the builder holds 8 bytes per key until Finish, and then the blocks too.
  explicit FilterBuilder(unsigned bits_per_key, std::uint64_t keys_expected = 0);

  void Add(Slice key) { AddHash(FilterHash(key)); }
  void AddHash(std::uint64_t hash);  // a FilterHash
  // Returns the encoded filter. The builder is then empty, and no number of keys is expected any more.
  [[nodiscard]] std::string Finish();

 private:
  void SizeFor(std::uint64_t keys);
  void Set(std::uint64_t hash);

  unsigned bits_per_key_;
  unsigned probes_;
  std::vector<std::uint64_t, SystemAllocator<std::uint64_t>> hashes_;  // until the size is known
  FilterBlocks blocks_;
};

// A filter in memory. Immutable. Any thread.
class Filter {
 public:
  // Corruption if the bytes do not have this format. Any bytes that parse make a filter that answers in bounded time;
  // only the checksum shows that it is the right filter.
  static Result<Filter> Parse(Slice bytes);

  // False only if no such key was added.
  [[nodiscard]] bool MayContain(Slice key) const { return MayContain(FilterHash(key)); }
  [[nodiscard]] bool MayContain(std::uint64_t hash) const;
  // Prefetches the cache line that MayContain(hash) will read.
  void Prefetch(std::uint64_t hash) const;
  [[nodiscard]] std::size_t memory_bytes() const { return blocks_.size() * sizeof(FilterBlock) + sizeof(*this); }

 private:
  Filter(unsigned probes, FilterBlocks blocks) : probes_(probes), blocks_(std::move(blocks)) {}

  unsigned probes_;
  FilterBlocks blocks_;  // aligned to cache lines, which a string is not
};

}  // namespace cambium
