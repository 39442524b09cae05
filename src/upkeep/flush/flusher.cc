#include "upkeep/flush/flusher.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "util/is_fatal.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Memtables of at most this size are flushed together: writing one takes less time than the syncs of its commit.
constexpr std::size_t kSmallTableBytes = 256u << 10;
// A flush of many memtables ends after a fraction of a second, so that no writer waits long for one of them.
constexpr std::size_t kTogetherMost = 64;

// Whether the family's oldest frozen memtable is small.
bool HasSmallTable(const Family& family) {
  const std::size_t bytes = family.flush_bytes.load(std::memory_order_relaxed);
  return bytes > 0 && bytes <= kSmallTableBytes;
}

bool IsSmall(const FrozenTable& table) { return table.table->memory_bytes() <= kSmallTableBytes; }

}  // namespace

// The scheduled flushes of other families that a job has taken over. Each is given back once its result is known.
class Flusher::TakenFlushes {
 public:
  TakenFlushes(Flusher* flusher, std::size_t most)
      : flusher_(*flusher), families_(flusher->jobs_.Take(Job::kFlush, most, HasSmallTable)) {}
  ~TakenFlushes() {
    for (const auto& family : families_) {
      try {
        flusher_.jobs_.GiveBack(Job::kFlush, family, std::nullopt, {});
      } catch (...) {  // an executor of the user may throw anything; the next job that is scheduled for the family flushes
      }
    }
  }
  TakenFlushes(const TakenFlushes&) = delete;
  TakenFlushes& operator=(const TakenFlushes&) = delete;

  [[nodiscard]] const std::vector<std::shared_ptr<Family>>& families() const { return families_; }
  void GiveBack(const std::shared_ptr<Family>& family, const Status& done) {
    const JobWork::Next next = flusher_.NextOf(*family, done);
    [[maybe_unused]] const std::size_t given = std::erase(families_, family);
    assert(given == 1 && "a flush is given back once");
    flusher_.jobs_.GiveBack(Job::kFlush, family, done, next);
  }

 private:
  Flusher& flusher_;
  std::vector<std::shared_ptr<Family>> families_;
};

Flusher::Flusher(DbState* state, Pace* pace, RunMaker* runs, SnapshotRuns* snapshots, Compactor* compactor)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      snapshot_runs_(*snapshots),
      compactor_(*compactor),
      tools_{state->context, state->jobs, state->commits, state->space, state->full_disk, *pace, *runs, *compactor} {}

std::optional<FrozenTable> Flusher::OldestOf(const Family& family) const {
  const ViewLook view(commits_.view());
  const FamilyView* const found = view->Find(family.id);
  if (found == nullptr || found->frozen.empty()) return std::nullopt;
  return MutantIs(Mutant::kFlushOutOfOrder) ? found->frozen.front() : found->frozen.back();
}

Status Flusher::FlushOldest(const std::shared_ptr<Family>& family) {
  const std::optional<FrozenTable> oldest = OldestOf(*family);
  if (!oldest.has_value()) return Status::OK();
  Flushes flushes;
  flushes.push_back(std::make_unique<TableFlush>(tools_, family, *oldest));
  TakenFlushes taken(this, IsSmall(*oldest) ? kTogetherMost - 1 : 0);
  for (const std::shared_ptr<Family>& other : taken.families()) {
    const std::optional<FrozenTable> its = OldestOf(*other);
    if (its.has_value() && IsSmall(*its)) flushes.push_back(std::make_unique<TableFlush>(tools_, other, *its));
  }
  db_.events.Deliver();
  const bool is_edit_refused = Run(flushes);
  RetryAlone(flushes, is_edit_refused);
  bool is_any_committed = false;
  for (const auto& flush : flushes) {
    is_any_committed = is_any_committed || flush->is_committed();
    flush->status = flush->End();
    if (flush == flushes.front()) continue;  // its job reports it
    jobs_.Judge(Job::kFlush, flush->status);
    if (flush->status.IsNoSpace()) commits_.NoteNoSpace();
  }
  db_.events.Deliver();  // before the flushes count as ended
  for (std::size_t i = 1; i < flushes.size(); ++i) taken.GiveBack(flushes[i]->family(), flushes[i]->status);
  const Status done = flushes.front()->status;
  if (!is_any_committed) return done;
  CAMBIUM_RETURN_IF_ERROR(commits_.DropUnreferenced());
  const Status bounded = snapshot_runs_.BoundPinnedMemory();
  if (!bounded.ok()) {  // the flush itself has succeeded
    db_.logger->Log(InfoLogLevel::kWarn, "memory that snapshots pin could not be moved to runs: " + bounded.ToString());
  }
  return done;
}

Status Flusher::FlushDuringOpen(const std::shared_ptr<Family>& family) {
  for (std::optional<FrozenTable> oldest; (oldest = OldestOf(*family)).has_value();) {
    Flushes flushes;
    flushes.push_back(std::make_unique<TableFlush>(tools_, family, *oldest));
    RetryAlone(flushes, Run(flushes));
    CAMBIUM_RETURN_IF_ERROR(flushes.front()->End());
  }
  const Status dropped = commits_.DropUnreferenced();
  return IsFatal(dropped) ? dropped : Status::OK();  // a later commit drops them
}

bool Flusher::Run(const Flushes& flushes) {
  assert(!flushes.empty());
  SequenceNumber last = 0;
  for (const auto& flush : flushes) last = std::max(last, flush->table()->end.sequence);
  // The index must never have an operation that the log may lose.
  const Status synced = MutantIs(Mutant::kFlushBeforeLogSync) ? Status::OK() : head_.log()->SyncUpTo(last);
  for (const auto& flush : flushes) {
    flush->status = synced.ok() ? flush->Write() : synced;
    if (!IsFatal(flush->status)) continue;
    Stop(flushes, flush->status);
    return false;
  }
  if (!SyncTogether(flushes)) return false;
  std::vector<PendingChange*> durable;
  for (const auto& flush : flushes) {
    if (flush->status.ok()) durable.push_back(flush.get());
  }
  return !durable.empty() && IsRefused(CommitTogether(db_, &commits_, durable)) && durable.size() > 1;
}

bool Flusher::SyncTogether(const Flushes& flushes) {
  std::vector<TableFlush*> written;
  std::vector<FileSyncs*> files;
  for (const auto& flush : flushes) {
    if (!flush->status.ok()) continue;
    written.push_back(flush.get());
    files.push_back(flush->unsynced()->files());
  }
  std::vector<Status> synced(files.size());
  FileSyncs::SyncAll(db_.fs.get(), files, synced);
  for (std::size_t i = 0; i < written.size(); ++i) {
    written[i]->unsynced()->Done(synced[i]);
    written[i]->status = synced[i];
  }
  const auto fatal = std::ranges::find_if(synced, IsFatal);
  if (fatal == synced.end()) return true;
  Stop(flushes, *fatal);
  return false;
}

// After a failed sync nothing may be written any more.
void Flusher::Stop(const Flushes& flushes, const Status& fatal) {
  assert(IsFatal(fatal));
  jobs_.SetFatal(fatal, BackgroundErrorReason::kFlush);
  for (const auto& flush : flushes) {
    if (!flush->is_committed()) flush->status = fatal;
  }
}

// Commits flushes one by one after their common attempt has failed. A flush into a damaged tree becomes a run, which
// does not need the tree. A flush that lacks versions begins again. If the MANIFEST has refused the common edit because one family's part does not fit its state,
// the other families' parts are committed without it.
void Flusher::RetryAlone(const Flushes& flushes, bool is_edit_refused) {
  for (const auto& flush : flushes) {
    const bool can_become_run = flush->CanBecomeRun();
    if (!can_become_run && !flush->LacksVersions() && !(is_edit_refused && IsRefused(flush->status))) continue;
    flush->Reset();
    flush->status = can_become_run ? flush->WriteRun() : flush->Write();
    if (flush->status.ok()) flush->status = flush->unsynced()->Sync(db_.fs.get());
    PendingChange* const change = flush.get();
    if (flush->status.ok()) static_cast<void>(CommitTogether(db_, &commits_, {&change, 1}));
    if (IsFatal(flush->status)) return Stop(flushes, flush->status);
  }
}

// The memtables of a dropped family are never flushed.
JobWork::Next Flusher::NextOf(const Family& family, const Status& flushed) const {
  JobWork::Next next;
  next.repeats = flushed.ok() && !family.dropped.load(std::memory_order_acquire) &&
                 family.frozen_count.load(std::memory_order_acquire) > 0;
  next.compacts = compactor_.IsDue(family);
  return next;
}

Status Flusher::FlushNow(Family* family, bool wait) {
  SequenceNumber upto = 0;
  while (true) {
    {
      const AppendLock lock(head_);
      if (family->dropped.load(std::memory_order_relaxed)) return DroppedStatus(*family);
      upto = head_.published();
      if (family->active->empty()) break;
      if (WriteHead::MayFreeze(*family)) {
        head_.Freeze(family, FlushReason::kManualFlush);
        break;
      }
    }
    CAMBIUM_RETURN_IF_ERROR(WaitFor(family, 0));
  }
  db_.events.Deliver();
  if (wait) CAMBIUM_RETURN_IF_ERROR(WaitFor(family, upto));
  return jobs_.Health();  // a job may have found a fatal error meanwhile
}

Status Flusher::WaitFor(Family* family, SequenceNumber sequence) {
  const std::shared_ptr<Family> kept = commits_.FindFamily(family->id);
  if (kept == nullptr) return Status::OK();  // dropped: nothing to wait for
  while (true) {
    std::uint64_t seen = 0;
    {
      const JobsLock lock(jobs_);
      // A call that waits for a failed flush tries it again.
      if (family->frozen_count.load(std::memory_order_acquire) > 0) jobs_.ScheduleLocked(Job::kFlush, kept);
      seen = family->flush.ended;
    }
    if (family->frozen_count.load(std::memory_order_acquire) == 0) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(jobs_.AwaitEnd(Job::kFlush, seen, kept));
    CAMBIUM_RETURN_IF_ERROR(jobs_.LastOf(Job::kFlush, kept));
    if (sequence == 0) return Status::OK();
    const CommitLock lock(commits_);
    const auto state = commits_.state().families.find(family->id);
    if (state == commits_.state().families.end() || state->second.flushed_sequence >= sequence) return Status::OK();
  }
}

}  // namespace cambium
