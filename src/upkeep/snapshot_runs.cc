#include "upkeep/snapshot_runs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "index/run.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

namespace {

// The memtables of `view` that `current` no longer has, oldest first. `current` is null if the family was dropped.
// Flushes commit in order, so these are the oldest ones of `view`.
std::vector<std::shared_ptr<const LogTable>> OnlyIn(const FamilyView& view, const FamilyView* current) {
  const auto is_current = [&](const LogTable* table) {
    return current != nullptr &&
           (table == current->active.get() ||
            std::any_of(current->frozen.begin(), current->frozen.end(),
                        [&](const FrozenTable& frozen) { return frozen.table.get() == table; }));
  };
  std::vector<std::shared_ptr<const LogTable>> tables;
  for (auto frozen = view.frozen.rbegin(); frozen != view.frozen.rend(); ++frozen) {
    if (!is_current(frozen->table.get())) tables.push_back(frozen->table);
  }
  if (!is_current(view.active.get()) && !view.active->empty()) tables.push_back(view.active);
  return tables;
}

// Only in a mutant: pins the view before the snapshots are listed. Null if it does nothing.
std::shared_ptr<const View> PinBeforeSnapshots(const CommitPoint& commits) {
  return MutantIs(Mutant::kSnapshotsListedAfterView) ? commits.view().Pin() : nullptr;
}

}  // namespace

Status SnapshotRuns::BoundPinnedMemory() {
  // Lists the snapshots first and pins the view afterwards. So if a snapshot holds a memtable that the view does not
  // have, that memtable has been flushed, or its family was dropped. A snapshot that is listed after the pin might have
  // memtables that are newer than the view.
  std::shared_ptr<const View> current = PinBeforeSnapshots(commits_);
  CAMBIUM_FAULT_POINT("Snapshots:listed");
  const std::vector<std::shared_ptr<SnapshotImpl>> snapshots = snapshots_.All();
  if (current == nullptr) current = commits_.view().Pin();
  std::set<const LogTable*> pinned;
  std::size_t bytes = 0;
  std::size_t budget = 0;
  for (const FamilyView& family : current->families) {
    const ColumnFamilyOptions& options = family.family->options();
    budget = std::max(budget, options.write_buffer_size * static_cast<std::size_t>(options.max_write_buffer_number));
  }
  std::shared_ptr<const View> looked_at;  // snapshots between two changes of the view have the same one
  for (const auto& snapshot : snapshots) {
    const std::shared_ptr<const View> view = snapshot->view();
    if (std::exchange(looked_at, view) == view) continue;
    for (const FamilyView& family : view->families) {
      for (const auto& table : OnlyIn(family, current->Find(family.family->id))) {
        if (pinned.insert(table.get()).second) bytes += table->memory_bytes();
      }
    }
  }
  if (bytes <= budget || MutantIs(Mutant::kSnapshotsPinTables)) return Status::OK();
  for (const auto& snapshot : snapshots) CAMBIUM_RETURN_IF_ERROR(MovePinnedToRuns(snapshot.get(), *current));
  return Status::OK();
}

Status SnapshotRuns::MovePinnedToRuns(SnapshotImpl* snapshot, const View& current) {
  const std::shared_ptr<const View> before = snapshot->view();
  auto after = std::make_shared<View>(*before);
  bool changed = false;
  for (const FamilyView& pinning : before->families) {
    const std::uint32_t id = pinning.family->id;
    const ColumnFamilyOptions& its = pinning.family->options();
    const auto tables = OnlyIn(pinning, current.Find(id));
    if (tables.empty()) continue;
    FamilyView& family = *after->Mutable(id);
    for (const auto& table : tables) {
      const std::unique_ptr<EntryCursor> cursor = table->NewCursor(snapshot->GetSequenceNumber());
      std::shared_ptr<const RangeDeletes> ranges = table->RangesAt(snapshot->GetSequenceNumber());
      cursor->SeekToFirst();
      do {
        CAMBIUM_TRY(std::shared_ptr<const Run> run,
                    runs_.Make(*family.family, cursor.get(), ranges.get(), nullptr, 0));
        family.layers = family.layers->WithNewestRun(std::move(run));
        ranges = nullptr;  // only the first, lowest run has them: they hide entries that are older than the memtable
      } while (cursor->Valid());
      std::erase_if(family.frozen, [&](const FrozenTable& frozen) { return frozen.table == table; });
      if (family.active == table) family.active = std::make_shared<LogTable>(its.comparator);
      changed = true;
    }
  }
  if (changed) snapshot->set_view(std::move(after));
  return Status::OK();
}

std::size_t SnapshotRuns::AllTableBytes(std::uint32_t id) const {
  std::set<std::shared_ptr<const LogTable>> tables;
  const auto collect = [&](const View& view) {
    const FamilyView* const family = view.Find(id);
    if (family == nullptr) return;
    tables.insert(family->active);
    for (const FrozenTable& frozen : family->frozen) tables.insert(frozen.table);
  };
  collect(*commits_.view().Pin());
  std::shared_ptr<const View> collected;
  for (const auto& snapshot : snapshots_.All()) {
    const std::shared_ptr<const View> view = snapshot->view();
    if (std::exchange(collected, view) != view) collect(*view);
  }
  std::size_t bytes = 0;
  for (const auto& table : tables) bytes += table->memory_bytes();
  return bytes;
}

}  // namespace cambium
