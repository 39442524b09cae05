#include "state/check_invariants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/merge_cursor.h"
#include "manifest/file_names.h"

namespace cambium {
namespace {

Status Violated(const std::string& what) { return Status::Corruption("invariant violated: " + what); }

Status CheckRuns(const FamilyView& view, const FamilyState& stored) {
  const auto& runs = view.layers->runs();
  const bool are_equal = std::ranges::equal(runs, stored.runs, [](const auto& run, const RunInfo& info) {
    return run->number() == info.number;
  });
  if (!are_equal) return Violated("the view has other runs of family " + view.family->name + " than the MANIFEST");
  if (view.family->run_count.load() != runs.size()) return Violated("run_count of family " + view.family->name);
  return Status::OK();
}

Status CheckTables(const FamilyView& view, const LogPlace& end) {
  const std::string& name = view.family->name;
  if (static_cast<std::size_t>(view.family->frozen_count.load()) != view.frozen.size()) {
    return Violated("frozen_count of family " + name);
  }
  if (view.active->started() && view.active->begin().position > end.position) {
    return Violated("the active memtable of family " + name + " begins after the end of the log");
  }
  LogPlace newer = end;  // the end of the next newer memtable
  if (!view.frozen.empty() && view.active->started() && view.active->begin().position < view.frozen.front().end.position) {
    return Violated("the active memtable of family " + name + " begins before a frozen one ends");
  }
  for (const FrozenTable& frozen : view.frozen) {
    if (frozen.end.sequence > newer.sequence || frozen.end.position > newer.position) {
      return Violated("frozen memtables of family " + name + " are not in the order of the log");
    }
    newer = frozen.end;
  }
  return Status::OK();
}

Status CheckFamilies(const View& view, const ManifestState& state, const LogPlace& end) {
  if (view.families.size() != state.families.size()) return Violated("a view has other families than the MANIFEST");
  for (const FamilyView& each : view.families) {
    const auto stored = state.families.find(each.family->id);
    if (stored == state.families.end()) return Violated("family " + each.family->name + " is not in the MANIFEST");
    if (stored->second.flushed_sequence > end.sequence) return Violated("more is flushed than was published");
    CAMBIUM_RETURN_IF_ERROR(CheckRuns(each, stored->second));
    CAMBIUM_RETURN_IF_ERROR(CheckTables(each, end));
  }
  return Status::OK();
}

Status CheckSegments(const View& view, const ManifestState& state) {
  std::size_t count = 0;
  view.segments.ForEach([&count](const auto&) { ++count; });
  if (count != state.segments.size()) {
    return Violated("the view has " + std::to_string(count) + " segments, and the MANIFEST " +
                    std::to_string(state.segments.size()));
  }
  for (const auto& [number, info] : state.segments) {
    const std::shared_ptr<Segment>& segment = view.segments.Find(info.slot);
    if (segment == nullptr || segment->number() != number) {
      return Violated("segment " + std::to_string(number) + " is not at its slot");
    }
    if (segment->is_obsolete()) return Violated("segment " + std::to_string(number) + " is obsolete");
  }
  return Status::OK();
}

Status CheckLog(const WriteHead& head, const View& view, const ManifestState& state) CAMBIUM_REQUIRES(append_lock) {
  const LogPlace end = head.end();
  const CommitLog& log = *head.log();
  if (log.durable_sequence() > end.sequence) return Violated("more is durable than was published");
  const CommitLog::Position tail = log.tail();
  if (tail.segment == end.position.segment && tail.offset != end.position.offset) {
    return Violated("the end of the log is not where the next record goes");
  }
  if (state.replay > WriteHead::OldestUnflushed(view, {}, end).position) {
    return Violated("the replay position is after an operation that is only in a memtable");
  }
  return Status::OK();
}

// The numbers of all files that the state names, without the MANIFEST's own.
std::set<std::uint64_t> NamedFiles(const ManifestState& state) {
  std::set<std::uint64_t> numbers;
  for (const auto& [number, info] : state.segments) numbers.insert(number);
  for (const auto& [id, family] : state.families) {
    for (const RunInfo& run : family.runs) numbers.insert(run.number);
    for (const auto& [number, run] : family.level_runs) numbers.insert(number);
    for (const auto& [number, segment] : family.index_segments) numbers.insert(number);
  }
  return numbers;
}

Status CheckObsolete(const ObsoleteFiles& obsolete, const ManifestState& state) {
  if (!obsolete.AddsUp()) return Violated("the bytes of files that are leaving do not add up");
  const std::set<std::uint64_t> named = NamedFiles(state);
  for (const std::uint64_t number : named) {
    if (obsolete.IsObsolete(number)) return Violated("file " + std::to_string(number) + " is named and obsolete");
  }
  for (const std::string& path : obsolete.ready()) {
    const std::optional<NumberedFile> file = ParseFileName(std::string_view(path).substr(path.rfind('/') + 1));
    if (file.has_value() && named.contains(file->number)) return Violated(path + " is named, and is to be removed");
  }
  return Status::OK();
}

// The references of all layers, without those that a sweep in progress has moved into the tree.
Status CountReferences(const Layers& layers, Accounts* accounts) {
  std::vector<MergeChild> children;
  layers.AppendCursors(&children);
  AccountDelta counted;
  for (MergeChild& child : children) {
    EntryCursor& cursor = *child.cursor;
    child.first_visible.has_value() ? cursor.Seek(*child.first_visible) : cursor.SeekToFirst();
    for (; cursor.Valid(); cursor.Next()) counted.Add(cursor.entry());
    CAMBIUM_RETURN_IF_ERROR(cursor.status());
  }
  for (const auto& [slot, account] : counted.by_slot()) {
    if (account != Account{}) accounts->Set({slot, account});
  }
  return Status::OK();
}

std::string Show(const Accounts& accounts) {
  std::string text;
  for (const auto& [slot, account] : accounts) {
    text += " " + std::to_string(static_cast<std::uint32_t>(slot)) + ":" + std::to_string(account.references) + "/" +
            std::to_string(account.bytes);
  }
  return text;
}

}  // namespace

Status CheckAccounts(const DbState& state) {
  if (state.head.log() == nullptr) return Status::OK();  // open for reading, or closed
  const AppendLock append(state.head);
  const CommitLock commit(state.commits);
  const std::shared_ptr<const View> view = state.commits.view().Pin();
  for (const FamilyView& each : view->families) {
    const auto stored = state.commits.state().families.find(each.family->id);
    if (stored == state.commits.state().families.end()) continue;
    Accounts counted;
    CAMBIUM_RETURN_IF_ERROR(CountReferences(*each.layers, &counted));
    if (counted == stored->second.accounts) continue;
    return Violated("the layers of family " + each.family->name + " have the references" + Show(counted) +
                    ", and its accounts say" + Show(stored->second.accounts));
  }
  return Status::OK();
}

Status CheckInvariants(const DbState& state) {
  if (state.head.log() == nullptr) return Status::OK();  // open for reading, or closed
  const AppendLock append(state.head);
  const CommitLock commit(state.commits);
  const std::shared_ptr<const View> view = state.commits.view().Pin();
  const ManifestState& committed = state.commits.state();
  CAMBIUM_RETURN_IF_ERROR(committed.Check());
  if (state.commits.index() != StateIndex(committed)) return Violated("the index of the state differs from the state");
  CAMBIUM_RETURN_IF_ERROR(CheckFamilies(*view, committed, state.head.end()));
  CAMBIUM_RETURN_IF_ERROR(CheckSegments(*view, committed));
  CAMBIUM_RETURN_IF_ERROR(CheckLog(state.head, *view, committed));
  CAMBIUM_RETURN_IF_ERROR(CheckObsolete(state.commits.obsolete(), committed));
  for (const auto& snapshot : state.snapshots.All()) {
    if (snapshot->GetSequenceNumber() > state.head.published()) return Violated("a snapshot of the future");
  }
  return Status::OK();
}

}  // namespace cambium
