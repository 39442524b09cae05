// Files that are not needed any more: segments without references, and obsolete files.
#include <algorithm>
#include <cassert>
#include <utility>

#include "state/commit_point.h"
#include "state/unlink_while_pinned.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Only in a mutant: judges by the bytes that are referred to.
bool IsHalfReferred(const SegmentInfo& info, const Account& account) {
  return account.bytes > static_cast<std::int64_t>(info.sealed_length / 2);
}

bool IsReferred(const SegmentInfo& info, const Account& account) {
  return MutantIs(Mutant::kChargeBytesNotReferences) ? IsHalfReferred(info, account) : account.references != 0;
}

// Only in a mutant: the numbers of all segments, as if none had references.
std::set<std::uint64_t> AllNumbers(const ManifestState& state) {
  std::set<std::uint64_t> all;
  if (!MutantIs(Mutant::kChargeBytesNotReferences)) return all;
  for (const auto& [number, info] : state.segments) all.insert(number);
  return all;
}

// Only in a mutant: removes files before the record that drops them.
void DeleteBeforeCommit(FileSystem* fs, const std::vector<std::shared_ptr<Segment>>& segments) {
  if (!MutantIs(Mutant::kDeleteBeforeCommit)) return;
  for (const auto& segment : segments) static_cast<void>(fs->Unlink(segment->path()));
}

// A file that was gone before counts as removed, except in a mutant.
bool IsGone(const Status& removed) {
  return removed.ok() || (removed.IsPathNotFound() && !MutantIs(Mutant::kMissingFileIsError));
}

}  // namespace

std::uint64_t CommitPoint::BytesOf(const SegmentInfo& info) const {
  return !info.MayHaveHoles() ? info.file_size : info.file_size - punched_.Of(info.number).holes;
}

// Whether a sealed segment has no references and cannot get one any more.
bool CommitPoint::CanDrop(const SegmentInfo& info) const {
  if (!info.sealed || IsReferred(info, index().TotalOf(info.slot))) return false;
  if (info.kind == SegmentKind::kLargeValue) {
    // The operation that refers to the value may still be in a memtable only.
    const auto committed = large_values_.find(info.number);
    if (committed == large_values_.end()) return true;
    const auto failed_in = state().segments.find(committed->second.failed_in);
    if (failed_in != state().segments.end() && !failed_in->second.sealed) return false;
    const auto family = state().families.find(committed->second.family);
    return family == state().families.end() || committed->second.sequence <= family->second.flushed_sequence;
  }
  if (info.kind != SegmentKind::kLog) return true;
  const LogPosition& replay = state().replay;  // recovery reads the log from here on
  return info.number < replay.segment || (info.number == replay.segment && replay.offset >= info.sealed_length);
}

std::vector<std::uint64_t> CommitPoint::Unreferenced() const {
  std::vector<std::uint64_t> numbers;
  // Until a segment is sealed, only the first record of the segment after it says where it ends.
  const std::optional<std::uint64_t> unsealed = index().FirstUnsealedLog();
  const std::set<std::uint64_t> all = AllNumbers(state());
  for (const std::uint64_t number : all.empty() ? index().unreferenced() : all) {
    const SegmentInfo& info = state().segments.at(number);
    const bool is_after_unsealed = info.kind == SegmentKind::kLog && unsealed.has_value() && number > *unsealed;
    if (!is_after_unsealed && CanDrop(info)) numbers.push_back(number);
  }
  return numbers;
}

Status CommitPoint::DropUnreferenced() {
  std::vector<std::shared_ptr<Segment>> gone;
  {
    const CommitLock lock(*this);
    Edit edit;
    edit.drop_segments = Unreferenced();
    if (edit.drop_segments.empty()) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(jobs_.Health());  // after a fatal error, the view may lack segments of the state
    const std::shared_ptr<const View> view = view_.Pin();
    std::vector<std::uint64_t> gone_bytes;
    for (const std::uint64_t number : edit.drop_segments) {
      const SegmentInfo& info = state().segments.at(number);
      gone.push_back(view->segments.Find(info.slot));
      assert(gone.back() != nullptr && gone.back()->number() == number);
      gone_bytes.push_back(BytesOf(info));
    }
    DeleteBeforeCommit(db_.fs.get(), gone);
    const Status dropped = Commit(&edit, [&](View* next) {
      for (const auto& segment : gone) next->segments = next->segments.Without(segment->slot());
    });
    if (!dropped.ok()) {
      if (dropped.severity() == Status::Severity::kFatal || !dropped.IsIOError()) return dropped;
      // A later call drops these segments. The caller's own commit, before this one, has succeeded.
      db_.logger->Log(InfoLogLevel::kWarn, "segments without references are kept for now: " + dropped.ToString());
      return Status::OK();
    }
    for (const std::uint64_t number : edit.drop_segments) large_values_.erase(number);
    for (std::size_t i = 0; i < gone.size(); ++i) obsolete_.Leaves(gone[i]->path(), {gone_bytes[i], true});
  }
  for (const auto& segment : gone) {
    punched_.Forget(segment->number());
    segment->MakeObsolete();
    UnlinkWhilePinned(*segment, &obsolete_);
  }
  return Status::OK();
}

Status CommitPoint::RemoveObsolete() {
  Status first;
  std::list<std::string> paths = obsolete_.Take();
  while (!paths.empty()) {
    std::list<std::string> one;
    one.splice(one.begin(), paths, paths.begin());
    const std::string& path = one.front();
    // After a fatal error no file is removed any more: the next Open may need it.
    CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
    const Status removed = db_.fs->Unlink(path);
    const auto file = ParseFileName(std::string_view(path).substr(db_.path.size() + 1));
    if (removed.ok() && file.has_value()) db_.events.Deleted(db_.path, *file);
    if (IsGone(removed)) {
      obsolete_.Gone(path);
      continue;
    }
    obsolete_.PutBack(std::move(one));
    if (first.ok()) first = removed;
  }
  return first;
}

}  // namespace cambium
