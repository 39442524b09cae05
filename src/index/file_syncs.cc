#include "index/file_syncs.h"

#include <algorithm>
#include <cassert>

#include "util/mutant.h"
#include "util/result.h"

namespace cambium {

void FileSyncs::SyncAll(FileSystem* fs, std::span<FileSyncs* const> groups, std::span<Status> results) {
  assert(groups.size() == results.size());
  std::vector<File*> files;
  for (const FileSyncs* const group : groups) {
    for (const Written& written : group->files_) files.push_back(written.file.get());
  }
  std::vector<Status> synced(files.size());
  const std::size_t count = MutantIs(Mutant::kSyncOneOfTogether) ? std::min<std::size_t>(files.size(), 1) : files.size();
  fs->SyncTogether({files.data(), count}, {synced.data(), count});
  auto next = synced.begin();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const Written& written : groups[i]->files_) {
      Status s = Judge(std::move(*next++), written.is_new);
      const bool is_worse = results[i].ok() || s.severity() == Status::Severity::kFatal;
      if (!s.ok() && is_worse) results[i] = std::move(s);
    }
    groups[i]->files_.clear();
  }
}

Status FileSyncs::Sync(FileSystem* fs) {
  Status result;
  FileSyncs* const group = this;
  SyncAll(fs, {&group, 1}, {&result, 1});
  return result;
}

Status FileSyncs::SyncInTurn() {
  for (const Written& written : std::exchange(files_, {})) {
    CAMBIUM_RETURN_IF_ERROR(Judge(written.file->SyncData(), written.is_new));
  }
  return Status::OK();
}

}  // namespace cambium
