// TableFiles: reports the table files that one job makes to the listeners.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "state/events.h"
#include "cambium/file_system.h"

namespace cambium {

// One thread. The destructor reports the files as given up, unless Done was called.
class TableFiles {
 public:
  // `like`: the fields that all files share.
  TableFiles(Events* events, FileSystem* fs, TableFileCreationInfo like)
      : events_(events), fs_(fs), like_(std::move(like)) {}

  // Reports the start of a file, which exists and is empty.
  void Begin(const std::string& path, std::uint64_t number) {
    if (!events_->is_on()) return;
    TableFileCreationInfo info = like_;
    info.file_path = path;
    info.file_number = number;
    files_.emplace_back(events_, std::move(info));
  }
  // Reports the end of all files: complete if `status` is OK, otherwise discarded.
  void Done(const Status& status) {
    for (TableFileCreation& file : files_) {
      FileInfo facts;
      const bool is_there = status.ok() && fs_->GetInfo(file.info().file_path, &facts).ok();
      file.Done(status, is_there ? facts.size : 0);
    }
  }
  [[nodiscard]] std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const TableFileCreation& file : files_) paths.push_back(file.info().file_path);
    return paths;
  }

 private:
  Events* const events_;
  FileSystem* const fs_;
  const TableFileCreationInfo like_;
  std::vector<TableFileCreation> files_;
};

}  // namespace cambium
