// NewValueFile: holds a file that CommitPoint::MakeValueFile has made, until Take. If Take is not called, for example
// because memory runs out, it removes the file and releases its slot.
#pragma once

#include <cassert>
#include <optional>
#include <utility>

#include "state/commit_point.h"

namespace cambium {

// One thread. The commit lock must not be held.
class NewValueFile {
 public:
  // *db and *commits outlive it. It is responsible for `made` until Take.
  NewValueFile(DbContext* db, CommitPoint* commits, NewRelocationFile made)
      : db_(*db), commits_(*commits), made_(std::move(made)) {}
  // If Unlink throws, the file remains as an orphan.
  ~NewValueFile() {
    if (!made_.has_value()) return;
    made_->file.reset();
    commits_.ReleaseSlot(made_->slot);
    try {
      static_cast<void>(db_.Unlink(made_->header.kind, made_->header.number));
    } catch (...) {
    }
  }
  NewValueFile(const NewValueFile&) = delete;
  NewValueFile& operator=(const NewValueFile&) = delete;

  [[nodiscard]] const FileHeader& header() const { return made_->header; }
  // Called once. From now on the caller removes the file and releases the slot.
  [[nodiscard]] NewRelocationFile Take() noexcept {
    assert(made_.has_value());
    return *std::exchange(made_, std::nullopt);
  }

 private:
  DbContext& db_;
  CommitPoint& commits_;
  std::optional<NewRelocationFile> made_;  // nothing: it was taken
};

}  // namespace cambium
