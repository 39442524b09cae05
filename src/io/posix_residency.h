// Two ways to ask the kernel how much of a file is in the page cache.
//
// cachestat(2), since Linux 6.5, looks into the cache itself and is cheap for any size; mincore(2) needs the range
// mapped and writes a byte per page. Neither gives a true answer to a process that does not own the file and may not
// write it, since such a process could spy on what others read. Then cachestat refuses, but mincore claims that
// everything is resident, so we must not ask mincore.
#pragma once

#include <cstdint>

namespace cambium {

// Both count the resident bytes of [offset, offset + length), length > 0. They count whole pages, but at most `length`
// bytes, so the result may be wrong by up to a page at each end. They return false and leave *resident_bytes unchanged
// if the kernel does not answer. The caller has checked that a file can have the range.
[[nodiscard]] bool ResidencyByCacheStat(int fd, std::uint64_t offset, std::uint64_t length,
                                        std::uint64_t* resident_bytes);
[[nodiscard]] bool ResidencyByMincore(int fd, std::uint64_t offset, std::uint64_t length,
                                      std::uint64_t* resident_bytes);

}  // namespace cambium
