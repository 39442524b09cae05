// RunChange: the runs that a memtable becomes in its flush, until they are committed.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cambium/listener.h"
#include "index/dead_stretches.h"
#include "index/run.h"
#include "manifest/accounts.h"
#include "upkeep/flush/flush_input.h"
#include "upkeep/flush/flush_tools.h"
#include "upkeep/key_sample.h"
#include "upkeep/pending_change.h"
#include "upkeep/unsynced_files.h"

namespace cambium {

// One run, or several if the memtable is too large for one file. One thread.
class RunChange final : public PendingChange {
 public:
  // All arguments outlive the change. The cursor of the input is at the first key.
  RunChange(const FlushTools& tools, Family* family, FlushInput* input)
      : tools_(tools), family_(*family), input_(*input) {}

  // Writes the runs, and reports them in *info. Called once.
  Status Write(UnsyncedFiles* unsynced, FlushJobInfo* info);
  // The keys of the runs. Called after Write.
  [[nodiscard]] const KeySample& sample() const { return *sample_; }
  // Whether dead stretches were left out of the runs. Called after Write.
  [[nodiscard]] bool has_stretches() const { return !stretches_->empty(); }
  [[nodiscard]] const std::vector<std::shared_ptr<const Run>>& runs() const { return runs_; }
  // The range deletes of the runs; null: they have none. Called after Write.
  [[nodiscard]] const RangeDeletes* ranges() const { return ranges_.get(); }
  // Only in a mutant, which does not sync runs before the commit.
  Status SyncAfterCommit() const;

  Result<bool> Stage(Edit* edit) override CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] const FrozenTable* table() const override { return &input_.table(); }
  void Install(View* view) override;
  void Committed() override CAMBIUM_REQUIRES(commit_lock);

 private:
  // Finds the dead stretches of the memtable, which become range deletes.
  void ChooseRanges();

  const FlushTools& tools_;
  Family& family_;
  FlushInput& input_;
  std::optional<RangeDeletes> stretches_;   // which the skipper leaves out
  std::optional<StretchSkipper> skipper_;
  std::optional<KeySample> sample_;
  std::shared_ptr<const RangeDeletes> ranges_;  // those of the memtable, and the stretches
  std::vector<std::shared_ptr<const Run>> runs_;
  AccountDelta accounts_;
  std::shared_ptr<const Layers> next_;  // the layers after the commit
};

}  // namespace cambium
