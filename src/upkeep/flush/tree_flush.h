// TreeFlush: merges a memtable straight into the tree of its family, if the index and the room on the disk allow it. It
// has claimed the family's compaction from the merge until it is released.
#pragma once

#include <memory>
#include <optional>

#include "cambium/listener.h"
#include "state/table_files.h"
#include "upkeep/compact/compaction_change.h"
#include "upkeep/flush/flush_input.h"
#include "upkeep/flush/flush_tools.h"
#include "upkeep/unsynced_files.h"
#include "util/add_scope.h"

namespace cambium {

// One thread.
class TreeFlush {
 public:
  // All arguments outlive the flush. The pages that it writes are added to *unsynced.
  TreeFlush(const FlushTools& tools, Family* family, FlushInput* input, UnsyncedFiles* unsynced)
      : tools_(tools), family_(*family), input_(*input), unsynced_(*unsynced) {}
  ~TreeFlush() { Release(Status::Aborted("the flush was not committed")); }
  TreeFlush(const TreeFlush&) = delete;
  TreeFlush& operator=(const TreeFlush&) = delete;

  // Writes the pages, and reports them in *info. Aborted if the memtable has to become a run.
  Status Write(FlushJobInfo* info);
  // The merge that was written; null: none was, or it is released.
  [[nodiscard]] CompactionChange* change() { return change_.has_value() ? &*change_ : nullptr; }
  // True if the commit of the change has failed because of the tree, and the memtable can still become a run: the tree
  // is damaged, or a run was added on top meanwhile.
  [[nodiscard]] bool CanBecomeRun(const Status& failed) const;
  // Releases the claim on the compaction, and, unless `done` is OK, the pages that were written. Does nothing without a
  // claim. The cursor of the input is at the first key again.
  void Release(const Status& done);

 private:
  // Whether the disk has room for a merge into the tree, in addition to all merges under way.
  [[nodiscard]] bool HasRoomToMerge(const Layers& layers);
  Status Merge(const std::shared_ptr<const Layers>& layers, FlushJobInfo* info);

  const FlushTools& tools_;
  Family& family_;
  FlushInput& input_;
  UnsyncedFiles& unsynced_;
  bool has_claim_ = false;
  std::optional<AddScope> merging_;
  std::optional<TableFiles> files_;
  BeforeWrite permit_;  // its bytes count as in flight until the flush ends
  std::unique_ptr<CompactionOutcome> outcome_;
  std::optional<CompactionChange> change_;
};

}  // namespace cambium
