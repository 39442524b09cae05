// The part of SimFileSystem that changes files without the engine's knowledge: bit flips, truncation, swapped blocks,
// and plain reads and writes.
#include <algorithm>

#include "io/sim/sim_file_system.h"

namespace cambium {

std::vector<SimFileSystem::NamedFile> SimFileSystem::ListFilesForTest() const {
  const MutexLock lock(mutex_);
  std::vector<NamedFile> files;
  std::vector<std::pair<std::string, SimInodeId>> directories = {{"", SimDisk::kRoot}};
  while (!directories.empty()) {
    const auto [prefix, id] = directories.back();
    directories.pop_back();
    for (const auto& [name, target] : disk_.GetInode(id).names) {
      const SimInode& inode = disk_.GetInode(target);
      if (inode.is_directory) {
        directories.emplace_back(prefix + "/" + name, target);
      } else {
        files.push_back({prefix + "/" + name, inode.cached().size()});
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const NamedFile& a, const NamedFile& b) { return a.path < b.path; });
  return files;
}

Status SimFileSystem::ReadFileForTest(const std::string& path, std::string* bytes) const {
  const MutexLock lock(mutex_);
  SimInodeId id = 0;
  if (Status status = FindFile(path, &id); !status.ok()) return status;
  const SimContent& content = disk_.GetInode(id).cached();
  bytes->resize(content.size());
  content.Read(0, bytes->size(), bytes->data());
  return Status::OK();
}

// Applies the change to every version of the file, so that it is visible in the cache, on the device and after a cut.
Status SimFileSystem::Tamper(const std::string& path, std::uint64_t offset, std::uint64_t length,
                             const std::function<void(SimContent*)>& change) {
  const MutexLock lock(mutex_);
  SimInodeId id = 0;
  if (Status status = FindFile(path, &id); !status.ok()) return status;
  SimInode& inode = disk_.EditInode(id);
  const std::uint64_t size = inode.cached().size();
  if (inode.is_directory || offset > size || length > size - offset) {
    return Status::InvalidArgument(path + ": has no such range");
  }
  change(&inode.durable);
  change(&inode.device);
  if (inode.cache_differs) change(&inode.cache);
  return Status::OK();
}

Status SimFileSystem::FlipBit(const std::string& path, std::uint64_t offset, int bit) {
  return Tamper(path, offset, 1, [=](SimContent* content) {
    if (offset >= content->size()) return;
    char byte = 0;
    content->Read(offset, 1, &byte);
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1u << (bit & 7)));
    content->Write(offset, Slice(&byte, 1));
  });
}

Status SimFileSystem::OverwriteForTest(const std::string& path, std::uint64_t offset, Slice bytes) {
  return Tamper(path, offset, bytes.size(), [=](SimContent* content) {
    if (offset < content->size())
      content->Write(offset, bytes.substr(0, std::min<std::uint64_t>(bytes.size(), content->size() - offset)));
  });
}

Status SimFileSystem::TruncateForTest(const std::string& path, std::uint64_t size) {
  return Tamper(path, 0, 0, [=](SimContent* content) { content->Resize(size); });
}

Status SimFileSystem::AppendForTest(const std::string& path, Slice bytes) {
  return Tamper(path, 0, 0, [=](SimContent* content) { content->Write(content->size(), bytes); });
}

Status SimFileSystem::SwapBlocks(const std::string& path, std::uint64_t offset, std::uint64_t other,
                                 std::uint64_t length) {
  return Tamper(path, std::max(offset, other), length, [=](SimContent* content) {
    if (std::max(offset, other) + length > content->size()) return;
    std::string first(length, '\0');
    std::string second(length, '\0');
    content->Read(offset, length, first.data());
    content->Read(other, length, second.data());
    content->Write(offset, Slice(second));
    content->Write(other, Slice(first));
  });
}

Status SimFileSystem::MakeFileForTest(const std::string& path, SimInodeId* id) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    SimDisk::Place above;
    if (Status status = disk_.Find(path.substr(0, slash), &above); !status.ok()) return status;
    if (above.inode == 0) {
      disk_.Create(above, true);
      disk_.CommitNames(above.directory, disk_.last_sequence());
    }
  }
  SimDisk::Place place;
  if (Status status = disk_.Find(path, &place); !status.ok()) return status;
  *id = place.inode;
  if (*id == 0) {
    *id = disk_.Create(place, false);
    disk_.CommitNames(place.directory, disk_.last_sequence());
  }
  if (disk_.GetInode(*id).is_directory) return Status::IOError(path + ": is a directory");
  return Status::OK();
}

Status SimFileSystem::WriteFileForTest(const std::string& path, Slice bytes) {
  const MutexLock lock(mutex_);
  SimInodeId id = 0;
  if (Status status = MakeFileForTest(path, &id); !status.ok()) return status;
  SimContent content;
  content.Write(0, bytes);
  disk_.ReplaceContent(id, std::move(content));
  return Status::OK();
}

Status SimFileSystem::CopyFileForTest(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  SimInodeId source = 0;
  SimInodeId target = 0;
  if (Status status = FindFile(from, &source); !status.ok()) return status;
  if (disk_.GetInode(source).is_directory) return Status::IOError(from + ": is a directory");
  if (Status status = MakeFileForTest(to, &target); !status.ok()) return status;
  disk_.ReplaceContent(target, disk_.GetInode(source).cached());
  return Status::OK();
}

Status SimFileSystem::RemoveForTest(const std::string& path) {
  const MutexLock lock(mutex_);
  SimDisk::Place place;
  if (Status status = disk_.Find(path, &place); !status.ok()) return status;
  if (place.inode == 0) return Status::PathNotFound(path + ": no such file or directory");
  if (place.directory == 0) return Status::InvalidArgument(path + ": cannot remove the root directory");
  disk_.Unlink(place);
  disk_.CommitNames(place.directory, disk_.last_sequence());
  SweepUnreachable();
  return Status::OK();
}

Status SimFileSystem::RenameForTest(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  SimDisk::Place source;
  SimDisk::Place target;
  if (Status status = disk_.Find(from, &source); !status.ok()) return status;
  if (Status status = disk_.Find(to, &target); !status.ok()) return status;
  if (source.inode == 0) return Status::PathNotFound(from + ": no such file or directory");
  if (source.directory == 0 || target.directory == 0)
    return Status::InvalidArgument(from + ": cannot rename the root directory");
  disk_.Rename(source, target);
  disk_.CommitNames(target.directory, disk_.last_sequence());
  disk_.CommitNames(source.directory, disk_.last_sequence());
  SweepUnreachable();
  return Status::OK();
}

}  // namespace cambium
