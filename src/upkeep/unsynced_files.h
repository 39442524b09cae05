// UnsyncedFiles: the files that one job has written, until they are synced before the commit.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "index/file_syncs.h"
#include "state/table_files.h"

namespace cambium {

// One thread at a time. Listeners hear that a run is complete once it is synced. The destructor and Clear report runs
// that were not synced as discarded.
class UnsyncedFiles {
 public:
  // `report`: of this file alone.
  void AddRun(std::shared_ptr<File> file, TableFiles report) {
    files_.Add(std::move(file), /*is_new=*/true);
    reports_.push_back(std::move(report));
  }
  void Clear() {
    files_.Clear();
    reports_.clear();
  }

  [[nodiscard]] FileSyncs* files() { return &files_; }
  // `synced`: the result of the sync of files().
  void Done(const Status& synced) {
    for (TableFiles& report : reports_) report.Done(synced);
    reports_.clear();
  }
  // Syncs the files alone.
  Status Sync(FileSystem* fs) {
    const Status synced = files_.Sync(fs);
    Done(synced);
    return synced;
  }

 private:
  FileSyncs files_;
  std::deque<TableFiles> reports_;  // which cannot be copied
};

}  // namespace cambium
