#include "upkeep/pending_change.h"

#include <algorithm>
#include <vector>

#include "state/write_head.h"

namespace cambium {
namespace {

using Changes = std::vector<PendingChange*>;

// Says in the edit what the flushed memtables allow: how far recovery may skip the log.
void AbsorbTables(const CommitPoint& commits, const Changes& changes, Edit* edit) CAMBIUM_REQUIRES(commit_lock) {
  std::vector<const LogTable*> flushed;
  LogPlace end;
  for (const PendingChange* const change : changes) {
    const FrozenTable* const table = change->table();
    if (table == nullptr) continue;
    flushed.push_back(table->table.get());
    if (end.position < table->end.position) end = table->end;
  }
  if (flushed.empty()) return;
  const ManifestState& state = commits.state();
  edit->last_sequence = std::max(end.sequence, state.last_sequence);
  LogPlace replay;
  {
    const ViewLook view(commits.view());
    replay = WriteHead::OldestUnflushed(*view, flushed, end);
  }
  if (replay.position > state.replay) {
    edit->replay = replay.position;
    edit->replay_sequence = replay.sequence;
  }
}

// Returns the changes that are staged.
Changes StageAll(std::span<PendingChange* const> changes, Edit* edit) CAMBIUM_REQUIRES(commit_lock) {
  Changes staged;
  for (PendingChange* const change : changes) {
    const Result<bool> is_staged = change->Stage(edit);
    change->status = is_staged.status();
    if (is_staged.ok() && *is_staged) staged.push_back(change);
  }
  return staged;
}

}  // namespace

bool IsRefused(const Status& committed) {
  const bool is_fatal = committed.severity() == Status::Severity::kFatal;
  return !is_fatal && (committed.IsCorruption() || committed.IsInvalidArgument());
}

Status CommitTogether(const DbContext& db, CommitPoint* commits, std::span<PendingChange* const> changes) {
  if (const Status named = db.SyncDirectory(); !named.ok()) {
    for (PendingChange* const change : changes) change->status = named;
    return named;
  }
  const CommitLock lock(*commits);
  Edit edit;
  const Changes staged = StageAll(changes, &edit);
  if (staged.empty()) return Status::OK();
  AbsorbTables(*commits, staged, &edit);
  const Status committed = commits->Commit(&edit, [&staged](View* view) {
    for (PendingChange* const change : staged) change->Install(view);
  });
  for (PendingChange* const change : staged) {
    change->status = committed;
    if (committed.ok()) change->Committed();
  }
  return committed;
}

}  // namespace cambium
