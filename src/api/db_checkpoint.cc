// What the database consists of at one moment, for checkpoints and backups.
//
//   flush, if much is in memory ─▶ the log goes on in a new segment, and the ones before it are sealed
//        ─▶ append_mutex_, commit_mutex_: the MANIFEST's state, the view that holds its files, the end of the log
//        ─▶ whoever asked links and copies, as long as he holds the view
//
// With both locks no batch is half written, and no commit is under way: the log up to its end, behind this state, is a
// prefix of what was written. The view keeps every file, and every value that punching would take.
#include <algorithm>

#include "recovery/capture.h"
#include "api/db_impl.h"
#include "options/options_file.h"
#include "manifest/file_names.h"
#include "util/fault_point.h"

namespace cambium {
namespace {

// What has so much log is ended for a copy, so that it can be linked; less is copied sooner.
constexpr std::uint64_t kLogToCopy = 1u << 20;
// How often, at most: while all that is waited for others may fill the next one.
constexpr int kSealsMax = 3;

}  // namespace

// Ends what can be linked then, and waits for its seal.
Status DbImpl::SealForCapture() { return SealLog(kLogToCopy); }

Status DbImpl::SealLog(std::uint64_t rotate_from) {
  for (int i = 0; i < kSealsMax; ++i) {
    std::uint64_t seen = 0;
    {
      const std::lock_guard append_lock(append_mutex_);
      if (log_->tail().offset >= rotate_from) CAMBIUM_RETURN_IF_ERROR(log_->Rotate());
      const std::uint64_t current = log_->tail().segment;
      const std::lock_guard commit_lock(commit_mutex_);
      const bool is_unsealed = std::ranges::any_of(manifest_->state().segments, [&](const auto& each) {
        return each.second.kind == SegmentKind::kLog && !each.second.sealed && each.first < current;
      });
      if (!is_unsealed) return Status::OK();
      const std::lock_guard lock(background_mutex_);
      ScheduleLocked(Job::kSeal, nullptr);
      if (!StateOf(Job::kSeal, nullptr)->scheduled) return Health();
      seen = StateOf(Job::kSeal, nullptr)->ended;
    }
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return StateOf(Job::kSeal, nullptr)->ended != seen; }));
  }
  return Status::OK();  // others write; what is not sealed is copied
}

Status DbImpl::FlushForCapture(std::uint64_t log_size_for_flush) {
  std::vector<std::shared_ptr<Family>> families;
  {
    const std::lock_guard append_lock(append_mutex_);
    const std::shared_ptr<const View> view = view_.Pin();
    const LogPlace oldest = OldestUnflushed(*view, nullptr, {log_end_, published_.load(std::memory_order_relaxed)});
    std::uint64_t log_bytes = 0;
    const std::lock_guard commit_lock(commit_mutex_);
    for (const auto& [number, info] : manifest_->state().segments) {
      if (info.kind != SegmentKind::kLog || number < oldest.position.segment || number > log_end_.segment) continue;
      const std::shared_ptr<Segment>& segment = view->segments.Find(info.slot);
      std::uint64_t end = info.sealed ? info.sealed_length : number == log_end_.segment ? log_end_.offset : segment->log_end();
      if (number == oldest.position.segment) end -= std::min(end, oldest.position.offset);
      log_bytes += end;
    }
    if (log_bytes < log_size_for_flush) return Status::OK();
    for (const FamilyView& each : view->families) families.push_back(each.family);
  }
  for (const std::shared_ptr<Family>& family : families) {
    FamilyHandle handle(this, family);
    const Status flushed = Flush({}, &handle);
    if (!flushed.ok() && !flushed.IsColumnFamilyDropped()) return flushed;
  }
  return Status::OK();
}

Result<Capture> DbImpl::CaptureNow(std::uint64_t log_size_for_flush) {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  CAMBIUM_RETURN_IF_ERROR(FlushForCapture(log_size_for_flush));
  CAMBIUM_RETURN_IF_ERROR(SealForCapture());
  CAMBIUM_FAULT_POINT("Capture:begin");
  Capture capture;
  const std::lock_guard families_lock(families_mutex_);  // what options say of families is of the same moment
  const std::lock_guard append_lock(append_mutex_);
  const std::lock_guard commit_lock(commit_mutex_);
  CAMBIUM_RETURN_IF_ERROR(Health());
  const std::shared_ptr<const View> view = view_.Pin();
  capture.pin = view;
  ManifestState& state = capture.state;
  state = manifest_->state();
  std::map<std::uint64_t, std::uint64_t> ends;
  for (auto it = state.segments.begin(); it != state.segments.end();) {
    const SegmentInfo& info = it->second;
    // One that was made ahead; nothing is in it.
    if (info.kind == SegmentKind::kLog && !info.sealed && info.number > log_end_.segment) {
      it = state.segments.erase(it);
      continue;
    }
    if (!info.sealed) {
      const bool is_current = info.number == log_end_.segment;
      ends[info.number] = is_current ? log_end_.offset : view->segments.Find(info.slot)->log_end();
    }
    ++it;
  }
  capture.files = CapturedFilesOf(state, ends);
  state.last_sequence = std::max(state.last_sequence, published_.load());
  state.durable_sequence = published_.load();
  state.clean_shutdown = true;
  capture.manifest_number = next_file_number_;
  capture.options_number = next_file_number_ + 1;
  state.next_file_number = next_file_number_ + 2;
  capture.header = HeaderFor(FileKind::kManifest, capture.manifest_number);
  std::vector<ColumnFamilyDescriptor> families;
  for (const FamilyView& each : view->families) families.emplace_back(each.family->name, each.family->options());
  capture.options_text = EncodeOptionsFile(DbOptionsInForce(), families);
  return capture;
}

}  // namespace cambium
