// TableFlush: the flush of one frozen memtable, to runs (run_change.h) or straight into the tree (tree_flush.h).
//
//   Write: files ─▶ Sync ─▶ CommitTogether, perhaps with flushes of other families ─▶ End
#pragma once

#include <memory>
#include <optional>

#include "cambium/listener.h"
#include "state/db_state.h"
#include "upkeep/flush/flush_input.h"
#include "upkeep/flush/flush_tools.h"
#include "upkeep/flush/run_change.h"
#include "upkeep/flush/tree_flush.h"
#include "upkeep/unsynced_files.h"

namespace cambium {

class TableFlush final : public PendingChange {
 public:
  // Reports the begin of the flush. `tools` outlives it.
  TableFlush(const FlushTools& tools, std::shared_ptr<Family> family, FrozenTable table);

  [[nodiscard]] const std::shared_ptr<Family>& family() const { return family_; }
  // Writes the files. The log is synced up to the end of the memtable.
  Status Write();
  // True if the change has failed because of the tree, and the memtable can still become a run.
  [[nodiscard]] bool CanBecomeRun() const { return !is_committed_ && !lacks_versions_ && tree_.CanBecomeRun(status); }
  // True if the commit has failed because the family began to keep versions after the files were begun. They must be
  // written again, with versions. Happens at most once for a family.
  [[nodiscard]] bool LacksVersions() const { return !is_committed_ && lacks_versions_; }
  Status WriteRun();
  // The files written, which must be synced before the commit. Flushes that are committed together sync them together.
  [[nodiscard]] UnsyncedFiles* unsynced() { return &unsynced_; }
  // After a failed commit: forgets the files, which will be removed. Write or WriteRun may follow.
  void Reset();
  [[nodiscard]] bool is_committed() const { return is_committed_; }
  // Called once the change is committed, or has failed; returns the result of the flush. Takes the steps that follow a
  // flush, and reports its end.
  Status End();

  Result<bool> Stage(Edit* edit) override CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] const FrozenTable* table() const override { return &input_.table(); }
  void Install(View* view) override { change().Install(view); }
  void Committed() override CAMBIUM_REQUIRES(commit_lock);

 private:
  // The change that Write or WriteRun has prepared.
  [[nodiscard]] PendingChange& change();
  void NoteFlushed();
  // Notes what the memtable has replaced in the layers.
  void NoteEstimates() noexcept CAMBIUM_REQUIRES(commit_lock);

  const FlushTools& tools_;
  const std::shared_ptr<Family> family_;
  FlushJobInfo info_;
  const std::uint64_t start_micros_;
  const std::shared_ptr<const Layers> before_;  // the layers at the begin; null: the family was dropped
  FlushInput input_;
  UnsyncedFiles unsynced_;
  TreeFlush tree_;
  std::optional<RunChange> run_;
  LiveSample::Newest newest_;  // made by Write
  bool is_known_ = false;     // the family's sample knew all values below
  bool is_committed_ = false;
  bool lacks_versions_ = false;
};

}  // namespace cambium
