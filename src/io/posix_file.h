// PosixFile: a File of the operating system.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "cambium/file_system.h"
#include "io/posix_descriptor.h"
#include "io/posix_sync.h"

namespace cambium {

[[nodiscard]] FileInfo FileInfoOf(const struct stat& facts);

// Threads and errors as in File. One descriptor serves everything for the file's whole life (H13): the kernel reports a
// failed write-back once per descriptor, and a second one could take the report away from the sync that waits for it.
// A signal does not make a sync start again: what it reported may have been the only report.
class PosixFile final : public File {
 public:
  // Regular files only: a FIFO would block for ever, a directory can be opened but not read.
  static Status Open(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* file);

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
  // NotSupported for a file opened with direct I/O: who bypasses the page cache does not want its pages.
  Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const override;
  Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const override;
  // kDontNeed keeps pages that the range covers in part, dirty ones and mapped ones.
  Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const override;
  [[nodiscard]] bool IsDirect() const override { return direct_; }
  [[nodiscard]] const std::string& path() const override { return path_; }

  // For who hands reads to the kernel by other ways. Valid as long as this file.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  PosixFile(std::string path, PosixDescriptor descriptor, bool direct);

  [[nodiscard]] std::size_t alignment() const { return direct_ ? kDirectAlignment : 1; }
  // ReadCached where there is no system call for it.
  Status ReadResident(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const;
  // InvalidArgument unless [offset, offset + length) is a range that a file can have.
  [[nodiscard]] Status CheckRange(const char* operation, std::uint64_t offset, std::uint64_t length) const;
  Status SyncBy(SyncKind kind);
  [[nodiscard]] std::shared_ptr<const PosixDescriptor> Witness();
  Status Fallocate(const char* operation, int mode, std::uint64_t offset, std::uint64_t length);

  const std::string path_;
  const std::shared_ptr<const PosixDescriptor> descriptor_;  // shared with mapped regions, which may live longer
  const int fd_;
  const bool direct_;
  mutable std::atomic<bool> always_waits_{false};  // the system refuses reads that do not wait
  enum class Known : unsigned char { kNotYet, kNo, kYes };
  mutable std::atomic<Known> can_grow_ahead_{Known::kNotYet};
  std::mutex witness_mutex_;
  bool has_settled_witness_ = false;                        // witness_mutex_; from the first sync on, mostly
  std::shared_ptr<const PosixDescriptor> journal_witness_;  // witness_mutex_; null: none; see posix_sync.h
};

}  // namespace cambium
