// SimReadCounts: by which ways bytes were read from a simulated file system, so that a test can tell that a way was taken.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace cambium {

struct SimReadCounts {
  std::uint64_t maps = 0;           // regions made
  std::uint64_t mapped_copies = 0;  // CopyOut
  std::uint64_t cached = 0;         // ReadCached that had everything
  std::uint64_t not_cached = 0;     // ReadCached that had not
  std::uint64_t in_part = 0;        // Residency that said: some of it
  std::uint64_t submits = 0;        // calls of Submit
  std::array<std::uint64_t, 2> queued{};  // reads handed in, to queues that asked for no io_uring and that asked for it
  std::uint64_t together_max = 0;   // reads under way at a time in one queue

  SimReadCounts& operator+=(const SimReadCounts& other) {
    maps += other.maps;
    mapped_copies += other.mapped_copies;
    cached += other.cached;
    not_cached += other.not_cached;
    in_part += other.in_part;
    submits += other.submits;
    for (std::size_t kind = 0; kind < queued.size(); ++kind) queued[kind] += other.queued[kind];
    together_max = std::max(together_max, other.together_max);
    return *this;
  }
};

}  // namespace cambium
