// What of a file the page cache holds: two ways to ask the kernel.
//
// cachestat(2), since Linux 6.5, answers from the cache itself, cheaply for any size; mincore(2) wants the range mapped
// and writes a byte a page. Neither tells a stranger, who could watch what others read: cachestat refuses, but mincore
// then claims that everything is resident, so that we must not ask it.
#pragma once

#include <cstdint>

namespace cambium {

// Both: the bytes of [offset, offset + length), length > 0, that are resident, in whole pages and at most `length`, so
// up to a page at each end is a guess. False if the kernel does not say; *resident_bytes is unchanged then. The range
// has been checked to lie within what a file can have.
[[nodiscard]] bool ResidencyByCacheStat(int fd, std::uint64_t offset, std::uint64_t length,
                                        std::uint64_t* resident_bytes);
[[nodiscard]] bool ResidencyByMincore(int fd, std::uint64_t offset, std::uint64_t length,
                                      std::uint64_t* resident_bytes);

}  // namespace cambium
