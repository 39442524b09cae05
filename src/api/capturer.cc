#include "api/capturer.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "options/options_file.h"
#include "util/fault_point.h"

namespace cambium {
namespace {

// A current segment with at least this much log is ended, so that it can be linked; copying a shorter one is faster.
constexpr std::uint64_t kLogToCopy = 1u << 20;

}  // namespace

Result<Capture> Capturer::CaptureNow(std::uint64_t log_size_for_flush) {
  CAMBIUM_RETURN_IF_ERROR(FlushFirst(log_size_for_flush));
  CAMBIUM_RETURN_IF_ERROR(upkeep_.sealer.SealLog(kLogToCopy));  // segments that are not sealed are copied
  CAMBIUM_FAULT_POINT("Capture:begin");
  Capture capture;
  CAMBIUM_RETURN_IF_ERROR(Take(&capture));
  return capture;
}

std::uint64_t Capturer::LogBytes(const View& view) {
  const LogPlace last = state_.head.end();
  const LogPlace oldest = WriteHead::OldestUnflushed(view, {}, last);
  std::uint64_t bytes = 0;
  const CommitLock lock(state_.commits);
  for (const auto& [number, info] : state_.commits.state().segments) {
    if (info.kind != SegmentKind::kLog || number < oldest.position.segment || number > last.position.segment) continue;
    const bool is_current = number == last.position.segment;
    std::uint64_t end = info.sealed  ? info.sealed_length
                        : is_current ? last.position.offset
                                     : view.segments.Find(info.slot)->log_end();
    if (number == oldest.position.segment) end -= std::min(end, oldest.position.offset);
    bytes += end;
  }
  return bytes;
}

Status Capturer::FlushFirst(std::uint64_t log_size_for_flush) {
  std::vector<std::shared_ptr<Family>> families;
  {
    const AppendLock lock(state_.head);
    const std::shared_ptr<const View> view = state_.commits.view().Pin();
    if (LogBytes(*view) < log_size_for_flush) return Status::OK();
    for (const FamilyView& each : view->families) families.push_back(each.family);
  }
  for (const std::shared_ptr<Family>& family : families) {
    const Status flushed = upkeep_.flusher.FlushNow(family.get(), /*wait=*/true);
    if (!flushed.ok() && !flushed.IsColumnFamilyDropped()) return flushed;
  }
  return Status::OK();
}

Status Capturer::Take(Capture* capture) {
  const FamiliesLock no_change(families_);  // options must be captured at the same moment
  const AppendLock append(state_.head);
  const CommitLock commit(state_.commits);
  CAMBIUM_RETURN_IF_ERROR(state_.jobs.Health());
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  const LogPlace last = state_.head.end();
  capture->pin = view;
  ManifestState& state = capture->state;
  state = state_.commits.state();
  std::map<std::uint64_t, std::uint64_t> ends;
  for (auto it = state.segments.begin(); it != state.segments.end();) {
    const SegmentInfo& info = it->second;
    // A segment that was created ahead holds nothing.
    if (info.kind == SegmentKind::kLog && !info.sealed && info.number > last.position.segment) {
      it = state.segments.erase(it);
      continue;
    }
    if (!info.sealed) {
      const bool is_current = info.number == last.position.segment;
      ends[info.number] = is_current ? last.position.offset : view->segments.Find(info.slot)->log_end();
    }
    ++it;
  }
  capture->files = CapturedFilesOf(state, ends);
  assert(state.replay <= last.position);
  // The MANIFEST may have a later number, if a recovery to a point in time has lost operations of a family dropped
  // since.
  state.last_sequence = std::max(state.last_sequence, last.sequence);
  state.durable_sequence = last.sequence;
  state.clean_shutdown = true;
  const std::uint64_t next = state_.commits.next_file_number();
  capture->manifest_number = next;
  capture->options_number = next + 1;
  state.next_file_number = next + 2;
  capture->header = state_.context.HeaderFor(FileKind::kManifest, next);
  capture->options_text = families_.Text({});
  return Status::OK();
}

}  // namespace cambium
