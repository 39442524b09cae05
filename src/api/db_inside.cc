#include "api/db_inside.h"

#include <utility>

#include "api/batch_check.h"
#include "vlog/commit_log.h"

namespace cambium {

// ---- For transactions ----

Status DbInside::WriteIf(const WriteOptions& options, WriteBatch* batch, const WriteCondition& condition) {
  const Delivery delivery(&state_.context.events);
  const Stopwatch watch(&state_.context.meter, DB_WRITE);
  CAMBIUM_RETURN_IF_ERROR(writer_.Check(options));
  return writer_.Write(options, batch, &condition);
}

DbInside::WatchScope::WatchScope(DbInside* inside, WatchedKeys keys)
    : head_(inside->state_.head), watch_(std::move(keys)) {
  const AppendLock lock(head_);
  head_.range_watches().Begin(&watch_);
}

DbInside::WatchScope::~WatchScope() {
  const AppendLock lock(head_);
  head_.range_watches().End(&watch_);
}

Status DbInside::CheckForLater(const WriteBatch& batch, std::size_t key_size) const {
  RecordHeader removal;
  removal.key_size = static_cast<std::uint32_t>(key_size);
  return CheckBatch(state_.commits, batch, kBatchBytesMax - removal.RecordSize());
}

Result<std::shared_ptr<Family>> DbInside::SharedFamilyOf(ColumnFamilyHandle* handle) const {
  ColumnFamilyHandle* const its = handle == nullptr ? db().DefaultColumnFamily() : handle;
  CAMBIUM_RETURN_IF_ERROR(FamilyOf(&db(), its).status());
  return static_cast<FamilyHandle*>(its)->family();
}

std::unique_ptr<ColumnFamilyHandle> DbInside::NewHandle(std::uint32_t id) const {
  std::shared_ptr<Family> family = state_.commits.FindFamily(id);
  if (family == nullptr) return nullptr;
  return std::make_unique<FamilyHandle>(&db(), state_.context.database_id, std::move(family));
}

std::unique_ptr<ColumnFamilyHandle> DbInside::NewHandle(std::string_view name) const {
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  for (const FamilyView& each : view->families) {
    if (each.family->name == name) return NewHandle(each.family->id);
  }
  return nullptr;
}

// ---- For copies and tools ----

Result<Capture> DbInside::CaptureNow(std::uint64_t log_size_for_flush) {
  const Delivery delivery(&state_.context.events);
  CAMBIUM_RETURN_IF_ERROR(writer_.Check({}));
  return capturer_.CaptureNow(log_size_for_flush);
}

Status DbInside::CollectOnce(bool all, double cutoff) {
  const Delivery delivery(&state_.context.events);
  upkeep_.collector.ScheduleIfDue();
  return upkeep_.manual_gc.CollectRound(all, cutoff);
}

// ---- For tests ----

Status DbInside::CheckInvariants() const {
  CAMBIUM_RETURN_IF_ERROR(cambium::CheckInvariants(state_));
  if (state_.head.log() == nullptr) return Status::OK();  // open for reading, or closed
  const CommitLock lock(state_.commits);
  return upkeep_.gc_segments.CheckUses();
}

std::uint64_t DbInside::SegmentVisits() const {
  const CommitLock lock(state_.commits);
  return upkeep_.gc_segments.visits();
}

}  // namespace cambium
