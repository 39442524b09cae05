// Background work: which jobs are due, who runs them, who waits for them, and when they make way for users.
#include <algorithm>

#include "api/db_impl.h"
#include "util/generic_rate_limiter.h"
#include "util/mutant.h"

namespace cambium {
namespace {

const char* const kJobNames[] = {"flush",           "merge",        "seal",          "make a segment ahead",
                                 "collect garbage", "remove files", "look at space", "settle",
                                 "keep a reserve"};

}  // namespace

Status DbImpl::Health() const {
  if (!has_fatal_.load(std::memory_order_acquire)) return Status::OK();
  const std::lock_guard lock(background_mutex_);
  return fatal_;
}

void DbImpl::TellOfError(BackgroundErrorReason reason, const Status& status) {
  events_.Add([info = BackgroundErrorInfo{events_.db_name(), reason, status}](EventListener* listener) {
    listener->OnBackgroundError(info);
  });
}

void DbImpl::SetFatal(const Status& status, BackgroundErrorReason reason) {
  if (MutantIs(Mutant::kGoOnAfterFailedSync)) return;
  if (MutantIs(Mutant::kNoSpaceSyncIsSoft) && status.IsNoSpace()) return;
  bool is_first = false;
  {
    const std::lock_guard lock(background_mutex_);
    if (fatal_.ok()) {
      is_first = true;
      fatal_ = status.Fatal();
      logger_->Log(InfoLogLevel::kError, "the database takes no more writes: " + fatal_.ToString());
    }
    has_fatal_.store(true, std::memory_order_release);
    background_changed_.notify_all();
  }
  if (log_ != nullptr) log_->Fail(status);
  if (is_first) TellOfError(reason, status.Fatal());
}

BackgroundErrorReason DbImpl::ReasonOf(Job job) {
  switch (job) {
    case Job::kFlush: return BackgroundErrorReason::kFlush;
    case Job::kCompact: return BackgroundErrorReason::kCompaction;
    case Job::kCollect: return BackgroundErrorReason::kLogGc;
    default: return BackgroundErrorReason::kFiles;
  }
}

JobState* DbImpl::StateOf(Job job, Family* family) {
  switch (job) {
    case Job::kFlush: return &family->flush;
    case Job::kCompact: return &family->merge;
    default: return &jobs_[static_cast<std::size_t>(job)];
  }
}

void DbImpl::Schedule(Job job, const std::shared_ptr<Family>& family) {
  const std::lock_guard lock(background_mutex_);
  ScheduleLocked(job, family);
}

bool DbImpl::ScheduleIfPossible(Job job) noexcept {
  try {
    Schedule(job);
    return true;
  } catch (...) {  // whatever an executor may throw
    return false;
  }
}

void DbImpl::ScheduleLocked(Job job, const std::shared_ptr<Family>& family) {
  JobState& state = *StateOf(job, family.get());
  if (closing_ || read_only_ || has_fatal_.load(std::memory_order_acquire)) return;
  if (state.scheduled) {
    state.again = true;
    return;
  }
  const bool is_brief = job == Job::kSpare || job == Job::kSpace;
  const bool is_short = job == Job::kSeal || job == Job::kRemove || job == Job::kReserve;
  const TaskPriority priority = job == Job::kFlush || is_brief ? TaskPriority::kHigh
                                : is_short                     ? TaskPriority::kNormal
                                                               : TaskPriority::kLow;
  executor_->Schedule(priority, [this, job, family] { RunJob(job, family); });
  state.scheduled = true;  // not if that failed for want of memory; the task cannot end before, since it takes the lock
}

void DbImpl::RunJob(Job job, const std::shared_ptr<Family>& family) {
  JobState& state = *StateOf(job, family.get());
  {
    const std::lock_guard lock(background_mutex_);
    state.again = false;
  }
  Status s = Health();
  if (s.ok()) s = DoJob(job, family);
  if (s.severity() == Status::Severity::kFatal) {
    SetFatal(s, ReasonOf(job));
  } else if (!s.ok()) {
    logger_->Log(InfoLogLevel::kWarn,
                 std::string("could not ") + kJobNames[static_cast<std::size_t>(job)] + ": " + s.ToString());
    TellOfError(ReasonOf(job), s);
  }
  if (s.IsNoSpace() || full_disk_.commit_failed.exchange(false, std::memory_order_relaxed)) OnNoSpace();
  full_disk_.look_at.store(0, std::memory_order_relaxed);
  EpochCollect();
  LetGoOfDropped();
  // The tables of a dropped family are never flushed.
  const bool more_flush = job == Job::kFlush && s.ok() && !family->dropped.load(std::memory_order_acquire) &&
                          family->frozen_count.load(std::memory_order_acquire) > 0;
  const bool merge = (job == Job::kFlush || (job == Job::kCompact && s.ok())) && CompactionIsDue(*family);
  // Accounts change with what was merged and sealed.
  if (s.ok() && job != Job::kSpare && job != Job::kSettle && job != Job::kReserve) CheckSpace(job != Job::kSpace);
  events_.Deliver();  // as long as the database knows that the job is under way
  const std::lock_guard lock(background_mutex_);
  state.scheduled = false;
  state.last = s;
  ++state.ended;
  // What has failed is tried again when there is a reason to; but what came meanwhile is another matter.
  const bool is_of_each = job == Job::kRemove || job == Job::kSeal;
  const bool again = std::exchange(state.again, false) && (s.ok() || is_of_each);
  if (more_flush || again) ScheduleLocked(job, family);
  if (merge && !family->merging) ScheduleLocked(Job::kCompact, family);  // else whoever merges looks when it ends
  background_changed_.notify_all();
}

Status DbImpl::DoJob(Job job, const std::shared_ptr<Family>& family) {
  switch (job) {
    case Job::kFlush: return FlushOldest(family);
    case Job::kCompact: return CompactDue(family.get());
    case Job::kSeal: return SealRotated();
    case Job::kSpare: return MakeSpare();
    case Job::kCollect: return CollectGarbage();
    case Job::kRemove: {
      const Status removed = RemoveObsolete();
      const Status punched = MakeReadyHoles();
      return removed.ok() ? punched : removed;
    }
    case Job::kSpace: return Status::OK();  // RunJob looks
    case Job::kSettle: return Settle();
    case Job::kReserve: return MakeReserve();
  }
  return Status::OK();
}

void DbImpl::ForEachJob(const std::function<void(Job, const std::shared_ptr<Family>&, JobState*)>& visit) {
  for (const Job job : {Job::kSeal, Job::kSpare, Job::kCollect, Job::kRemove, Job::kSpace, Job::kSettle, Job::kReserve}) {
    visit(job, nullptr, StateOf(job, nullptr));
  }
  for (const std::shared_ptr<Family>& family : families_) {
    for (const Job job : {Job::kFlush, Job::kCompact}) visit(job, family, StateOf(job, family.get()));
  }
}

bool DbImpl::IsIdle() {
  bool idle = std::ranges::none_of(dropped_families_, [](const std::shared_ptr<Family>& family) {
    return family->flush.scheduled || family->merge.scheduled;
  });
  ForEachJob([&idle](Job, const std::shared_ptr<Family>&, const JobState* state) { idle = idle && !state->scheduled; });
  return idle;
}

// The caller holds no lock. Lets tasks run where there are no threads for them.
Status DbImpl::WaitUntil(const std::function<bool()>& done) {
  const CountScope waits(&waiting_calls_);
  std::unique_lock lock(background_mutex_);
  while (!done()) {
    if (has_fatal_.load(std::memory_order_acquire)) return fatal_;
    lock.unlock();
    const bool ran = executor_->RunOneInstead();
    lock.lock();
    if (!ran && !done() && !has_fatal_.load(std::memory_order_acquire)) background_changed_.wait(lock);
  }
  return Status::OK();
}

// Until operations up to `sequence` are in the durable layers, or, for 0, until one flush has ended. Fails as the flush
// fails, so that nobody waits for a flush that finds no space; the next one who comes lets it try again.
Status DbImpl::WaitForFlushOf(Family* family, SequenceNumber sequence) {
  const std::shared_ptr<Family> kept = FindFamily(family->id);
  if (kept == nullptr) return Status::OK();  // dropped: nothing to wait for
  while (true) {
    const std::uint64_t seen = [&] {
      const std::lock_guard lock(background_mutex_);
      if (family->frozen_count.load(std::memory_order_acquire) > 0) ScheduleLocked(Job::kFlush, kept);
      return family->flush.ended;
    }();
    if (family->frozen_count.load(std::memory_order_acquire) == 0) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return family->flush.ended != seen; }));
    {
      const std::lock_guard lock(background_mutex_);
      if (!family->flush.last.ok()) return family->flush.last;
    }
    if (sequence == 0) return Status::OK();
    const std::lock_guard lock(commit_mutex_);
    const auto state = manifest_->state().families.find(family->id);
    if (state == manifest_->state().families.end() || state->second.flushed_sequence >= sequence) return Status::OK();
  }
}

// Until a step of a merge has ended, if one can be had at all: somebody else's that is under way and brings something,
// or one in the background.
Status DbImpl::WaitForCompactionOf(Family* family) {
  const std::shared_ptr<Family> kept = FindFamily(family->id);
  if (kept == nullptr) return Status::OK();
  const std::size_t runs = family->run_count.load(std::memory_order_relaxed);
  std::uint64_t seen = 0;
  bool is_under_way = false;
  {
    const std::lock_guard lock(background_mutex_);
    is_under_way = family->merging;
    seen = family->merges_ended;
  }
  if (is_under_way) {
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return family->merges_ended != seen; }));
    if (family->run_count.load(std::memory_order_relaxed) < runs) return Status::OK();
  }
  {
    const std::lock_guard lock(background_mutex_);
    ScheduleLocked(Job::kCompact, kept);
    if (!family->merge.scheduled) return fatal_;  // closing, or broken
    seen = family->merge.ended;
  }
  return WaitUntil([&] { return family->merge.ended != seen; });
}

Status DbImpl::WaitForCompact() {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  {
    // A job that failed is work left: it gets another chance, since a full disk may have space again.
    const std::lock_guard lock(background_mutex_);
    ForEachJob([this](Job job, const std::shared_ptr<Family>& family, const JobState* state) {
      if (!state->last.ok()) ScheduleLocked(job, family);
    });
  }
  while (true) {
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return IsIdle(); }));
    EpochCollect();
    std::vector<std::shared_ptr<Family>> due;
    const std::shared_ptr<const View> view = view_.Pin();
    for (const FamilyView& each : view->families) {
      if (CompactionIsDue(*each.family)) due.push_back(each.family);
    }
    const std::lock_guard lock(background_mutex_);
    Status last;
    ForEachJob([&last](Job, const std::shared_ptr<Family>&, const JobState* state) {
      if (last.ok()) last = state->last;
    });
    CAMBIUM_RETURN_IF_ERROR(last);
    for (const auto& family : due) ScheduleLocked(Job::kCompact, family);
    if (IsIdle()) return fatal_;
  }
}

BeforeWrite DbImpl::PermitFor(Tickers cause, std::function<IOPriority()> priority) {
  return [this, cause, priority = std::move(priority), resumed = foreground_.NowMicros(),
          in_flight = std::make_shared<InFlight>(&space_.in_flight)](std::uint64_t bytes) mutable {
    // A job that waits has a thread, perhaps the only one, and a writer may wait for what that thread does next.
    const auto is_given_up = [this] {
      return closing_.load(std::memory_order_relaxed) || has_fatal_.load(std::memory_order_relaxed) ||
             stalled_writers_.load(std::memory_order_relaxed) > 0;
    };
    if (priority() == IO_LOW) {
      foreground_.GiveWay(resumed, [&] {
        return is_given_up() || waiting_calls_.load(std::memory_order_relaxed) > 0 || priority() != IO_LOW;
      });
    }
    if (options_.rate_limiter != nullptr) {
      auto& limiter = static_cast<GenericRateLimiter&>(*options_.rate_limiter);  // only the library makes them
      meter_.Tick(RATE_LIMITER_MICROS, limiter.Admit(bytes, priority(), options_.clock.get(), is_given_up));
    }
    in_flight->Add(bytes);
    meter_.Tick(cause, bytes);
    resumed = foreground_.NowMicros();
  };
}

// What is merged only because nobody uses the device is for nobody.
IOPriority DbImpl::PriorityOfCompaction(const Family& family) const {
  if (!family.merges_urgently.load(std::memory_order_relaxed)) return IO_MID;
  if (IsDiskFull()) return IO_HIGH;
  const bool is_for_nobody =
      space_.is_idle.load(std::memory_order_relaxed) && !space_.is_short.load(std::memory_order_relaxed);
  return is_for_nobody ? IO_LOW : IO_HIGH;
}

IOPriority DbImpl::PriorityOfGc() const {
  const GcUrgency urgency = UrgencyOfGc();
  return urgency == GcUrgency::kSpace || urgency == GcUrgency::kFull ? IO_HIGH : IO_LOW;
}

}  // namespace cambium
