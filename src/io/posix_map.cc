#include "io/posix_map.h"

#include <sys/mman.h>

#include <algorithm>
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
        skip_(skip) {}
  ~PosixMap() override {
    if (base_ != nullptr) ::munmap(base_, mapped_);
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
  if (length > 0) {
    void* const address =
        ::mmap(nullptr, mapped, PROT_READ, MAP_SHARED, file->get(), static_cast<off_t>(offset - skip));
    if (address == MAP_FAILED) {
      return PosixError("map", path, offset, errno == ENODEV ? EOPNOTSUPP : errno);
    }
    base = static_cast<char*>(address);
    // No readahead: for more than a page of bytes that are not in memory, callers read the file.
    static_cast<void>(::madvise(base, mapped, MADV_RANDOM));
    static_cast<void>(InstallCopyGuard());  // without it copies are read from the file
  }
  *region = std::make_unique<PosixMap>(std::move(file), path, offset, length, base, mapped, skip);
  return Status::OK();
}

}  // namespace cambium
