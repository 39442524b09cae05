#include "upkeep/log_gc/sealer.h"

#include <cassert>
#include <optional>
#include <utility>

#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

namespace {

// The most seal jobs that SealLog waits for.
constexpr int kSealsMax = 3;

}  // namespace

Status Sealer::SealRotated() {
  for (RotatedSegment& rotated : head_.log()->TakeRotated()) {
    assert(unsealed_.empty() || unsealed_.back().end.segment->number() < rotated.end.segment->number());
    unsealed_.push_back(std::move(rotated));
  }
  // If writers have filled one segment, they will soon fill the next. So the spare segment is created first: otherwise
  // its three small syncs would wait until the device has written all of the segment that is synced below.
  if (!unsealed_.empty()) {
    const Status made = head_.MakeSpare();
    if (made.severity() == Status::Severity::kFatal) return made;
    if (!made.ok()) db_.logger->Log(InfoLogLevel::kWarn, "no segment is created ahead: " + made.ToString());
  }
  while (!unsealed_.empty()) {
    CAMBIUM_RETURN_IF_ERROR(Seal(unsealed_.front()));
    unsealed_.erase(unsealed_.begin());
  }
  return commits_.DropUnreferenced();
}

Status Sealer::Seal(const RotatedSegment& rotated) {
  const SegmentEnd& end = rotated.end;
  assert(end.segment != nullptr && end.length >= kFileHeaderSize);
  CAMBIUM_RETURN_IF_ERROR(head_.log()->SyncRotated(end.segment));
  // Without a footer the segment is only slower to collect, so it is sealed even if this write fails.
  db_.meter.Tick(FILE_BYTES_LOG, rotated.footer.size());
  const bool has_footer = end.segment->file().Write(end.length, rotated.footer).ok();
  const std::uint64_t file_size = end.length + (has_footer ? rotated.footer.size() : 0);
  CommitLog::Trim(end.segment.get(), file_size);
  if (has_footer) {
    const Status synced = end.segment->file().SyncData();
    if (!synced.ok()) return synced.Fatal();
  }
  CAMBIUM_FAULT_POINT("Seal:written");
  {
    const CommitLock lock(commits_);
    SegmentInfo info = commits_.state().segments.at(end.segment->number());
    info.sealed = true;
    info.has_footer = has_footer;
    info.sealed_length = end.length;
    info.file_size = file_size;
    info.last_sequence = end.last_sequence;
    Edit edit;
    edit.set_segments.push_back(info);
    CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit));
  }
  if (SegmentMap* const map = end.segment->map(); map != nullptr) map->Complete(end.length);
  return Status::OK();
}

Status Sealer::SealLog(std::uint64_t rotate_from) {
  for (int i = 0; i < kSealsMax; ++i) {
    std::optional<std::uint64_t> seen;
    {
      const AppendLock append(head_);
      if (head_.log()->tail().offset >= rotate_from) CAMBIUM_RETURN_IF_ERROR(head_.log()->Rotate());
      const std::uint64_t current = head_.log()->tail().segment;
      const CommitLock commit(commits_);
      const std::optional<std::uint64_t> unsealed = commits_.index().FirstUnsealedLog();
      if (!unsealed.has_value() || *unsealed >= current) return Status::OK();
      seen = jobs_.ScheduleToAwait(Job::kSeal);
      if (!seen.has_value()) return jobs_.Health();
    }
    CAMBIUM_RETURN_IF_ERROR(jobs_.AwaitEnd(Job::kSeal, *seen));
  }
  return Status::OK();
}

}  // namespace cambium
