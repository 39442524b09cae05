// PendingChange: a change that a job has written for one family and not committed yet. The changes of several families
// can be committed by one edit, with one sync of the MANIFEST.
#pragma once

#include <span>

#include "state/commit_point.h"

namespace cambium {

// Its files are written and synced; the directory with their names is not synced yet.
class PendingChange {
 public:
  virtual ~PendingChange() = default;
  // Adds the change to the edit, against the state and the layers of this moment. False if there is nothing to commit,
  // because the family was dropped. After an error the edit is unchanged.
  virtual Result<bool> Stage(Edit* edit) CAMBIUM_REQUIRES(commit_lock) = 0;
  // The memtable that the change flushes; null: none.
  [[nodiscard]] virtual const FrozenTable* table() const = 0;
  // Shows the change to readers.
  virtual void Install(View* view) = 0;
  // Called when the change is durable and installed. Throws nothing, since the changes of other families follow.
  virtual void Committed() CAMBIUM_REQUIRES(commit_lock) = 0;

  // The outcome of the change: OK, or why it was not committed. Set by CommitTogether.
  Status status;
};

// Commits the changes, which are of different families, with one edit. A change that cannot be staged gets its error as
// its status, and the others are committed without it. If the commit fails, all get its error, which is returned.
Status CommitTogether(const DbContext& db, CommitPoint* commits, std::span<PendingChange* const> changes)
    CAMBIUM_EXCLUDES(commit_lock);
// True if the MANIFEST has refused an edit, before anything was written: a part of it does not fit the state.
[[nodiscard]] bool IsRefused(const Status& committed);

}  // namespace cambium
