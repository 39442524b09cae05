#include "io/sim/sim_probe.h"

#include <algorithm>
#include <utility>

#include "io/sim/sim_file_system.h"

namespace cambium {

bool SimProbe::IsDataDurable(const std::string& path, std::uint64_t size) const {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  return fs_.FindFile(path, &id).ok() && fs_.disk_.IsDataDurable(id, size);
}

bool SimProbe::IsNameDurable(const std::string& path) const {
  const MutexLock lock(fs_.mutex_);
  return fs_.disk_.IsNameDurable(path);
}

bool SimProbe::IsFullyDurable(const std::string& path, std::uint64_t size) const {
  return IsDataDurable(path, size) && IsNameDurable(path);
}

bool SimProbe::HasUnsyncedData(const std::string& path) const {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  return fs_.FindFile(path, &id).ok() && !fs_.disk_.GetInode(id).pending.empty();
}

bool SimProbe::HasOnlyHolesUnsynced(const std::string& path) const {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  return fs_.FindFile(path, &id).ok() &&
         std::ranges::all_of(fs_.disk_.GetInode(id).pending, [](const SimRef<SimChange>& change) {
           return change->kind == SimChange::Kind::kPunchHole;
         });
}

std::uint64_t SimProbe::DurableSize(const std::string& path) const {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  return fs_.FindFile(path, &id).ok() ? fs_.disk_.GetInode(id).durable.size() : 0;
}

SimInodeId SimProbe::InodeOf(const std::string& path) const {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  return fs_.FindFile(path, &id).ok() ? id : 0;
}

std::uint64_t SimProbe::allocated_bytes() const {
  const MutexLock lock(fs_.mutex_);
  return fs_.AllocatedBytesLocked();
}

std::size_t SimProbe::open_files() const {
  const MutexLock lock(fs_.mutex_);
  return fs_.open_files_;
}

std::vector<SimProbe::NamedFile> SimProbe::ListFiles() const {
  const MutexLock lock(fs_.mutex_);
  std::vector<NamedFile> files;
  std::vector<std::pair<std::string, SimInodeId>> directories = {{"", SimDisk::kRoot}};
  while (!directories.empty()) {
    const auto [prefix, id] = directories.back();
    directories.pop_back();
    for (const auto& [name, target] : fs_.disk_.GetInode(id).names) {
      const SimInode& inode = fs_.disk_.GetInode(target);
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

Status SimProbe::ReadContents(const std::string& path, std::string* bytes) const {
  const MutexLock lock(fs_.mutex_);
  SimInodeId id = 0;
  if (Status status = fs_.FindFile(path, &id); !status.ok()) return status;
  const SimContent& content = fs_.disk_.GetInode(id).cached();
  bytes->resize(content.size());
  content.Read(0, bytes->size(), bytes->data());
  return Status::OK();
}

}  // namespace cambium
