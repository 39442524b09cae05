#include "io/posix_residency.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "io/system_page.h"
#include "util/coding.h"

namespace cambium {
namespace {

// The number of cachestat, which current headers of the C library lack. It is the same on every architecture.
constexpr long kCacheStatCall = 451;
struct CacheStatRange {
  std::uint64_t offset;
  std::uint64_t length;
};
struct CacheStat {
  std::uint64_t cached_pages;
  std::uint64_t dirty_pages;
  std::uint64_t writeback_pages;
  std::uint64_t evicted_pages;
  std::uint64_t recently_evicted_pages;
};

// Returns whether mincore answers truthfully, by the kernel's own condition.
bool MincoreIsHonest(int fd, const struct stat& facts) {
  return geteuid() == 0 || geteuid() == facts.st_uid || ::faccessat(fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

}  // namespace

bool ResidencyByCacheStat(int fd, std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) {
  CacheStatRange range = {offset, length};
  CacheStat stat = {};
  if (::syscall(kCacheStatCall, fd, &range, &stat, 0) != 0) return false;
  *resident_bytes = std::min(stat.cached_pages * SystemPageBytes(), length);
  return true;
}

bool ResidencyByMincore(int fd, std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) {
  struct stat facts;
  if (fstat(fd, &facts) != 0 || !MincoreIsHonest(fd, facts)) return false;
  const std::uint64_t page_bytes = SystemPageBytes();
  const std::uint64_t start = offset / page_bytes * page_bytes;
  const std::uint64_t end =
      std::min(AlignUp(offset + length, page_bytes), AlignUp(static_cast<std::uint64_t>(facts.st_size), page_bytes));
  constexpr std::uint64_t kStep = std::uint64_t{256} << 20;  // 64 KiB of answers at a time
  std::vector<unsigned char> in_core;
  std::uint64_t pages = 0;
  for (std::uint64_t at = start; at < end; at += kStep) {
    const std::size_t n = std::min(kStep, end - at);
    void* const address = ::mmap(nullptr, n, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(at));
    if (address == MAP_FAILED) return false;
    in_core.assign(n / page_bytes, 0);
    const bool answered = ::mincore(address, n, in_core.data()) == 0;
    ::munmap(address, n);
    if (!answered) return false;
    for (const unsigned char page : in_core) pages += page & 1;
  }
  *resident_bytes = std::min(pages * page_bytes, length);
  return true;
}

}  // namespace cambium
