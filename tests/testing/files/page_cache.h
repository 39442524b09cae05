// Puts a database's log into the kernel's page cache, evicts it, and asks about it.
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"

namespace cambium::testing {

enum class Forget { kEverySegment, kEveryOther };

// Evicts the cached pages of log segments on a real file system; mapped pages stay. Returns false if the kernel keeps
// some (as a file system in memory does), or if it does not report residency.
inline bool ForgetLogPages(const std::string& directory, Forget which = Forget::kEverySegment) {
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  std::vector<std::string> names;
  if (!fs->List(directory, &names).ok()) return false;
  std::uint64_t left = 0;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".log") || (which == Forget::kEveryOther && count++ % 2 == 1)) continue;
    std::unique_ptr<File> file;
    FileInfo info;
    const std::string path = directory + "/" + name;
    if (!fs->Open(path, OpenMode::kReadWrite, {}, &file).ok()) continue;  // gone meanwhile
    std::uint64_t resident = 0;
    if (!file->SyncData().ok() || !file->GetInfo(&info).ok() || !file->Advise(0, 0, AccessHint::kDontNeed).ok() ||
        !file->Residency(0, info.size, &resident).ok()) {
      return false;
    }
    left += resident;
  }
  return left == 0;
}

// Evicts all pages of the log, and returns whether a read that does not wait then finds none of them. On some machines
// such a read brings the page in at once; there, and where pages cannot be evicted, no read is cold.
[[nodiscard]] inline bool ColdReadsWait(const std::string& directory) {
  if (!ForgetLogPages(directory)) return false;
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  std::vector<std::string> names;
  bool wait = fs->List(directory, &names).ok();
  for (const std::string& name : names) {
    std::unique_ptr<File> file;
    if (!name.ends_with(".log") || !fs->Open(directory + "/" + name, OpenMode::kReadOnly, {}, &file).ok()) continue;
    char byte = 0;
    std::size_t read = 0;
    wait = wait && file->ReadCached(0, 1, &byte, &read).ok() && read == 0;
  }
  return ForgetLogPages(directory) && wait;
}

[[nodiscard]] inline std::uint64_t CachedLogBytes(const std::string& directory) {
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  std::vector<std::string> names;
  std::uint64_t bytes = 0;
  if (!fs->List(directory, &names).ok()) return 0;
  for (const std::string& name : names) {
    std::unique_ptr<File> file;
    FileInfo info;
    std::uint64_t resident = 0;
    if (name.ends_with(".log") && fs->Open(directory + "/" + name, OpenMode::kReadOnly, {}, &file).ok() &&
        file->GetInfo(&info).ok() && file->Residency(0, info.size, &resident).ok()) {
      bytes += resident;
    }
  }
  return bytes;
}

// Reads the whole log into the page cache. Returns false if it is not resident afterwards (the kernel may evict idle
// pages at any time) or if the kernel does not report residency.
inline bool CacheLogPages(const std::string& directory) {
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  std::vector<std::string> names;
  if (!fs->List(directory, &names).ok()) return false;
  for (const std::string& name : names) {
    if (!name.ends_with(".log")) continue;
    std::unique_ptr<File> file;
    FileInfo info;
    if (!fs->Open(directory + "/" + name, OpenMode::kReadOnly, {}, &file).ok() || !file->GetInfo(&info).ok()) return false;
    std::string bytes(info.size, '\0');
    std::size_t read = 0;
    std::uint64_t resident = 0;
    if (!file->Read(0, bytes.size(), bytes.data(), &read).ok() || !file->Residency(0, info.size, &resident).ok() ||
        resident < info.size) {
      return false;
    }
  }
  return true;
}

// Returns whether this process has mapped a segment of the log.
[[nodiscard]] inline bool LogIsMapped(const std::string& directory) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(directory) != std::string::npos && line.ends_with(".log")) return true;
  }
  return false;
}

}  // namespace cambium::testing
