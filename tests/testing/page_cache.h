// What the kernel has cached of a database's log: given, and taken away.
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"

namespace cambium::testing {

enum class Forget { kEverySegment, kEveryOther };

// Of log segments on a real file system; pages that are mapped stay. False if the kernel keeps them all the same (a file
// system in memory), or nobody can tell.
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

// Takes all pages away, and tells whether a read that does not wait finds none of them then. Some machines read a page as
// fast as it is asked for; there, and where pages stay, nothing is ever cold.
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

// Has all of it cached. False if that is not so afterwards, or nobody can tell: the kernel may take idle pages at any time.
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

// Whether this process has a segment of the log mapped.
[[nodiscard]] inline bool LogIsMapped(const std::string& directory) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(directory) != std::string::npos && line.ends_with(".log")) return true;
  }
  return false;
}

}  // namespace cambium::testing
