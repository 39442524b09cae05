#include "api/offline.h"

#include <cassert>
#include <utility>

#include "io/file_header.h"
#include "upkeep/compact/filter_call.h"
#include "util/epoch.h"

namespace cambium {

Status OfflineAccess::SealWholeLog() {
  const Delivery delivery(&state_.context.events);
  {
    const std::shared_ptr<const View> view = state_.commits.view().Pin();
    for (const FamilyView& each : view->families) {
      CAMBIUM_RETURN_IF_ERROR(upkeep_.flusher.FlushNow(each.family.get(), /*wait=*/true));
    }
  }
  CAMBIUM_RETURN_IF_ERROR(upkeep_.sealer.SealLog(kFileHeaderSize));
  CAMBIUM_RETURN_IF_ERROR(state_.head.AdvanceReplay());
  CAMBIUM_RETURN_IF_ERROR(state_.commits.DropUnreferenced());
  return AwaitIdle();  // holes that were planned before this Open are made too
}

std::vector<std::uint64_t> OfflineAccess::SegmentsOfLog() const {
  const CommitLock lock(state_.commits);
  const ManifestState& state = state_.commits.seen_state();
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, info] : state.segments) {
    if (info.kind == SegmentKind::kLargeValue || !info.sealed) continue;
    if (upkeep_.gc_segments.damaged().contains(number)) continue;
    const bool is_replayed = info.kind == SegmentKind::kLog && state.replay < LogPosition{number, info.sealed_length};
    if (!is_replayed || state_.context.read_only) numbers.push_back(number);
  }
  return numbers;
}

OfflineAccess::LogNow OfflineAccess::PinLog(std::span<const std::uint64_t> numbers) {
  LogNow log;
  const CommitLock lock(state_.commits);
  log.view = state_.commits.view().Pin();
  const ManifestState& state = state_.commits.seen_state();
  std::vector<Slot> slots;
  for (const std::uint64_t number : numbers) {
    const auto found = state.segments.find(number);
    if (found == state.segments.end()) continue;  // a compaction has removed its last reference
    log.sources.push_back({log.view->segments.Find(found->second.slot), found->second});
    slots.push_back(found->second.slot);
  }
  log.slots = state_.commits.HoldSlots(std::move(slots));
  for (const FamilyView& each : log.view->families) {
    const ColumnFamilyOptions& options = each.family->options();
    log.families.push_back({each.family->id, options.comparator, each.family->equal_by, each.layers, 0, std::nullopt});
  }
  return log;
}

Result<OfflineAccess::MovedOut> OfflineAccess::MoveOut(const LogNow& log, std::span<const GcSource> sources,
                                                       bool empties, std::span<const GcRecord> records) {
  assert(!sources.empty());
  const Delivery delivery(&state_.context.events);
  GcPick pick;
  pick.view = log.view;
  pick.reason = GcReason::kRequested;
  pick.sources.assign(sources.begin(), sources.end());
  pick.families = log.families;
  GcReport report = upkeep_.relocator.Begin(pick, empties);
  {
    const CommitLock lock(state_.commits);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (upkeep_.gc_segments.damaged().contains(sources[i].info.number)) report.is_emptied[i] = false;
    }
  }
  const Status done = upkeep_.relocator.Move(pick, records, &report);
  upkeep_.relocator.Report(pick, report, done);
  if (done.severity() == Status::Severity::kFatal) state_.jobs.SetFatal(done, BackgroundErrorReason::kLogGc);
  CAMBIUM_RETURN_IF_ERROR(done);
  return MovedOut{report.bytes_read, report.file_bytes};
}

Status OfflineAccess::ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit) {
  const Delivery delivery(&state_.context.events);
  return upkeep_.clusterer.ClusterAll(dry, visit);
}

Status OfflineAccess::RewriteIndexes() {
  const Delivery delivery(&state_.context.events);
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  for (const FamilyView& each : view->families) {
    FilterCall call(&state_, each.family);
    CAMBIUM_RETURN_IF_ERROR(call.Begin());
    CAMBIUM_RETURN_IF_ERROR(upkeep_.flusher.FlushNow(each.family.get(), /*wait=*/true));
    CAMBIUM_RETURN_IF_ERROR(upkeep_.compactor.CompactKeys(each.family, nullptr, nullptr, /*rewrites=*/true));
  }
  CAMBIUM_RETURN_IF_ERROR(state_.commits.DropUnreferenced());
  return AwaitIdle();
}

Status OfflineAccess::AwaitIdle() {
  EpochCollect();
  return state_.jobs.AwaitIdle();
}

std::map<std::uint64_t, std::string> OfflineAccess::DamagedSegments() const {
  const CommitLock lock(state_.commits);
  return upkeep_.gc_segments.damaged();
}

ManifestState OfflineAccess::StateNow() const {
  const CommitLock lock(state_.commits);
  return state_.commits.seen_state();
}

}  // namespace cambium
