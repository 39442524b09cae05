#include "io/sim/sim_tampering.h"

#include <algorithm>

#include "io/sim/sim_file_system.h"

namespace cambium {

// Applies the change to every version of the file, so that it is visible in the cache, on the device and after a cut.
Status SimTampering::Change(const std::string& path, std::uint64_t offset, std::uint64_t length,
                            const std::function<void(SimContent*)>& change) {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  if (Status status = fs_.FindFile(path, &id); !status.ok()) return status;
  SimInode& inode = fs_.disk_.EditInode(id);
  const std::uint64_t size = inode.cached().size();
  if (inode.is_directory || offset > size || length > size - offset) {
    return Status::InvalidArgument(path + ": has no such range");
  }
  change(&inode.durable);
  change(&inode.device);
  if (inode.cache_differs) change(&inode.cache);
  fs_.RefreshMaps(id, offset, length);
  return Status::OK();
}

Status SimTampering::FlipBit(const std::string& path, std::uint64_t offset, int bit) {
  return Change(path, offset, 1, [=](SimContent* content) {
    if (offset >= content->size()) return;
    char byte = 0;
    content->Read(offset, 1, &byte);
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1u << (bit & 7)));
    content->Write(offset, Slice(&byte, 1));
  });
}

Status SimTampering::Overwrite(const std::string& path, std::uint64_t offset, Slice bytes) {
  return Change(path, offset, bytes.size(), [=](SimContent* content) {
    if (offset < content->size())
      content->Write(offset, bytes.substr(0, std::min<std::uint64_t>(bytes.size(), content->size() - offset)));
  });
}

Status SimTampering::Truncate(const std::string& path, std::uint64_t size) {
  return Change(path, 0, 0, [=](SimContent* content) { content->Resize(size); });
}

Status SimTampering::Append(const std::string& path, Slice bytes) {
  return Change(path, 0, 0, [=](SimContent* content) { content->Write(content->size(), bytes); });
}

Status SimTampering::SwapBlocks(const std::string& path, std::uint64_t offset, std::uint64_t other,
                                std::uint64_t length) {
  return Change(path, std::max(offset, other), length, [=](SimContent* content) {
    if (std::max(offset, other) + length > content->size()) return;
    std::string first(length, '\0');
    std::string second(length, '\0');
    content->Read(offset, length, first.data());
    content->Read(other, length, second.data());
    content->Write(offset, Slice(second));
    content->Write(other, Slice(first));
  });
}

Status SimTampering::WriteContents(const std::string& path, Slice bytes) {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  if (Status status = fs_.disk_.MakeFile(path, &id); !status.ok()) return status;
  SimContent content;
  content.Write(0, bytes);
  fs_.disk_.ReplaceContent(id, std::move(content));
  return Status::OK();
}

Status SimTampering::Copy(const std::string& from, const std::string& to) {
  const MutexLock lock(fs_.mutex_);
  SimInodeId source = 0;
  SimInodeId target = 0;
  if (Status status = fs_.FindFile(from, &source); !status.ok()) return status;
  if (fs_.disk_.GetInode(source).is_directory) return Status::IOError(from + ": is a directory");
  if (Status status = fs_.disk_.MakeFile(to, &target); !status.ok()) return status;
  fs_.disk_.ReplaceContent(target, fs_.disk_.GetInode(source).cached());
  return Status::OK();
}

Status SimTampering::Remove(const std::string& path) {
  const MutexLock lock(fs_.mutex_);
  SimDisk::Place place;
  if (Status status = fs_.disk_.Find(path, &place); !status.ok()) return status;
  if (place.inode == 0) return Status::PathNotFound(path + ": no such file or directory");
  if (place.directory == 0) return Status::InvalidArgument(path + ": cannot remove the root directory");
  fs_.disk_.Unlink(place);
  fs_.disk_.CommitNames(place.directory, fs_.disk_.last_sequence());
  fs_.SweepUnreachable();
  return Status::OK();
}

Status SimTampering::Rename(const std::string& from, const std::string& to) {
  const MutexLock lock(fs_.mutex_);
  SimDisk::Place source;
  SimDisk::Place target;
  if (Status status = fs_.disk_.Find(from, &source); !status.ok()) return status;
  if (Status status = fs_.disk_.Find(to, &target); !status.ok()) return status;
  if (source.inode == 0) return Status::PathNotFound(from + ": no such file or directory");
  if (source.directory == 0 || target.directory == 0)
    return Status::InvalidArgument(from + ": cannot rename the root directory");
  fs_.disk_.Rename(source, target);
  fs_.disk_.CommitNames(target.directory, fs_.disk_.last_sequence());
  fs_.disk_.CommitNames(source.directory, fs_.disk_.last_sequence());
  fs_.SweepUnreachable();
  return Status::OK();
}

}  // namespace cambium
