// Steps of the compactions of several families with small indexes: their files are synced together, and one edit
// commits them.
#include <algorithm>
#include <cassert>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "options/options_check.h"
#include "state/compaction_claim.h"
#include "upkeep/await_removal.h"
#include "upkeep/compact/compaction_step.h"
#include "util/epoch.h"
#include "util/fault_point.h"
#include "util/is_fatal.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// A step of an index of at most this size takes less time than the syncs of its commit.
constexpr std::uint64_t kSmallIndexBytes = 256u << 10;
// A commit comes after a fraction of a second, so that no thread waits long for one of the families.
constexpr std::size_t kStepsTogetherMost = 64;

std::uint64_t IndexBytes(const Layers& layers) {
  const LayersShape& shape = layers.shape();
  return shape.run_file_bytes + shape.base_file_bytes;
}

}  // namespace

// A step of one of the families.
struct Compactor::SmallStep {
  SmallStep(Compactor* compactor, std::shared_ptr<Family> its_family, DueStep due_step)
      : family(std::move(its_family)), due(std::move(due_step)), step(compactor, family.get(), due.reason) {}

  const std::shared_ptr<Family> family;
  DueStep due;
  FileSyncs syncs;
  OneStep step;
  Status status;
};

// The steps of one commit. The first one is that of the job's own family; the others were taken over from the jobs of
// their families, and claimed.
class Compactor::SmallSteps {
 public:
  SmallSteps(Compactor* compactor, const std::shared_ptr<Family>& family, DueStep due) : compactor_(*compactor) {
    steps_.push_back(std::make_unique<SmallStep>(compactor, family, std::move(due)));
  }
  ~SmallSteps() {
    steps_.clear();
    claims_.clear();
    for (const std::shared_ptr<Family>& family : taken_) {
      try {
        compactor_.jobs_.GiveBack(Job::kCompact, family, std::nullopt, {});
      } catch (...) {  // an executor of the user may throw anything; what is scheduled next for the family compacts it
      }
    }
  }
  SmallSteps(const SmallSteps&) = delete;
  SmallSteps& operator=(const SmallSteps&) = delete;

  void TakeOthers(std::uint64_t room);
  void Write();
  void Sync();
  void Commit();
  // Ends all steps. Returns the result of the first one.
  Status End();
  [[nodiscard]] bool has_committed() const { return has_committed_; }

 private:
  // After a fatal error nothing may be written any more.
  void Stop(const Status& fatal);
  void GiveBack(const std::shared_ptr<Family>& family, const std::optional<Status>& done, JobWork::Next next) {
    std::erase(taken_, family);
    compactor_.jobs_.GiveBack(Job::kCompact, family, done, next);
  }

  Compactor& compactor_;
  std::vector<std::shared_ptr<Family>> taken_;  // to be given back
  std::list<std::optional<CompactionClaim>> claims_;
  std::vector<std::unique_ptr<SmallStep>> steps_;
  bool has_committed_ = false;
};

// Takes scheduled steps of other families away from their jobs. Together the indexes of all steps have at most `room`
// bytes: the steps take space until all are committed.
void Compactor::SmallSteps::TakeOthers(std::uint64_t room) {
  Compactor& compactor = compactor_;
  std::uint64_t bytes = IndexBytes(*steps_.front()->due.layers);
  const auto suits = [&](const Family& family) CAMBIUM_REQUIRES(jobs_lock) {
    if (family.compacting || HasFilter(family.options())) return false;
    try {
      const ViewLook view(compactor.commits_.view());  // holds no layers: their release schedules a job
      const FamilyView* const found = view->Find(family.id);
      const std::uint64_t its = found == nullptr ? 0 : IndexBytes(*found->layers);
      if (its == 0 || its > kSmallIndexBytes || bytes + its > room) return false;
      bytes += its;
      return true;
    } catch (...) {  // no memory for the shape
      return false;
    }
  };
  taken_ = compactor.jobs_.Take(Job::kCompact, kStepsTogetherMost - 1, suits);
  for (const std::shared_ptr<Family>& family : std::vector(taken_)) {
    claims_.emplace_back();  // before the claim, so that nothing throws until it is in a CompactionClaim
    if (!compactor.jobs_.ClaimCompaction(family.get())) {
      claims_.pop_back();
      GiveBack(family, std::nullopt, {});
      continue;
    }
    claims_.back().emplace(&compactor.jobs_, family.get());
    DueStep due = compactor.FindDue(family.get());
    const bool is_due = due.layers != nullptr;
    if (!is_due) CAMBIUM_FAULT_POINT("Compactor:TakenStepIsNotDue");
    if (!is_due || !compactor.MayShareCommit(*family, due)) {
      claims_.pop_back();
      if (is_due) {
        GiveBack(family, std::nullopt, {});
        continue;
      }
      // A job that finds nothing due has ended. If it stayed scheduled, each of these commits would take it over again.
      compactor.jobs_.NoteResult(Job::kCompact, family.get(), Status::OK());
      JobWork::Next next;
      // Looks again, because a flush does not schedule a compaction of a family that is claimed.
      next.compacts = compactor.IsDue(*family) && !MutantIs(Mutant::kTakenStepsLookOnce);
      GiveBack(family, Status::OK(), next);
      continue;
    }
    steps_.push_back(std::make_unique<SmallStep>(&compactor, family, std::move(due)));
  }
}

// Once the database is closing, or has a fatal error, no further step begins.
void Compactor::SmallSteps::Write() {
  for (const auto& each : steps_) {
    if (const Status health = compactor_.jobs_.Health(); !health.ok()) return Stop(health);
    if (compactor_.jobs_.is_closing()) {
      each->status = Status::ShutdownInProgress("the database is closing");
      continue;
    }
    each->status = each->step.Write(std::move(each->due.layers), each->due.request, &each->syncs);
    if (IsFatal(each->status)) return Stop(each->status);
  }
}

void Compactor::SmallSteps::Sync() {
  std::vector<SmallStep*> written;
  std::vector<FileSyncs*> files;
  for (const auto& each : steps_) {
    if (!each->status.ok()) continue;
    written.push_back(each.get());
    files.push_back(&each->syncs);
  }
  if (const Status health = compactor_.jobs_.Health(); !health.ok()) return Stop(health);
  std::vector<Status> synced(files.size());
  FileSyncs::SyncAll(compactor_.db_.fs.get(), files, synced);
  for (std::size_t i = 0; i < written.size(); ++i) written[i]->status = synced[i];
  const auto fatal = std::ranges::find_if(synced, IsFatal);
  if (fatal != synced.end()) Stop(*fatal);
}

void Compactor::SmallSteps::Stop(const Status& fatal) {
  assert(IsFatal(fatal));
  compactor_.jobs_.SetFatal(fatal, BackgroundErrorReason::kCompaction);
  for (const auto& each : steps_) each->status = fatal;
}

void Compactor::SmallSteps::Commit() {
  std::vector<PendingChange*> changes;
  std::vector<SmallStep*> durable;
  for (const auto& each : steps_) {
    if (!each->status.ok()) continue;
    durable.push_back(each.get());
    changes.push_back(each->step.change());
  }
  if (changes.empty()) return;
  // If the edit is refused because one family's part does not fit its state, the other parts are committed without it.
  const Status committed = CommitTogether(compactor_.db_, &compactor_.commits_, changes);
  if (IsFatal(committed)) return Stop(committed);  // before the new files are released
  const bool is_refused = IsRefused(committed) && changes.size() > 1;
  for (SmallStep* const each : durable) {
    if (is_refused && IsRefused(each->step.change()->status)) {
      PendingChange* const change = each->step.change();
      const Status alone = CommitTogether(compactor_.db_, &compactor_.commits_, {&change, 1});
      if (IsFatal(alone)) compactor_.jobs_.SetFatal(alone, BackgroundErrorReason::kCompaction);
    }
    each->status = each->step.FinishCommit();
    has_committed_ = has_committed_ || each->status.ok();
  }
}

Status Compactor::SmallSteps::End() {
  for (const auto& each : steps_) each->status = each->step.End(each->status);
  const Status first = steps_.front()->status;
  std::vector<std::pair<std::shared_ptr<Family>, Status>> done;
  for (const auto& each : steps_) done.emplace_back(each->family, each->status);
  steps_.clear();
  claims_.clear();
  for (std::size_t i = 1; i < done.size(); ++i) {  // the job of the first one reports it
    const auto& [family, status] = done[i];
    compactor_.jobs_.NoteResult(Job::kCompact, family.get(), status);
    compactor_.jobs_.Judge(Job::kCompact, status);
    if (status.IsNoSpace()) compactor_.commits_.NoteNoSpace();
  }
  compactor_.db_.events.Deliver();  // before the steps count as ended
  for (std::size_t i = 1; i < done.size(); ++i) {
    const auto& [family, status] = done[i];
    JobWork::Next next;
    next.compacts = status.ok() && compactor_.IsDue(*family);
    GiveBack(family, status, next);
  }
  return first;
}

// On a full disk each step has its own limits, and a filter may take long.
bool Compactor::MayShareCommit(const Family& family, const DueStep& due) const {
  return !disk_.IsFull() && !db_.is_offline && !due.only_empties && !HasFilter(family.options()) &&
         IndexBytes(*due.layers) <= kSmallIndexBytes && !MutantIs(Mutant::kEachCompactionCommits);
}

Status Compactor::CompactSmall(const std::shared_ptr<Family>& family, DueStep due) {
  if (IsRoomTakenByDroppedFiles()) CAMBIUM_RETURN_IF_ERROR(AwaitRemoval(db_, &commits_, &jobs_));
  SmallSteps steps(this, family, std::move(due));
  // All files of the steps take space until the commit. The room of a step is also for what other jobs have in flight.
  constexpr std::uint64_t kPartOfRoom = 4;
  steps.TakeOthers(WithinRoom(kStepsTogetherMost * kSmallIndexBytes) / kPartOfRoom);
  steps.Write();
  steps.Sync();
  steps.Commit();
  const bool has_committed = steps.has_committed();
  const Status s = steps.End();
  if (!has_committed) return s;
  const Status dropped = commits_.DropUnreferenced();
  EpochCollect();
  return s.ok() ? dropped : s;
}

}  // namespace cambium
