// LeafFilter: a Bloom filter over the keys of one leaf, kept in the branch above it, so that a look-up of a key that is
// not there ends without the leaf: no cache misses in it, and no read if it is not in memory. In the branch and not in
// a structure of its own, because what a merge takes over by address takes its filter along, and what it rewrites it
// has the keys of.
//
//   64-bit words, little-endian, at least one; n keys at b bits each have ceil(n b / 64) of them
//
// Which bits: h = FilterHash(key), of w words. A key has all its bits in v = min(w, 8) words that follow each other, the
// first of them number floor((h >> 32) * w / 2^32), and behind the last word comes the first one again: a look-up meets
// two cache lines at most. Bit number i, from 1, is floor(((h * 0x9e3779b97f4a7c15^i mod 2^64) >> 32) * 64 v / 2^32),
// counted from the first of the v words. How many bits a key has is the page's to say.
//
// Keys that are equal must have equal bytes, so a filter is of no use under a comparator that says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/slice.h"

namespace cambium {

// Borrows its bytes. Without words it says "perhaps" to every key. Any thread.
struct LeafFilter {
  Slice words;          // whole words
  unsigned probes = 0;  // bits of a key, 1 to kFilterProbesMax

  // False only if no such key was added. `hash` of FilterHash.
  [[nodiscard]] bool MayContain(std::uint64_t hash) const;
};

// The words of a filter over keys with these hashes; none if there are no keys.
[[nodiscard]] std::string MakeLeafFilter(const std::vector<std::uint64_t>& hashes, unsigned bits_per_key);

}  // namespace cambium
