#include "io/posix_file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "io/posix_error.h"
#include "io/posix_map.h"
#include "io/posix_residency.h"
#include "io/posix_sync.h"
#include "io/posix_transfer.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium {
namespace {

static_assert(sizeof(off_t) == 8, "files larger than 2 GiB need 64-bit offsets");
constexpr auto kOffsetMax = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

// More pieces than this take several calls; the kernel's limit is 1024.
constexpr std::size_t kPiecesMax = 256;
using Pieces = std::array<iovec, kPiecesMax>;

// Selects the parts of `buffers` that lie in [from, from + size) of their concatenation, at most kPiecesMax. Returns
// the number of pieces. The iovec of a write is not const, but the kernel only reads through it.
template <typename Buffer>
int SelectPieces(std::span<const Buffer> buffers, std::size_t from, std::size_t size, Pieces* pieces) {
  std::size_t count = 0;
  for (const Buffer& buffer : buffers) {
    if (size == 0 || count == kPiecesMax) break;
    if (from >= buffer.size()) {
      from -= buffer.size();
      continue;
    }
    const std::size_t n = std::min(buffer.size() - from, size);
    (*pieces)[count++] = {const_cast<char*>(buffer.data() + from), n};
    from = 0;
    size -= n;
  }
  return static_cast<int>(count);
}

template <typename Buffer>
std::size_t TotalSize(std::span<const Buffer> buffers) {
  std::size_t total = 0;
  for (const Buffer& buffer : buffers) total += buffer.size();
  return total;
}

// Returns false for file systems that accept O_DIRECT but then refuse every read, or that need more alignment than
// kDirectAlignment.
bool DirectWorksHere(int fd) {
#ifdef STATX_DIOALIGN
  struct statx facts = {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 && (facts.stx_mask & STATX_DIOALIGN) != 0) {
    return facts.stx_dio_offset_align != 0 && facts.stx_dio_offset_align <= kDirectAlignment &&
           facts.stx_dio_mem_align <= kDirectAlignment;
  }
#else
  (void)fd;
#endif
  return true;
}

}  // namespace

FileInfo FileInfoOf(const struct stat& facts) {
  FileInfo info;
  info.size = static_cast<std::uint64_t>(facts.st_size);
  info.allocated_bytes = static_cast<std::uint64_t>(facts.st_blocks) * 512;  // st_blocks always counts 512 B
  info.link_count = facts.st_nlink;
  info.inode = facts.st_ino;
  info.device = facts.st_dev;
  info.is_directory = S_ISDIR(facts.st_mode);
  info.is_regular = S_ISREG(facts.st_mode);
  return info;
}

PosixFile::PosixFile(std::string path, std::shared_ptr<const PosixDirectory> opened, PosixDescriptor descriptor,
                     bool direct)
    : path_(std::move(path)),
      opened_(std::move(opened)),
      descriptor_(std::make_shared<const PosixDescriptor>(std::move(descriptor))),
      fd_(descriptor_->get()),
      direct_(direct) {}

Status PosixFile::Open(const std::string& path, const PosixPlace& place, OpenMode mode, const FileOptions& options,
                       std::unique_ptr<File>* file) {
  // With O_NONBLOCK the open of a FIFO returns without a writer, so that we can refuse it.
  int flags = O_CLOEXEC | O_NONBLOCK;
  switch (mode) {
    case OpenMode::kReadOnly: flags |= O_RDONLY; break;
    case OpenMode::kReadWrite: flags |= O_RDWR; break;
    case OpenMode::kCreateNew: flags |= O_RDWR | O_CREAT | O_EXCL; break;
  }
  const char* const operation = mode == OpenMode::kCreateNew ? "create" : "open";
  PosixDescriptor descriptor(RetryOnSignal([&] { return ::openat(place.directory(), place.name, flags, 0644); }));
  if (!descriptor.valid()) return PosixError(operation, path, errno);
  struct stat facts;
  if (fstat(descriptor.get(), &facts) != 0) return PosixError("stat", path, errno);
  if (!S_ISREG(facts.st_mode)) return Status::IOError("open " + path + ": not a regular file");
  // O_DIRECT is set after the open: an open() with O_DIRECT and O_CREAT that is refused leaves an empty file.
  const int status_flags = fcntl(descriptor.get(), F_GETFL);
  if (status_flags < 0) return PosixError("open", path, errno);
  const int blocking = status_flags & ~O_NONBLOCK;  // with O_NONBLOCK io_uring may answer EAGAIN, even for files
  const bool direct = options.direct && DirectWorksHere(descriptor.get()) &&
                      fcntl(descriptor.get(), F_SETFL, blocking | O_DIRECT) == 0;
  if (!direct && fcntl(descriptor.get(), F_SETFL, blocking) != 0) return PosixError("open", path, errno);
  *file = std::unique_ptr<PosixFile>(new PosixFile(path, place.opened, std::move(descriptor), direct));
  return Status::OK();
}

Status PosixFile::CheckRange(const char* operation, std::uint64_t offset, std::uint64_t length) const {
  if (offset <= kOffsetMax && length <= kOffsetMax - offset) return Status::OK();
  return Status::InvalidArgument(std::string(operation) + " " + path_ + ":" + std::to_string(offset) + ": " +
                                 std::to_string(length) + " bytes end beyond what a file can hold");
}

Status PosixFile::Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const {
  *read = 0;
  if (offset >= kOffsetMax) return Status::OK();  // no file reaches there
  n = std::min<std::uint64_t>(n, kOffsetMax - offset);
  const TransferEnd end = ReadToEnd(n, alignment(), [&](std::size_t from, std::size_t size) {
    return ::pread(fd_, out + from, size, static_cast<off_t>(offset + from));
  });
  *read = end.moved;
  return end.error == 0 ? Status::OK() : PosixError("read", path_, offset + end.moved, end.error);
}

Status PosixFile::ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const {
  *read = 0;
  if (offset >= kOffsetMax) return Status::OK();
  const std::size_t n = std::min<std::uint64_t>(TotalSize(out), kOffsetMax - offset);
  const TransferEnd end = ReadToEnd(n, alignment(), [&](std::size_t from, std::size_t size) {
    Pieces pieces;
    const int count = SelectPieces(out, from, size, &pieces);
    return ::preadv(fd_, pieces.data(), count, static_cast<off_t>(offset + from));
  });
  *read = end.moved;
  return end.error == 0 ? Status::OK() : PosixError("read", path_, offset + end.moved, end.error);
}

Status PosixFile::ReadCached(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const {
  *read = 0;
  if (direct_) return Status::NotSupported("read cached " + path_ + ": opened with direct I/O");
  if (offset >= kOffsetMax) return Status::OK();
  if (always_waits_.load(std::memory_order_relaxed)) return ReadResident(offset, n, out, read);
  const iovec piece = {out, std::min<std::uint64_t>(n, kOffsetMax - offset)};
  const ssize_t got = ::preadv2(fd_, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  if (got >= 0) {
    *read = static_cast<std::size_t>(got);
    return Status::OK();
  }
  if (errno == EAGAIN || errno == EINTR) return Status::OK();
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) {
    always_waits_.store(true, std::memory_order_relaxed);
    return ReadResident(offset, n, out, read);
  }
  return PosixError("read", path_, offset, errno);
}

// For file systems without a read that does not wait (FUSE, NFS, 9p): asks first whether the range is in the page
// cache. If a page is evicted between the two calls, which is rare, the read waits for it.
Status PosixFile::ReadResident(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const {
  // Asks about whole pages. Residency counts whole pages up to the length of the range, so a resident page that the
  // range covers only in part could make up for a missing page.
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset / page * page;
  const std::uint64_t end = offset + std::min<std::uint64_t>(n, kOffsetMax - offset);
  const std::uint64_t length = std::min(AlignUp(end, page), kOffsetMax) - begin;
  std::uint64_t resident = 0;
  CAMBIUM_RETURN_IF_ERROR(Residency(begin, length, &resident));
  return resident == length ? Read(offset, n, out, read) : Status::OK();
}

Status PosixFile::Write(std::uint64_t offset, Slice data) {
  CAMBIUM_RETURN_IF_ERROR(CheckRange("write", offset, data.size()));
  const TransferEnd end = WriteToEnd(data.size(), alignment(), [&](std::size_t from, std::size_t size) {
    return ::pwrite(fd_, data.data() + from, size, static_cast<off_t>(offset + from));
  });
  return end.error == 0 ? Status::OK() : PosixError("write", path_, offset + end.moved, end.error);
}

Status PosixFile::WriteVectored(std::uint64_t offset, std::span<const Slice> data) {
  const std::size_t n = TotalSize(data);
  CAMBIUM_RETURN_IF_ERROR(CheckRange("write", offset, n));
  const TransferEnd end = WriteToEnd(n, alignment(), [&](std::size_t from, std::size_t size) {
    Pieces pieces;
    const int count = SelectPieces(data, from, size, &pieces);
    return ::pwritev(fd_, pieces.data(), count, static_cast<off_t>(offset + from));
  });
  return end.error == 0 ? Status::OK() : PosixError("write", path_, offset + end.moved, end.error);
}

// If there is no memory, this sync does without a witness: it must not fail for that reason.
std::shared_ptr<const PosixDescriptor> PosixFile::Witness() {
  const MutexLock lock(witness_mutex_);
  if (!has_final_witness_) {
    try {
      journal_witness_ = JournalWitnessFor(fd_, PosixPlace(opened_, path_), &has_final_witness_);
    } catch (const std::bad_alloc&) {
      has_final_witness_ = false;
    }
  }
  return journal_witness_;
}

Status PosixFile::SyncBy(SyncKind kind) {
  const std::shared_ptr<const PosixDescriptor> witness = Witness();
  return PosixSync(fd_, kind, witness.get(), path_);
}

Status PosixFile::SyncData() { return SyncBy(SyncKind::kData); }
Status PosixFile::Sync() { return SyncBy(SyncKind::kAll); }

// The call starts the writes without waiting for their end, and so does not learn of their errors. The kernel's only
// report of a failed write-back is left to the next sync.
void PosixFile::StartWriteback(std::uint64_t offset, std::uint64_t length) {
  if (length == 0 || !CheckRange("write back", offset, length).ok()) return;  // 0 means "to the end" to the kernel
  static_cast<void>(
      ::sync_file_range(fd_, static_cast<off_t>(offset), static_cast<off_t>(length), SYNC_FILE_RANGE_WRITE));
}

// Remembers the answer, because the log asks while the append lock is held.
bool PosixFile::CanGrowAhead() const {
  Known known = can_grow_ahead_.load(std::memory_order_relaxed);
  if (known == Known::kNotYet) {
    known = OverwritesInPlace(fd_) ? Known::kYes : Known::kNo;
    can_grow_ahead_.store(known, std::memory_order_relaxed);
  }
  return known == Known::kYes;
}

Status PosixFile::Truncate(std::uint64_t size) {
  CAMBIUM_RETURN_IF_ERROR(CheckRange("truncate", size, 0));
  if (RetryOnSignal([&] { return ::ftruncate(fd_, static_cast<off_t>(size)); }) == 0) return Status::OK();
  return PosixError("truncate", path_, size, errno);
}

Status PosixFile::Fallocate(const char* operation, int mode, std::uint64_t offset, std::uint64_t length) {
  CAMBIUM_RETURN_IF_ERROR(CheckRange(operation, offset, length));
  if (length == 0) return Status::OK();  // the kernel answers EINVAL
  const auto allocate = [&] { return ::fallocate(fd_, mode, static_cast<off_t>(offset), static_cast<off_t>(length)); };
  if (RetryOnSignal(allocate) == 0) return Status::OK();
  return PosixError(operation, path_, offset, errno);
}

Status PosixFile::Allocate(std::uint64_t offset, std::uint64_t length, bool grow) {
  return Fallocate("allocate", grow ? 0 : FALLOC_FL_KEEP_SIZE, offset, length);
}

Status PosixFile::PunchHole(std::uint64_t offset, std::uint64_t length) {
  return Fallocate("punch hole", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

Status PosixFile::GetInfo(FileInfo* info) const {
  struct stat facts;
  if (fstat(fd_, &facts) != 0) return PosixError("stat", path_, errno);
  *info = FileInfoOf(facts);
  return Status::OK();
}

Status PosixFile::Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const {
  CAMBIUM_RETURN_IF_ERROR(CheckRange("map", offset, length));
  if (direct_) return Status::NotSupported("map " + path_ + ": opened with direct I/O");
  return MapFile(descriptor_, path_, offset, length, region);
}

Status PosixFile::Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const {
  *resident_bytes = 0;
  CAMBIUM_RETURN_IF_ERROR(CheckRange("residency", offset, length));
  if (length == 0 || ResidencyByCacheStat(fd_, offset, length, resident_bytes)) return Status::OK();
  if (ResidencyByMincore(fd_, offset, length, resident_bytes)) return Status::OK();
  return Status::NotSupported("residency " + path_ + ": this system does not report it");
}

Status PosixFile::Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const {
  CAMBIUM_RETURN_IF_ERROR(CheckRange("advise", offset, length));
  int advice = POSIX_FADV_NORMAL;
  switch (hint) {
    case AccessHint::kNormal: advice = POSIX_FADV_NORMAL; break;
    case AccessHint::kRandom: advice = POSIX_FADV_RANDOM; break;
    case AccessHint::kSequential: advice = POSIX_FADV_SEQUENTIAL; break;
    case AccessHint::kWillNeed: advice = POSIX_FADV_WILLNEED; break;
    case AccessHint::kDontNeed: advice = POSIX_FADV_DONTNEED; break;
  }
  const int error = ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(length), advice);
  return error == 0 ? Status::OK() : PosixError("fadvise", path_, offset, error);
}

}  // namespace cambium
