#include "upkeep/flush/snapshot_runs.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <utility>

#include "memtable/version_list.h"
#include "memtable/write_budget.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

namespace {

constexpr std::size_t kRunsPerDigit = 16;
// With more snapshots, the versions of a memtable are sorted by sequence number.
constexpr std::size_t kWalksMax = 16;

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

// The n-th snapshot of a memtable reads the n-th run, and all runs that snapshot BaseOf(n) reads; if BaseOf(n) is 0, no
// others. To get BaseOf(n), write n in digits of radix kRunsPerDigit, and subtract 1 from the last digit that is not 0.
std::size_t BaseOf(std::size_t n) {
  assert(n > 0);
  if (MutantIs(Mutant::kSnapshotsShareNoRuns)) return 0;
  std::size_t power = 1;
  while (n % (power * kRunsPerDigit) == 0) power *= kRunsPerDigit;
  return n - power;
}

// Only in a mutant: pins the view before the snapshots are listed. Null if it does nothing.
std::shared_ptr<const View> PinBeforeSnapshots(const CommitPoint& commits) {
  return MutantIs(Mutant::kSnapshotsListedAfterView) ? commits.view().Pin() : nullptr;
}

}  // namespace

std::size_t SnapshotRuns::Budget() const {
  std::size_t budget = 0;
  {
    const ViewLook view(commits_.view());
    for (const FamilyView& family : view->families) {
      const ColumnFamilyOptions& options = family.family->options();
      budget = std::max(budget, options.write_buffer_size * static_cast<std::size_t>(options.max_write_buffer_number));
    }
  }
  // Half of a WriteBudget at most, so that memtables have the rest.
  if (HasLimit()) budget = std::min(budget, db_.budget->SnapshotBytesMax());
  return budget;
}

bool SnapshotRuns::HasLimit() const { return db_.budget != nullptr && db_.budget->limit() > 0; }

// Flushes of several families may call this at the same time.
bool SnapshotRuns::IsLookDue(std::size_t budget) {
  const std::size_t held = db_.reader_tables->load(std::memory_order_relaxed);
  if (MutantIs(Mutant::kEachFlushListsSnapshots)) return true;
  std::size_t left = left_.load(std::memory_order_relaxed);
  while (held < left && !left_.compare_exchange_weak(left, held, std::memory_order_relaxed)) {
  }
  left = std::min(left, held);
  if (held - left > budget) return true;
  if (held <= budget || MutantIs(Mutant::kLooksOnlyForMoreTables)) return false;
  // Fewer snapshots may leave memtables that are worth moving, and a limit may be newer than the last look.
  return HasLimit() || snapshots_.size() <= listed_.load(std::memory_order_relaxed) / 2;
}

// Under a limit, writes would wait for the memory of the memtable.
bool SnapshotRuns::IsWorthMoving(const Pinned& pinned) const {
  return pinned.table->counted_bytes() / pinned.holders.size() >= bytes_per_snapshot_least || HasLimit() ||
         MutantIs(Mutant::kDenseSnapshotsGetRuns);
}

// A dense memtable is one that is not worth moving; it stays. A memtable moves only for snapshots in whose views it is
// the oldest one. So it also stays if each of its snapshots has an older, dense memtable.
std::size_t SnapshotRuns::DecideWhatStays(PinnedTables* pinned) const {
  std::map<std::uint32_t, SequenceNumber> dense_until;  // by family: snapshots before this may have a dense memtable
  std::size_t bytes = 0;
  for (auto& [place, its] : *pinned) {
    SequenceNumber& until = dense_until[place.first];
    const bool is_dense = !IsWorthMoving(its);
    const bool is_shared = its.holders.front()->GetSequenceNumber() < until;
    const SequenceNumber last = its.holders.back()->GetSequenceNumber();
    its.stays = is_dense || last < until;
    if (!its.stays && !is_shared) bytes += its.table->counted_bytes();
    if (!its.stays) std::erase_if(its.holders, [&](auto* holder) { return holder->GetSequenceNumber() < until; });
    if (is_dense || (is_shared && MutantIs(Mutant::kDenseTablesHoldAllLater))) until = last + 1;
  }
  return bytes;
}

Status SnapshotRuns::BoundPinnedMemory() {
  const std::size_t budget = Budget();
  if (!IsLookDue(budget)) return Status::OK();
  // Lists the snapshots first and pins the view afterwards. So if a snapshot holds a memtable that the view does not
  // have, that memtable has been flushed, or its family was dropped. A snapshot that is listed after the pin might have
  // memtables that are newer than the view.
  std::shared_ptr<const View> current = PinBeforeSnapshots(commits_);
  CAMBIUM_FAULT_POINT("Snapshots:listed");
  const std::size_t held_by_readers = db_.reader_tables->load(std::memory_order_relaxed);  // rather too few than too many
  const std::vector<std::shared_ptr<SnapshotImpl>> snapshots = snapshots_.All();
  if (current == nullptr) current = commits_.view().Pin();
  PinnedTables pinned;
  std::map<std::uint32_t, std::shared_ptr<Family>> families;
  std::shared_ptr<const View> looked_at;  // snapshots between two changes of the view have the same one
  std::vector<Pinned*> held;              // by looked_at
  for (const auto& snapshot : snapshots) {
    if (const std::shared_ptr<const View> view = snapshot->view(); view != looked_at) {
      looked_at = view;
      held.clear();
      for (const FamilyView& family : view->families) {
        const std::uint32_t id = family.family->id;
        for (const auto& table : OnlyIn(family, current->Find(id))) {
          Pinned& its = pinned[{id, table->begin().sequence}];
          its.table = table;
          held.push_back(&its);
          families[id] = family.family;
        }
      }
    }
    for (Pinned* const its : held) its->holders.push_back(snapshot.get());
  }
  const std::size_t bytes = DecideWhatStays(&pinned);
  listed_.store(snapshots_.size(), std::memory_order_relaxed);
  left_.store(held_by_readers - std::min(bytes, held_by_readers), std::memory_order_relaxed);
  if (bytes <= budget || MutantIs(Mutant::kSnapshotsPinTables)) return Status::OK();
  for (auto& [place, its] : pinned) {
    if (its.stays) continue;
    CAMBIUM_RETURN_IF_ERROR(MoveToRuns(*families[place.first], std::exchange(its, {})));
  }
  return Status::OK();
}

// The memtables of a family are moved oldest first, so each is then the oldest memtable of its views, and its runs
// belong directly above the layers.
Status SnapshotRuns::MoveToRuns(const Family& family, const Pinned& pinned) {
  TableFiles files = runs_.FilesOf(family, TableFileCreationReason::kSnapshot, 0);
  const Result<std::vector<Runs>> runs = WriteRuns(family, pinned, &files);
  files.Done(runs.status());
  CAMBIUM_RETURN_IF_ERROR(runs.status());
  assert(runs->size() == pinned.holders.size());
  for (std::size_t i = 0; i < pinned.holders.size(); ++i) {
    auto after = std::make_shared<View>(*pinned.holders[i]->view());
    FamilyView& changed = *after->Mutable(family.id);
    // Another family's flush may do the same at the same time. Every such change yields a view with the same contents,
    // so their order does not matter.
    const LogTable* const oldest = changed.frozen.empty() ? changed.active.get() : changed.frozen.back().table.get();
    if (oldest != pinned.table.get() && !MutantIs(Mutant::kSnapshotsListedAfterView)) continue;
    for (const std::shared_ptr<const Run>& run : (*runs)[i]) changed.layers = changed.layers->WithNewestRun(run);
    std::erase_if(changed.frozen, [&](const FrozenTable& frozen) { return frozen.table == pinned.table; });
    if (changed.active == pinned.table) changed.active = std::make_shared<LogTable>(family.options().comparator);
    pinned.holders[i]->set_view(std::move(after));
  }
  return Status::OK();
}

Result<std::vector<SnapshotRuns::Runs>> SnapshotRuns::WriteRuns(const Family& family, const Pinned& pinned,
                                                                TableFiles* files) {
  const LogTable& table = *pinned.table;
  std::optional<VersionList> versions;  // few walks over the memtable are faster than sorting its versions
  if (pinned.holders.size() > kWalksMax && !MutantIs(Mutant::kSnapshotRunsWalkTables)) versions.emplace(&table);
  const HasVersions has = family.KeepsVersions() ? HasVersions::kYes : HasVersions::kNo;
  std::unique_ptr<PrivateRunsBuilder> file;
  std::vector<Runs> runs(pinned.holders.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t base = BaseOf(i + 1);  // counted from 1; 0: none
    assert(base <= i && "a snapshot reads the runs of earlier ones");
    if (base > 0) runs[i] = runs[base - 1];
    const SequenceNumber after = base > 0 ? pinned.holders[base - 1]->GetSequenceNumber() : 0;
    const SequenceNumber snapshot = pinned.holders[i]->GetSequenceNumber();
    assert(after <= snapshot);
    if (!versions) CAMBIUM_FAULT_POINT("SnapshotRuns:walk");
    const auto cursor = versions ? versions->NewCursor(snapshot, after, has) : table.NewCursor(snapshot, after, has);
    cursor->SeekToFirst();
    CAMBIUM_RETURN_IF_ERROR(WriteRun(family, cursor.get(), table.RangesAt(snapshot, after), &file, files, &runs[i]));
  }
  if (file != nullptr) CAMBIUM_RETURN_IF_ERROR(runs_.EndPrivate(file.get()));
  return runs;
}

Status SnapshotRuns::WriteRun(const Family& family, EntryCursor* cursor, std::shared_ptr<const RangeDeletes> ranges,
                              std::unique_ptr<PrivateRunsBuilder>* file, TableFiles* files, Runs* runs) {
  while (cursor->Valid() || ranges != nullptr) {
    if (*file != nullptr && (*file)->IsFull()) {
      CAMBIUM_RETURN_IF_ERROR(runs_.EndPrivate(file->get()));
      file->reset();
    }
    if (*file == nullptr) {
      CAMBIUM_TRY(*file, runs_.BeginPrivate(family, files));
    }
    // Only the first, lowest run has the ranges: they hide entries that are older than all of these.
    CAMBIUM_TRY(std::shared_ptr<const Run> run, (*file)->Add(cursor, std::exchange(ranges, nullptr)));
    runs->push_back(std::move(run));
  }
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
