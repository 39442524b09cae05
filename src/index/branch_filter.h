// BranchFilter: a Bloom filter over all keys below a branch of level 1, kept in its page. A look-up of a key that is not
// there ends with one cache line of it: the branch is not searched, and no leaf is needed.
//
//   64 n bytes: n blocks, a power of two, of 512 bits each. A key has all its bits in one block; which block and which
//   bits is as in the filters of runs, see filter.h. How many bits a key has is the page's to say.
//
// A merge takes most leaves over by address and does not read them, so that it cannot make the filter of the branch
// above them anew. It takes the old branch's filter instead, and adds the keys that it has: all keys that are below the
// new branch are in, and some that no longer are. Filters of different sizes go together because n is a power of two:
// block i of n blocks holds what blocks 2i and 2i+1 of 2n do. How many keys a filter has, those included, is counted,
// and where they are too many, the keys are read from the leaves after all.
//
// Keys that are equal must have equal bytes, so a filter is of no use under a comparator that says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "index/filter.h"

namespace cambium {

// Borrows its blocks. Without any it says "perhaps" to every key. Any thread.
struct BranchFilter {
  const char* blocks = nullptr;
  std::uint32_t count = 0;
  std::uint32_t keys = 0;  // those of all keys that were added, which are not all there any more
  unsigned probes = 0;     // bits of a key, 1 to kFilterProbesMax

  // False only if no such key was added. `hash` of FilterHash.
  [[nodiscard]] bool MayContain(std::uint64_t hash) const {
    return count == 0 || FilterBlockContains(BlockOf(hash), hash, probes);
  }
  [[nodiscard]] const char* BlockOf(std::uint64_t hash) const {
    return blocks + FilterBlockOf(hash, count) * kFilterBlockSize;
  }
};

// What is known of a leaf's keys when the branch above it is made: all of them, or the filter that they are in, or
// nothing.
struct LeafKeys {
  std::vector<std::uint64_t> hashes;  // of FilterHash

  std::string blocks;  // of a BranchFilter, and the rest of it
  std::uint32_t filter_keys = 0;
  unsigned probes = 0;

  static std::shared_ptr<const LeafKeys> InFilter(const BranchFilter& filter);
  [[nodiscard]] bool is_filter() const { return !blocks.empty(); }
};

// Makes a filter of `blocks` blocks, a power of two. One thread.
class BranchFilterBuilder {
 public:
  BranchFilterBuilder(std::uint32_t blocks, unsigned probes) : probes_(probes), blocks_(blocks * kFilterBlockSize, '\0') {}

  void Add(std::uint64_t hash);
  // A filter of the same number of probes.
  void AddFilter(Slice blocks, std::uint32_t keys);

  [[nodiscard]] const std::string& blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t keys() const { return keys_; }

 private:
  const unsigned probes_;
  std::string blocks_;
  std::uint32_t keys_ = 0;  // a key whose bits were all there already is taken for one that was added before
};

}  // namespace cambium
