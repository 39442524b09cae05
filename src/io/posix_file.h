// PosixFile: the File that the operating system provides.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/posix_descriptor.h"
#include "io/posix_place.h"
#include "io/posix_sync.h"
#include "util/mutex.h"

namespace cambium {

[[nodiscard]] FileInfo FileInfoOf(const struct stat& facts);

// Threads and errors as in File. One descriptor serves all calls for the object's lifetime (H13): the kernel reports a
// failed write-back once per descriptor, and a second descriptor could take the report away from the sync that must
// return it. A sync is not repeated after a signal: its error may have been the only report.
class PosixFile final : public File {
 public:
  // Opens regular files only: a FIFO would block for ever, and a directory cannot be read. `place` is made from `path`.
  static Status Open(const std::string& path, const PosixPlace& place, OpenMode mode, const FileOptions& options,
                     std::unique_ptr<File>* file);

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override;
  Status ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const override;
  Status ReadCached(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override;
  Status Write(std::uint64_t offset, Slice data) override;
  Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) override;
  Status SyncData() override;
  Status Sync() override;
  void StartWriteback(std::uint64_t offset, std::uint64_t length) override;
  Status Truncate(std::uint64_t size) override;
  Status Allocate(std::uint64_t offset, std::uint64_t length, bool grow) override;
  [[nodiscard]] bool CanGrowAhead() const override;
  Status PunchHole(std::uint64_t offset, std::uint64_t length) override;
  Status GetInfo(FileInfo* info) const override;
  // Returns NotSupported for a file opened with direct I/O: a mapping would bring its pages into the page cache.
  Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const override;
  Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const override;
  // kDontNeed does not evict dirty pages, mapped pages, or pages that the range covers only in part.
  Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const override;
  [[nodiscard]] bool IsDirect() const override { return direct_; }
  [[nodiscard]] const std::string& path() const override { return path_; }

  // For callers that pass reads to the kernel by other means. Valid for the lifetime of this object.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  PosixFile(std::string path, std::shared_ptr<const PosixDirectory> opened, PosixDescriptor descriptor, bool direct);

  [[nodiscard]] std::size_t alignment() const { return direct_ ? kDirectAlignment : 1; }
  // Implements ReadCached where there is no system call for it.
  Status ReadResident(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const;
  // Returns InvalidArgument unless a file can have the range [offset, offset + length).
  [[nodiscard]] Status CheckRange(const char* operation, std::uint64_t offset, std::uint64_t length) const;
  Status SyncBy(SyncKind kind);
  [[nodiscard]] std::shared_ptr<const PosixDescriptor> Witness();
  Status Fallocate(const char* operation, int mode, std::uint64_t offset, std::uint64_t length);

  const std::string path_;
  const std::shared_ptr<const PosixDirectory> opened_;       // the path was looked up from here; may be null
  const std::shared_ptr<const PosixDescriptor> descriptor_;  // shared with mapped regions, which may live longer
  const int fd_;
  const bool direct_;
  mutable std::atomic<bool> always_waits_{false};  // the file system does not support RWF_NOWAIT
  enum class Known : unsigned char { kNotYet, kNo, kYes };
  mutable std::atomic<Known> can_grow_ahead_{Known::kNotYet};
  Mutex witness_mutex_;
  bool has_final_witness_ CAMBIUM_GUARDED_BY(witness_mutex_) = false;  // usually true from the first sync on
  std::shared_ptr<const PosixDescriptor> journal_witness_
      CAMBIUM_GUARDED_BY(witness_mutex_);  // may be null; see posix_sync.h
};

}  // namespace cambium
