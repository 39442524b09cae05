// BranchFilter: a Bloom filter over all keys below a level-1 branch, stored in the branch's page. A lookup of an absent
// key usually ends after reading one cache line of it: neither the branch nor a leaf is searched.
//
//   64 n bytes: n blocks of 512 bits; n is a power of two. All bits of a key are in one block; filter.h says which
//   block and which bits, as for the filters of runs. The page says how many bits a key sets.
//
// A sweep keeps most leaves by address without reading them, so it cannot rebuild the filter of the branch above from
// their keys. It starts from the old branch's filter and adds the new keys. The result contains every key below the new
// branch, and some keys that are gone. Filters of different sizes can be combined because n is a power of two: the keys
// of blocks 2i and 2i+1 in a filter of 2n blocks are those of block i in a filter of n blocks. A filter counts its
// keys, including keys that are gone. If the count is too high, the sweep reads the leaves and rebuilds the filter.
//
// The filter requires that equal keys have equal bytes, so it is not used under a comparator that cannot promise this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "index/filter.h"

namespace cambium {

// Borrows its blocks. An empty filter answers "perhaps" for every key. Any thread.
struct BranchFilter {
  const char* blocks = nullptr;
  std::uint32_t count = 0;
  std::uint32_t keys = 0;  // keys added, including stale ones that are no longer below the branch
  unsigned probes = 0;     // bits set per key, 1 to kFilterProbesMax

  // False only if no key with this FilterHash was added.
  [[nodiscard]] bool MayContain(std::uint64_t hash) const {
    return count == 0 || FilterBlockContains(BlockOf(hash), hash, probes);
  }
  [[nodiscard]] const char* BlockOf(std::uint64_t hash) const {
    return blocks + FilterBlockOf(hash, count) * kFilterBlockSize;
  }
};

// The keys of a leaf, as known when the branch above it is built: all hashes, or a filter that contains them, or
// nothing.
struct LeafKeys {
  std::vector<std::uint64_t> hashes;  // FilterHash of each key

  std::string blocks;  // of a BranchFilter, with the next two fields
  std::uint32_t filter_keys = 0;
  unsigned probes = 0;

  static std::shared_ptr<const LeafKeys> InFilter(const BranchFilter& filter);
  [[nodiscard]] bool is_filter() const { return !blocks.empty(); }
};

// Builds a filter of `blocks` blocks, a power of two. One thread.
class BranchFilterBuilder {
 public:
  BranchFilterBuilder(std::uint32_t blocks, unsigned probes) : probes_(probes), blocks_(blocks * kFilterBlockSize, '\0') {}

  void Add(std::uint64_t hash);
  // Adds all keys of another filter, which must have the same number of probes.
  void AddFilter(Slice blocks, std::uint32_t keys);

  [[nodiscard]] const std::string& blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t keys() const { return keys_; }

 private:
  const unsigned probes_;
  std::string blocks_;
  std::uint32_t keys_ = 0;  // a key whose bits were all set already counts as added before
};

}  // namespace cambium
