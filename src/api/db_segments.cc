// Segments of the log once they are full, and files that nobody refers to any more.
#include "api/db_impl.h"
#include "manifest/file_names.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

// Seals what was rotated: synced, with an index of its records behind them, and its end in the MANIFEST.
Status DbImpl::SealRotated() {
  for (RotatedSegment& rotated : log_->TakeRotated()) unsealed_.push_back(std::move(rotated));
  // Where one segment was filled, so will be the next. Its successor is made first: it takes three small syncs, and they
  // would have to wait until the device has written all of the segment that is synced below.
  if (!unsealed_.empty()) {
    const Status made = MakeSpare();
    if (made.severity() == Status::Severity::kFatal) return made;
    if (!made.ok()) logger_->Log(InfoLogLevel::kWarn, "no segment is made ahead: " + made.ToString());
  }
  while (!unsealed_.empty()) {
    const RotatedSegment& rotated = unsealed_.front();
    const SegmentEnd& end = rotated.end;
    CAMBIUM_RETURN_IF_ERROR(log_->SyncRotated(end.segment));
    // Without its index the segment is as good, only slower to collect: no reason not to seal it.
    meter_.Tick(FILE_BYTES_LOG, rotated.footer.size());
    const bool has_footer = end.segment->file().Write(end.length, rotated.footer).ok();
    const std::uint64_t file_size = end.length + (has_footer ? rotated.footer.size() : 0);
    CommitLog::Trim(end.segment.get(), file_size);
    if (has_footer) {
      const Status synced = end.segment->file().SyncData();
      if (!synced.ok()) return synced.Fatal();
    }
    CAMBIUM_FAULT_POINT("Seal:written");
    {
      const std::lock_guard lock(commit_mutex_);
      SegmentInfo info = manifest_->state().segments.at(end.segment->number());
      info.sealed = true;
      info.has_footer = has_footer;
      info.sealed_length = end.length;
      info.file_size = file_size;
      info.last_sequence = end.last_sequence;
      Edit edit;
      edit.set_segments.push_back(info);
      CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    }
    if (SegmentMap* const map = end.segment->map(); map != nullptr) map->Complete(end.length);
    unsealed_.erase(unsealed_.begin());
  }
  return DropUnreferenced();
}

Status DbImpl::MakeSpare() {
  const std::lock_guard lock(commit_mutex_);
  return MakeSpareLocked();
}

Status DbImpl::DropUnreferenced() {
  std::vector<std::shared_ptr<Segment>> gone;
  std::vector<std::uint64_t> gone_bytes;
  {
    const std::lock_guard lock(commit_mutex_);
    const ManifestState& state = manifest_->state();
    // The operation that refers to a large value may still be in a memory table only.
    const auto is_awaited = [&](std::uint64_t number) {
      const auto committed = large_committed_.find(number);
      if (committed == large_committed_.end()) return false;
      const auto family = state.families.find(committed->second.family);
      return family != state.families.end() && committed->second.sequence > family->second.flushed_sequence;
    };
    const std::shared_ptr<const View> view = view_.Pin();
    Edit edit;
    bool is_behind_open = false;  // the first record of a segment says where the one before it ends, as long as no seal does
    for (const auto& [number, info] : state.segments) {
      if (info.kind == SegmentKind::kLog && is_behind_open) continue;
      is_behind_open = is_behind_open || (info.kind == SegmentKind::kLog && !info.sealed);
      const Account account = state.TotalAccount(info.slot);
      const bool referred = MutantIs(Mutant::kChargeBytesNotReferences)
                                ? account.bytes > static_cast<std::int64_t>(info.sealed_length / 2)
                                : account.references != 0;
      if (referred || !info.sealed) continue;
      if (info.kind == SegmentKind::kLargeValue) {
        if (is_awaited(number)) continue;
      } else if (info.kind == SegmentKind::kLog &&
                 (number > state.replay.segment ||
                  (number == state.replay.segment && state.replay.offset < info.sealed_length))) {
        continue;  // recovery may still have to read it
      }
      edit.drop_segments.push_back(number);
      gone.push_back(view->segments.Find(info.slot));
      gone_bytes.push_back(BytesOf(info));
    }
    if (gone.empty()) return Status::OK();
    if (MutantIs(Mutant::kDeleteBeforeCommit)) {
      for (const auto& segment : gone) static_cast<void>(fs_->Unlink(segment->path()));
    }
    if (const Status dropped = CommitEdit(&edit); !dropped.ok()) {
      if (dropped.severity() == Status::Severity::kFatal || !dropped.IsIOError()) return dropped;
      // Space that cannot be given back now is given back later. What was committed before this has not failed.
      logger_->Log(InfoLogLevel::kWarn, "segments that nothing refers to stay for now: " + dropped.ToString());
      return Status::OK();
    }
    for (const std::uint64_t number : edit.drop_segments) large_committed_.erase(number);
    for (std::size_t i = 0; i < gone.size(); ++i) obsolete_.Leaves(gone[i]->path(), {gone_bytes[i], true});
    view_.Update([&](View* next) {
      for (const auto& segment : gone) next->segments = next->segments.Without(segment->slot());
    });
  }
  for (const auto& segment : gone) {
    punched_.Forget(segment->number());
    segment->MakeObsolete();
    if (MutantIs(Mutant::kUnlinkWhilePinned)) obsolete_.Add(segment->path());
  }
  return Status::OK();
}

Status DbImpl::RemoveObsolete() {
  Status first;
  for (const std::string& path : obsolete_.Take()) {
    // After a failure nothing is removed any more: it may be what the next opening needs.
    CAMBIUM_RETURN_IF_ERROR(Health());
    Status removed = fs_->Unlink(path);
    if (MutantIs(Mutant::kGoneIsAnError) && removed.IsPathNotFound()) removed = Status::IOError(removed.ToString());
    const auto file = ParseFileName(std::string_view(path).substr(path_.size() + 1));
    if (removed.ok() && file.has_value()) events_.Deleted(path_, *file);
    if (removed.ok() || removed.IsPathNotFound()) obsolete_.Gone(path);
    if (removed.ok() || removed.IsPathNotFound()) continue;
    obsolete_.PutBack(path);
    if (first.ok()) first = removed;
  }
  return first;
}

}  // namespace cambium
