// TableFlush: the flush of one frozen memtable, to a run or straight into the tree.
//
//   Write: files ─▶ Sync ─▶ CommitTogether, perhaps with flushes of other families ─▶ End
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "state/db_state.h"
#include "upkeep/compaction_change.h"
#include "upkeep/compactor.h"
#include "upkeep/key_sample.h"
#include "upkeep/run_maker.h"
#include "upkeep/unsynced_files.h"
#include "util/add_scope.h"

namespace cambium {

// The parts of the database that flushes use. Outlives all flushes.
struct FlushTools {
  DbContext& db;
  Jobs& jobs;
  CommitPoint& commits;
  SpaceControl& space;
  FullDisk& disk;
  Pace& pace;
  RunMaker& runs;
  Compactor& compactor;
};

class TableFlush final : public PendingChange {
 public:
  // Reports the begin of the flush.
  TableFlush(const FlushTools& tools, std::shared_ptr<Family> family, FrozenTable table);
  // Releases the compaction of the family, if the flush has claimed it.
  ~TableFlush() override;
  TableFlush(const TableFlush&) = delete;
  TableFlush& operator=(const TableFlush&) = delete;

  [[nodiscard]] const std::shared_ptr<Family>& family() const { return family_; }
  // Writes the files. The log is synced up to the end of the memtable.
  Status Write();
  // True if the change has failed because of the tree, and the memtable can still become a run: the tree is damaged, or
  // a run was added on top meanwhile.
  [[nodiscard]] bool CanBecomeRun() const;
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
  [[nodiscard]] const FrozenTable* table() const override { return &table_; }
  void Install(View* view) override;
  void Committed() override CAMBIUM_REQUIRES(commit_lock);

 private:
  using SharedRanges = std::shared_ptr<const RangeDeletes>;  // null: the memtable has none

  [[nodiscard]] MemtableShape MakeShape();
  // Aborted if the memtable has to become a run.
  Status WriteIntoTree();
  // Whether the disk has room for a merge into the tree, in addition to all merges under way.
  [[nodiscard]] bool HasRoomToMerge(const Layers& layers);
  Status MergeIntoTree(const std::shared_ptr<const Layers>& layers);
  // Releases the claim on the compaction, and, unless `done` is OK, the pages that were written into the tree.
  void ReleaseTree(const Status& done);
  void NoteFlushed();

  const FlushTools& tools_;
  const std::shared_ptr<Family> family_;
  const FrozenTable table_;
  FlushJobInfo info_;
  std::uint64_t start_micros_ = 0;
  std::shared_ptr<const Layers> before_;  // the layers at the begin; null: the family was dropped
  std::unique_ptr<EntryCursor> cursor_;
  SharedRanges ranges_;
  std::string smallest_;
  std::string largest_;
  MemtableShape shape_;  // refers to the two keys
  UnsyncedFiles unsynced_;  // pages of the tree, or runs

  // For a memtable that becomes a run, or several runs if it is too large for one file.
  std::optional<KeySample> sample_;
  std::vector<std::shared_ptr<const Run>> made_;
  AccountDelta accounts_;
  std::shared_ptr<const Layers> next_;
  bool is_committed_ = false;

  // For a memtable that is merged into the tree.
  bool has_claim_ = false;
  std::optional<AddScope> merging_;
  std::optional<TableFiles> files_;
  std::unique_ptr<CompactionOutcome> outcome_;
  std::optional<CompactionChange> merge_;
};

}  // namespace cambium
