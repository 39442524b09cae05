#include "io/sim/sim_map.h"

#include <algorithm>
#include <new>
#include <utility>

#include "io/sim/sim_file_system.h"

namespace cambium {

SimMappedRegion::SimMappedRegion(SimFileSystem* file_system, SimInodeId inode, std::string path, std::uint64_t offset,
                                 std::size_t length)
    : file_system_(file_system), inode_(inode), path_(std::move(path)), offset_(offset), size_(length),
      bytes_(static_cast<char*>(std::calloc(std::max<std::size_t>(length, 1), 1))) {
  if (bytes_ == nullptr) throw std::bad_alloc();
  Refresh(file_system_->disk_.GetInode(inode_).cached(), offset_, size_);
  ++file_system_->open_[inode_];
  file_system_->maps_.push_back(this);
}

SimMappedRegion::~SimMappedRegion() {
  const MutexLock lock(file_system_->mutex_);
  std::erase(file_system_->maps_, this);
  file_system_->Release(inode_);
}

Status SimMappedRegion::CopyOut(std::size_t offset, std::size_t n, char* out) const {
  if (offset > size_ || n > size_ - offset) {
    return Status::InvalidArgument(path_ + ": range outside of the mapping");
  }
  const std::span<char> piece(out, n);
  {
    const MutexLock lock(file_system_->mutex_);
    ++file_system_->read_counts_.mapped_copies;
    file_system_->read_counts_.copied_bytes += n;
  }
  std::size_t read = 0;
  Status status = file_system_->ReadFile(inode_, path_, false, offset_ + offset, {&piece, 1}, &read);
  if (status.ok() && read < n) status = Status::IOError(path_ + ": the file ends within the mapped range");
  return status;
}

void SimMappedRegion::Refresh(const SimContent& content, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t begin = std::max(offset, offset_);
  const std::uint64_t end = std::min({offset + length, offset_ + size_, content.size()});
  if (begin < end) content.Read(begin, end - begin, bytes_.get() + (begin - offset_));
}

}  // namespace cambium
