// SimFile: a handle of a file. The SimFileSystem does all the work.
#pragma once

#include <string>
#include <utility>

#include "cambium/file_system.h"
#include "io/sim/sim_file_system.h"

namespace cambium {

class SimFile final : public File {
 public:
  SimFile(SimFileSystem* file_system, SimInodeId inode, std::string path, bool writable, bool direct)
      : file_system_(file_system), inode_(inode), path_(std::move(path)), writable_(writable), direct_(direct) {}
  ~SimFile() override { file_system_->CloseFile(inode_); }

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override;
  Status ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const override;
  Status ReadCached(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override;
  Status Write(std::uint64_t offset, Slice data) override;
  Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) override;
  Status SyncData() override;
  Status Sync() override;
  Status Truncate(std::uint64_t size) override;
  Status Allocate(std::uint64_t offset, std::uint64_t length, bool grow) override;
  [[nodiscard]] bool CanGrowAhead() const override;
  Status PunchHole(std::uint64_t offset, std::uint64_t length) override;
  Status GetInfo(FileInfo* info) const override;
  Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const override;
  Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const override;
  Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const override;
  [[nodiscard]] bool IsDirect() const override { return direct_; }
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  [[nodiscard]] Status CheckWritable() const;
  // Direct I/O requires whole aligned pages, in the file and in memory.
  [[nodiscard]] Status CheckAligned(std::uint64_t offset, const char* data, std::size_t n) const;

  SimFileSystem* const file_system_;
  const SimInodeId inode_;
  const std::string path_;
  const bool writable_;
  const bool direct_;
};

}  // namespace cambium
