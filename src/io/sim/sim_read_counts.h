// SimReadCounts: counts the ways in which bytes were read from a simulated file system, so that a test can check that a
// way was taken.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace cambium {

struct SimReadCounts {
  std::uint64_t maps = 0;           // regions created
  std::uint64_t mapped_copies = 0;  // calls of CopyOut
  std::uint64_t cached = 0;         // calls of ReadCached that found all bytes
  std::uint64_t not_cached = 0;     // calls of ReadCached that did not
  std::uint64_t copied_bytes = 0;   // by CopyOut and such calls of ReadCached
  std::uint64_t in_part = 0;        // calls of Residency that found a part
  std::uint64_t submits = 0;        // calls of Submit
  std::array<std::uint64_t, 2> queued{};  // submitted reads: [0] to queues without use_io_uring, [1] with it
  std::uint64_t together_max = 0;   // the largest number of reads in flight at once in one queue

  SimReadCounts& operator+=(const SimReadCounts& other) {
    maps += other.maps;
    mapped_copies += other.mapped_copies;
    cached += other.cached;
    not_cached += other.not_cached;
    copied_bytes += other.copied_bytes;
    in_part += other.in_part;
    submits += other.submits;
    for (std::size_t kind = 0; kind < queued.size(); ++kind) queued[kind] += other.queued[kind];
    together_max = std::max(together_max, other.together_max);
    return *this;
  }
};

}  // namespace cambium
