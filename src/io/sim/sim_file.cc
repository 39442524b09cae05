#include "io/sim/sim_file.h"

#include <algorithm>

#include "io/sim/sim_map.h"

namespace cambium {

Status SimFile::CheckWritable() const {
  return writable_ ? Status::OK() : Status::IOError(path_ + ": not opened for writing");
}

Status SimFile::CheckAligned(std::uint64_t offset, const char* data, std::size_t n) const {
  if (!direct_) return Status::OK();
  if (offset % kDirectAlignment == 0 && n % kDirectAlignment == 0 &&
      reinterpret_cast<std::uintptr_t>(data) % kDirectAlignment == 0) {
    return Status::OK();
  }
  return Status::InvalidArgument(path_ + ": unaligned direct I/O at offset " + std::to_string(offset));
}

Status SimFile::Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const {
  const std::span<char> piece(out, n);
  return ReadVectored(offset, {&piece, 1}, read);
}

Status SimFile::ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const {
  *read = 0;
  for (const std::span<char>& piece : out) {
    if (Status status = CheckAligned(offset, piece.data(), piece.size()); !status.ok()) return status;
  }
  return file_system_->ReadFile(inode_, path_, direct_, offset, out, read);
}

Status SimFile::ReadCached(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const {
  *read = 0;
  if (direct_ || !file_system_->options_.residency) return Status::NotSupported(path_ + ": residency is not supported");
  {
    const MutexLock lock(file_system_->mutex_);
    const std::uint64_t size = file_system_->disk_.GetInode(inode_).cached().size();
    const std::uint64_t there = offset >= size ? 0 : std::min<std::uint64_t>(n, size - offset);
    const bool is_cached = file_system_->ResidentBytes(inode_, offset, n) >= there;
    ++(is_cached ? file_system_->read_counts_.cached : file_system_->read_counts_.not_cached);
    if (!is_cached) return Status::OK();
    file_system_->read_counts_.copied_bytes += there;
  }
  return Read(offset, n, out, read);
}

Status SimFile::Write(std::uint64_t offset, Slice data) { return WriteVectored(offset, {&data, 1}); }

Status SimFile::WriteVectored(std::uint64_t offset, std::span<const Slice> data) {
  if (Status status = CheckWritable(); !status.ok()) return status;
  for (const Slice& piece : data) {
    if (Status status = CheckAligned(offset, piece.data(), piece.size()); !status.ok()) return status;
  }
  return file_system_->WriteFile(inode_, path_, offset, data);
}

Status SimFile::SyncData() { return file_system_->SyncFile(inode_, path_); }

Status SimFile::Sync() { return file_system_->SyncFile(inode_, path_); }

Status SimFile::Truncate(std::uint64_t size) {
  if (Status status = CheckWritable(); !status.ok()) return status;
  return file_system_->ChangeFile(SimOpKind::kTruncate, inode_, path_, size, 0, false);
}

Status SimFile::Allocate(std::uint64_t offset, std::uint64_t length, bool grow) {
  if (Status status = CheckWritable(); !status.ok()) return status;
  return file_system_->ChangeFile(SimOpKind::kAllocate, inode_, path_, offset, length, grow);
}

bool SimFile::CanGrowAhead() const { return file_system_->options_.grows_ahead; }

Status SimFile::PunchHole(std::uint64_t offset, std::uint64_t length) {
  if (Status status = CheckWritable(); !status.ok()) return status;
  if (!file_system_->options_.holes) return Status::NotSupported(path_ + ": holes are not supported");
  return file_system_->ChangeFile(SimOpKind::kPunchHole, inode_, path_, offset, length, false);
}

Status SimFile::GetInfo(FileInfo* info) const {
  const MutexLock lock(file_system_->mutex_);
  if (Status status = file_system_->CheckQuery(SimOpKind::kGetInfo, path_); !status.ok()) return status;
  file_system_->FillInfo(file_system_->disk_.GetInode(inode_), info);
  return Status::OK();
}

Status SimFile::Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const {
  if (direct_) return Status::NotSupported(path_ + ": opened with direct I/O");
  if (!file_system_->options_.maps) return Status::NotSupported(path_ + ": mapping is not supported");
  const MutexLock lock(file_system_->mutex_);
  if (Status status = file_system_->CheckQuery(SimOpKind::kMap, path_); !status.ok()) return status;
  *region = std::make_unique<SimMappedRegion>(file_system_, inode_, path_, offset, length);
  ++file_system_->read_counts_.maps;
  return Status::OK();
}

Status SimFile::Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const {
  if (!file_system_->options_.residency) return Status::NotSupported(path_ + ": residency is not supported");
  const MutexLock lock(file_system_->mutex_);
  if (Status status = file_system_->CheckQuery(SimOpKind::kResidency, path_); !status.ok()) return status;
  *resident_bytes = file_system_->ResidentBytes(inode_, offset, length);
  if (*resident_bytes > 0 && *resident_bytes < length) ++file_system_->read_counts_.in_part;
  return Status::OK();
}

Status SimFile::Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const {
  const MutexLock lock(file_system_->mutex_);
  if (Status status = file_system_->CheckQuery(SimOpKind::kAdvise, path_); !status.ok()) return status;
  if (hint == AccessHint::kDontNeed) file_system_->disk_.ForgetCache(inode_, offset, length);
  return Status::OK();
}

}  // namespace cambium
