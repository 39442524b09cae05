// UnsyncedFiles: the files that one job has written, until they are synced before the commit.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "index/family_files.h"
#include "index/file_syncs.h"
#include "state/table_files.h"

namespace cambium {

// One thread at a time. Listeners hear that a run is complete once it is synced. The destructor and Clear report runs
// that were not synced as discarded.
class UnsyncedFiles {
 public:
  // `report`: of this file alone. `permit` was called before its bytes were written. It is kept, so that they count as in
  // flight until this object ends or is cleared, after the commit.
  void AddRun(std::shared_ptr<File> file, TableFiles report, BeforeWrite permit) {
    files_.Add(std::move(file), /*is_new=*/true);
    reports_.push_back(std::move(report));
    permits_.push_back(std::move(permit));
  }
  void Clear() {
    files_.Clear();
    reports_.clear();
    permits_.clear();
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
  std::vector<BeforeWrite> permits_;
};

}  // namespace cambium
