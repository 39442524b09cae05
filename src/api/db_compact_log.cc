// What CompactLog needs of a database: the log as a whole, sealed; steps of log GC with records that somebody else has
// chosen; indexes that are written anew.
#include <algorithm>
#include <utility>

#include "api/db_impl.h"
#include "manifest/file_names.h"

namespace cambium {

const ManifestState& DbImpl::SeenState() const { return seen_ != nullptr ? *seen_ : manifest_->state(); }

ManifestState DbImpl::StateNow() const {
  const std::lock_guard lock(commit_mutex_);
  return SeenState();
}

Status DbImpl::SettleLog() {
  const Delivery delivery(&events_);
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    FamilyHandle handle(this, each.family);
    CAMBIUM_RETURN_IF_ERROR(Flush({}, &handle));
  }
  CAMBIUM_RETURN_IF_ERROR(SealLog(kFileHeaderSize));
  CAMBIUM_RETURN_IF_ERROR(AdvanceReplay());
  CAMBIUM_RETURN_IF_ERROR(DropUnreferenced());
  return AwaitIdle();  // holes that an earlier opening was to make, too
}

std::vector<std::uint64_t> DbImpl::SegmentsOfLog() const {
  const std::lock_guard lock(commit_mutex_);
  const ManifestState& state = SeenState();
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, info] : state.segments) {
    if (info.kind == SegmentKind::kLargeValue || !info.sealed || damaged_segments_.contains(number)) continue;
    const bool is_replayed = info.kind == SegmentKind::kLog && state.replay < LogPosition{number, info.sealed_length};
    if (!is_replayed || read_only_) numbers.push_back(number);
  }
  return numbers;
}

DbImpl::LogNow DbImpl::PinLog(std::span<const std::uint64_t> numbers) {
  LogNow log;
  const std::lock_guard lock(commit_mutex_);
  log.view = view_.Pin();
  std::vector<Slot> slots;
  for (const std::uint64_t number : numbers) {
    const auto found = SeenState().segments.find(number);
    if (found == SeenState().segments.end()) continue;  // a merge took its last reference
    log.sources.push_back({log.view->segments.Find(found->second.slot), found->second});
    slots.push_back(found->second.slot);
  }
  log.slots = HoldSlots(std::move(slots));
  for (const FamilyView& each : log.view->families) {
    const ColumnFamilyOptions& options = each.family->options();
    log.families.push_back({each.family->id, options.comparator, each.family->equal_by, each.layers, 0, std::nullopt});
  }
  return log;
}

Result<DbImpl::MovedOut> DbImpl::MoveOut(const LogNow& log, std::span<const GcSource> sources, bool empties,
                                         std::span<const GcRecord> records) {
  const Delivery delivery(&events_);
  GcStep step;
  step.view = log.view;
  step.reason = GcReason::kRequested;
  step.sources.assign(sources.begin(), sources.end());
  step.families = log.families;
  step.begun_micros = options_.clock->NowMicros();
  step.job_id = events_.NewJobId();
  step.is_emptied.assign(sources.size(), empties);
  {
    const std::lock_guard lock(commit_mutex_);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (damaged_segments_.contains(sources[i].info.number)) step.is_emptied[i] = false;
    }
  }
  const Status done = MoveRecords(&step, records);
  if (events_.is_on()) TellOfGcStep(step, done);
  if (done.severity() == Status::Severity::kFatal) SetFatal(done, BackgroundErrorReason::kLogGc);
  CAMBIUM_RETURN_IF_ERROR(done);
  return MovedOut{step.bytes_read, step.file_bytes};
}

Status DbImpl::BeginBeside(std::function<Status()> task, int most) {
  CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return beside_.under_way < most || !beside_.first_error.ok(); }));
  const std::lock_guard lock(background_mutex_);
  if (!beside_.first_error.ok()) return beside_.first_error;
  executor_->Schedule(TaskPriority::kLow, [this, its = std::move(task)]() mutable {
    const Status done = its();
    its = nullptr;   // lets go of views and segments
    EpochCollect();  // and so does whoever had them last
    const std::lock_guard ended(background_mutex_);
    if (beside_.first_error.ok()) beside_.first_error = done;
    --beside_.under_way;
    background_changed_.notify_all();
  });
  ++beside_.under_way;  // the task cannot end before, since it takes the lock
  return Status::OK();
}

// Also when the database is broken: the tasks use it.
Status DbImpl::AwaitBeside() {
  std::unique_lock lock(background_mutex_);
  while (beside_.under_way > 0) {
    lock.unlock();
    const bool ran = executor_->RunOneInstead();
    lock.lock();
    if (!ran && beside_.under_way > 0) background_changed_.wait(lock);
  }
  return std::exchange(beside_.first_error, Status::OK());
}

Status DbImpl::AwaitIdle() {
  EpochCollect();
  return WaitUntil([this] { return IsIdle(); });
}

Status DbImpl::RewriteIndexes() {
  const Delivery delivery(&events_);
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    FamilyHandle handle(this, each.family);
    CAMBIUM_RETURN_IF_ERROR(CompactKeys(&handle, nullptr, nullptr, true));
  }
  CAMBIUM_RETURN_IF_ERROR(DropUnreferenced());
  return AwaitIdle();
}

std::map<std::uint64_t, std::string> DbImpl::DamagedSegments() const {
  const std::lock_guard lock(commit_mutex_);
  return {damaged_segments_.begin(), damaged_segments_.end()};
}

}  // namespace cambium
