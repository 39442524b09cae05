// FileSyncs: files that a job has written but not synced. A job that makes many files, or pages in many, syncs them
// together, which takes less time (FileSystem::SyncTogether).
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cambium/file_system.h"

namespace cambium {

// One thread at a time.
class FileSyncs {
 public:
  // `is_new`: no MANIFEST record names the file.
  void Add(std::shared_ptr<File> file, bool is_new) { files_.push_back({std::move(file), is_new}); }
  // Forgets the files, which will be removed.
  void Clear() { files_.clear(); }

  // Syncs and forgets all files of all groups. Sets results[i] to the worst result of the files of groups[i]: no byte of
  // them may be committed unless it is OK. A new file that finds no space can be deleted, so that error is not fatal.
  // Any other failed sync is Fatal: it may have lost data that the page cache still shows, also of committed pages, and
  // no later sync would report it.
  static void SyncAll(FileSystem* fs, std::span<FileSyncs* const> groups, std::span<Status> results);
  // Syncs one group.
  Status Sync(FileSystem* fs);
  // The same, one file after the other.
  Status SyncInTurn();

 private:
  struct Written {
    std::shared_ptr<File> file;
    bool is_new = false;
  };
  static Status Judge(Status synced, bool is_new) {
    return synced.ok() || (synced.IsNoSpace() && is_new) ? synced : synced.Fatal();
  }

  std::vector<Written> files_;
};

}  // namespace cambium
