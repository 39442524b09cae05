#include "upkeep/flush/run_change.h"

#include <cassert>
#include <utility>

#include "upkeep/flush_commit.h"
#include "util/mutant.h"

namespace cambium {

// If the layers change before the commit, a dead stretch stays dead (dead_stretches.h).
void RunChange::ChooseRanges() {
  const Comparator* const order = family_.options().comparator;
  const MemTable& table = *input_.table().table;
  std::vector<DeadStretch> stretches;
  if (const std::shared_ptr<const Layers> older = tools_.commits.LayersOf(family_); older != nullptr) {
    stretches = FindDeadStretches(order, table, kMaxSequenceNumber,
                                  [&](std::vector<MergeChild>* children) { older->AppendCursors(children); });
  }
  stretches_.emplace(RangesOf(order, stretches));
  skipper_.emplace(input_.cursor(), order, &*stretches_);
  std::uint64_t written = input_.shape().key_count;
  for (const DeadStretch& stretch : stretches) written -= stretch.tombstones - 1;
  sample_.emplace(&*skipper_, written);
  ranges_ = input_.ranges();
  if (stretches_->empty() || MutantIs(Mutant::kStretchWithoutRange)) return;
  const RangeDeletes none(order);
  const RangeDeletes* const parts[] = {ranges_ == nullptr ? &none : ranges_.get(), &*stretches_};
  ranges_ = std::make_shared<const RangeDeletes>(RangeDeletes::Union(order, parts));
}

// Several runs share no key. The range deletes are in the first run, which lies below the others: there they hide older
// layers, and nothing in the other runs.
Status RunChange::Write(UnsyncedFiles* unsynced, FlushJobInfo* info) {
  assert(runs_.empty() && !sample_.has_value());
  ChooseRanges();
  do {
    const RangeDeletes* const ranges = runs_.empty() ? ranges_.get() : nullptr;
    CAMBIUM_TRY(std::shared_ptr<const Run> run,
                tools_.runs.Make(family_, &*sample_, ranges, &accounts_, unsynced, info->job_id));
    family_.index_stats.AddRun(run->info());
    tools_.db.meter.Tick(FLUSH_WRITE_BYTES, run->info().file_size);
    info->bytes_written += run->info().file_size;
    info->output_files.push_back(tools_.db.PathOf(FileKind::kRun, run->number()));
    runs_.push_back(std::move(run));
  } while (sample_->Valid());
  return Status::OK();
}

Status RunChange::SyncAfterCommit() const {
  if (!MutantIs(Mutant::kCommitBeforeRunSync)) return Status::OK();
  for (const auto& run : runs_) {
    CAMBIUM_RETURN_IF_ERROR(DbContext::JudgeSync(run->files().Find(run->number())->shared_file()->SyncData()));
  }
  return Status::OK();
}

Result<bool> RunChange::Stage(Edit* edit) {
  assert(!runs_.empty());
  next_ = tools_.commits.LayersOf(family_);
  if (next_ == nullptr) return false;
  FamilyEdit change;
  change.id = family_.id;
  next_ = StageNewestRuns(std::move(next_), runs_, &change);
  change.accounts = accounts_;
  SetFlushed(tools_.commits.state(), family_, input_.table(), &change);
  edit->families.push_back(std::move(change));
  return true;
}

void RunChange::Install(View* view) { InstallFlushed(tools_.db, view, family_, input_.table(), next_); }

void RunChange::Committed() { family_.frozen_count.fetch_sub(1, std::memory_order_acq_rel); }

}  // namespace cambium
