#include "io/posix_map.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "io/guarded_copy.h"
#include "io/posix_error.h"
#include "io/posix_transfer.h"
#include "io/system_page.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // as in linux/mman.h; older headers lack it
#endif

namespace cambium {
namespace {

// The regions that the process has mapped.
std::atomic<std::size_t> mapped_regions{0};

// Returns why a library should not map files into this process, or null.
const char* WhyNotToMap() {
  if (!InstallCopyGuard()) return "copies cannot be guarded here";
  // A mapping takes the address space of a whole segment, which the program may need for its own memory.
  struct rlimit space = {};
  if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY) return "address space is limited (RLIMIT_AS)";
  if (mapped_regions.load(std::memory_order_relaxed) >= kMappedRegionsMax) return "too many files are mapped";
  return nullptr;
}

// Maps the file so that no page is read or locked now, even if the process has called mlockall(MCL_FUTURE): the kernel
// reads no pages of a range without access, and munlock ends the lock before access is given.
void* MapUnlocked(int fd, std::size_t bytes, off_t offset) {
  void* const address = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, fd, offset);
  if (address == MAP_FAILED) return address;
  if (::munlock(address, bytes) == 0 && ::mprotect(address, bytes, PROT_READ) == 0) return address;
  const int error = errno;
  ::munmap(address, bytes);
  errno = error;
  return MAP_FAILED;
}

class PosixMap final : public MappedRegion {
 public:
  // `mapped` bytes are mapped at `base`, or none if it is nullptr. The region starts at base + skip.
  PosixMap(std::shared_ptr<const PosixDescriptor> file, std::string path, std::uint64_t offset, std::size_t size,
           char* base, std::size_t mapped, std::size_t skip)
      : file_(std::move(file)),
        path_(std::move(path)),
        offset_(offset),
        size_(size),
        base_(base),
        mapped_(mapped),
        skip_(skip) {
    mapped_regions.fetch_add(1, std::memory_order_relaxed);
  }
  ~PosixMap() override {
    if (base_ != nullptr) ::munmap(base_, mapped_);
    mapped_regions.fetch_sub(1, std::memory_order_relaxed);
  }
  PosixMap(const PosixMap&) = delete;
  PosixMap& operator=(const PosixMap&) = delete;

  const char* data() const override { return base_ == nullptr ? "" : base_ + skip_; }
  std::size_t size() const override { return size_; }

  Status CopyOut(std::size_t offset, std::size_t n, char* out) const override {
    if (offset > size_ || n > size_ - offset) {
      return Status::InvalidArgument("copy from map of " + path_ + ": " + std::to_string(n) + " bytes at " +
                                     std::to_string(offset) + " of " + std::to_string(size_));
    }
    if (n > 0 && CopyGuardHolds() && GuardedCopy(out, data() + offset, n)) return Status::OK();
    // Reading the file gives the error and its offset.
    const std::uint64_t start = offset_ + offset;
    const TransferEnd end = ReadToEnd(n, 1, [&](std::size_t from, std::size_t size) {
      return ::pread(file_->get(), out + from, size, static_cast<off_t>(start + from));
    });
    if (end.error != 0) return PosixError("read mapped", path_, start + end.moved, end.error);
    if (end.moved == n) return Status::OK();
    return Status::IOError("read mapped " + path_ + ":" + std::to_string(start + end.moved) +
                           ": the file ends within the mapped range");
  }

  void Populate(std::size_t offset, std::size_t n) const override {
    if (base_ == nullptr || offset >= size_) return;
    const std::size_t begin = (skip_ + offset) / SystemPageBytes() * SystemPageBytes();
    const std::size_t end = skip_ + offset + std::min(n, size_ - offset);
    // Since Linux 5.14. If the kernel lacks it, or a page is evicted meanwhile, the copies fault as without this call.
    static_cast<void>(::madvise(base_ + begin, end - begin, MADV_POPULATE_READ));
  }

 private:
  const std::shared_ptr<const PosixDescriptor> file_;
  const std::string path_;
  const std::uint64_t offset_;  // in the file
  const std::size_t size_;
  char* const base_;
  const std::size_t mapped_;
  const std::size_t skip_;
};

}  // namespace

Status MapFile(std::shared_ptr<const PosixDescriptor> file, const std::string& path, std::uint64_t offset,
               std::size_t length, std::unique_ptr<MappedRegion>* region) {
  char* base = nullptr;
  const std::size_t skip = offset % SystemPageBytes();  // the kernel maps from page boundaries only
  const std::size_t mapped = skip + length;
  if (const char* const why = WhyNotToMap(); why != nullptr) {
    return Status::NotSupported("map " + path + ": " + why);
  }
  if (length > 0) {
    void* const address = MapUnlocked(file->get(), mapped, static_cast<off_t>(offset - skip));
    if (address == MAP_FAILED) {
      return PosixError("map", path, offset, errno == ENODEV ? EOPNOTSUPP : errno);
    }
    base = static_cast<char*>(address);
    // No readahead: for more than a page of bytes that are not in memory, callers read the file.
    static_cast<void>(::madvise(base, mapped, MADV_RANDOM));
  }
  try {
    *region = std::make_unique<PosixMap>(std::move(file), path, offset, length, base, mapped, skip);
  } catch (const std::bad_alloc&) {
    if (base != nullptr) ::munmap(base, mapped);
    throw;
  }
  return Status::OK();
}

}  // namespace cambium
