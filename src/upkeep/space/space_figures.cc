// The figures of the ceiling: the bytes of the database on disk, and how many of them are garbage. gc/space.h explains
// them.
#include <algorithm>

#include "gc/compaction_room.h"
#include "io/file_block.h"
#include "upkeep/arithmetic.h"
#include "upkeep/hidden_garbage.h"
#include "upkeep/space/space_keeper.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// The bytes of a separated entry in the index, in addition to its key.
constexpr std::uint64_t kIndexBytesOfAddress = 28;

// The references into segments that are not dropped.
Account AccountOf(const FamilySums& sums) {
  return {static_cast<std::int64_t>(sums.references), static_cast<std::int64_t>(sums.bytes)};
}

// Estimates the bytes of the tree that tombstones of runs delete, one key each. The first `merged` of the runs have
// deleted theirs already.
std::uint64_t BytesDeletedByRuns(const LayersShape& shape, double merged) {
  if (shape.run_count == 0 || shape.base_keys == 0) return 0;
  const double waiting = std::max(0.0, 1 - merged / static_cast<double>(shape.run_count));
  const double per_key = static_cast<double>(shape.base_live_bytes) / static_cast<double>(shape.base_keys);
  return Times(shape.run_tombstones, waiting * per_key);
}

// The bytes that the runs of a tree add to it, without what the sweep in progress has merged: `merged` of its runs.
struct AddedByRuns {
  std::uint64_t all = 0;
  std::uint64_t to_sweep = 0;  // by the runs of the sweep in progress; without one, by all runs
};
AddedByRuns BytesAddedByRuns(const Layers& layers, double merged, double replaced_share) {
  const auto& runs = layers.runs();
  const std::uint64_t swept = layers.shape().swept_runs;
  const double waiting = swept == 0 ? 1 : std::max(0.0, 1 - merged / static_cast<double>(swept));
  AddedByRuns added;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_swept = i >= runs.size() - swept;
    const double share = (1 - runs[i]->ReplacedShare(replaced_share)) * (is_swept ? waiting : 1);
    const std::uint64_t bytes = Times(runs[i]->info().disk_bytes(), share);
    added.all += bytes;
    if (is_swept || swept == 0) added.to_sweep += bytes;
  }
  return added;
}

// The average bytes of the log that an entry of the layers refers to; inline values count as 0.
double LogBytesPerEntry(const FamilySums& sums, const LayersShape& shape) {
  if (MutantIs(Mutant::kKeysTellWhatIsHidden)) return BytesPerReference(AccountOf(sums));
  const std::uint64_t entries = Minus(shape.run_keys + shape.base_keys, Tombstones(shape));
  return entries == 0 ? 0 : static_cast<double>(sums.bytes) / static_cast<double>(entries);
}

}  // namespace

SpaceKeeper::TailOfFamily SpaceKeeper::MeasureTables(const FamilyView& view, SpaceFigures* figures) const {
  TailOfFamily tail;
  const std::uint64_t now = head_.logged_bytes();
  std::uint64_t newer_keys = 0;  // each may replace a value of an older memtable
  std::uint64_t newer_ranges = 0;
  // The header and a page of a new tree, or a small run. A flush into an existing tree may take some pages more.
  const ColumnFamilyOptions& its = view.family->options();
  const bool is_new_tree = its.index_type == IndexKind::kBTree && view.layers->shape().base_keys == 0;
  const std::uint64_t bytes_of_least_file = is_new_tree ? 2 * its.page_size : kFileBlock;
  const auto add_table = [&](const LogTable& table) {
    if (!table.started()) return;
    figures->tail_bytes = std::max(figures->tail_bytes, Minus(now, table.log_bytes_before()));
    tail.tables.push_back(&table);
    newer_ranges += table.range_delete_count();
    if (const std::uint64_t count = table.newest_separated_count(); count > newer_keys && newer_ranges == 0) {
      const double bytes_each = static_cast<double>(table.newest_separated_bytes()) / static_cast<double>(count);
      tail.live_bytes += Times(count - newer_keys, bytes_each);
    }
    newer_keys += table.key_count();
    if (!MutantIs(Mutant::kMemtablesTakeNoPages)) figures->tail_index_bytes += bytes_of_least_file;
  };
  if (const LogTable& active = *view.active; active.started()) {
    // A run has only one version of each key.
    const double kept = static_cast<double>(active.key_count()) /
                        static_cast<double>(std::max<std::uint64_t>(active.version_count(), 1));
    figures->active_bytes += Times(active.memory_bytes(), kept);
    ++figures->active_tables;
  }
  add_table(*view.active);
  for (const FrozenTable& frozen : view.frozen) add_table(*frozen.table);
  figures->tail_range_deletes += newer_ranges;
  figures->tail_live_bytes += tail.live_bytes;
  return tail;
}

void SpaceKeeper::MeasureLayers(const FamilyView& view, const FamilySums& sums, const TailOfFamily& tail,
                                SpaceFigures* figures) const {
  Family& family = *view.family;
  const double replaced = family.replaced_share.load(std::memory_order_relaxed);
  const std::uint64_t bytes = sums.bytes;
  const std::uint64_t index_bytes = sums.run_bytes + sums.base_bytes;
  family.index_bytes.store(index_bytes, std::memory_order_relaxed);
  const std::uint64_t address_bytes = sums.references * kIndexBytesOfAddress;
  const LayersShape shape = view.layers->shape();
  const CompactionRoom room = NeedsRoomOfItsOwn(bytes, index_bytes) ? RoomForCompactions(shape) : CompactionRoom();
  family.step_room.store(room.of_step, std::memory_order_relaxed);
  family.waiting_room.store(room.waiting, std::memory_order_relaxed);
  std::uint64_t hidden = AtLeastZero(family.hidden_bytes.load());
  const double merged = family.merged_runs.load(std::memory_order_relaxed);
  const bool is_tree = family.options().index_type == IndexKind::kBTree;
  const AddedByRuns added = is_tree ? BytesAddedByRuns(*view.layers, merged, replaced) : AddedByRuns();
  std::uint64_t live = Minus(shape.base_live_bytes, BytesDeletedByRuns(shape, merged)) + added.all;
  const std::uint64_t covered_index =
      std::min(family.covered_index_bytes.load(std::memory_order_relaxed), Minus(index_bytes, address_bytes));
  if (family.options().index_type == IndexKind::kLsm) {
    // Compactions of an LSM seldom end with one sorted sequence, where the estimates would be exact again. But entries
    // above the last level either add keys or hide old entries, and the flushes show in which proportion. If they only
    // overwrote keys, no more bytes are live than the last level has; if all their keys were new, all bytes are live.
    const LevelShape last = shape.levels.empty() ? LevelShape{} : shape.levels.back();
    hidden = std::max(hidden, Times(Minus(bytes, Times(last.entries, BytesPerReference(AccountOf(sums)))), replaced));
    // A tombstone hides an entry that may take much more space than the tombstone.
    const std::uint64_t in_index =
        std::max({AtLeastZero(family.hidden_index_bytes.load()), Times(Minus(index_bytes, last.file_bytes), replaced),
                  Times(Minus(Tombstones(shape), last.tombstones), FileBytesPerEntry(shape))});
    live = Minus(index_bytes, in_index);
    figures->index_hidden_bytes += std::min(in_index, Minus(index_bytes, address_bytes));
  } else {
    figures->index_swept_bytes += added.to_sweep;
  }
  hidden = HiddenBytes(family, bytes, hidden);
  if (!MutantIs(Mutant::kCoveredIsLive)) {
    hidden = std::min(hidden + family.covered_bytes.load(std::memory_order_relaxed), bytes);
    live = Minus(live, covered_index);
    figures->index_covered_bytes += covered_index;
  }
  figures->hidden_bytes += hidden;
  const std::uint64_t in_layers = bytes - hidden;
  if (!MutantIs(Mutant::kEitherTailOrLayersLive)) figures->tail_new_bytes += Minus(tail.live_bytes, in_layers);
  // A tail hides nothing in the layers of other families.
  figures->tail_hides_bytes += BytesHiddenBy(tail.tables, family, in_layers, LogBytesPerEntry(sums, shape));
  figures->index_bytes += index_bytes;
  figures->index_live_bytes += Minus(live, address_bytes);
  figures->index_address_bytes += std::min(live, address_bytes);
}

SpaceFigures SpaceKeeper::Measure() const {
  SpaceFigures figures;
  if (!db_.fs->FreeSpace(db_.path, &figures.free_bytes).ok()) figures.free_bytes = SpaceControl::kNever;
  const StateIndex& index = commits_.index();
  const ViewLook view(commits_.view());
  const SegmentUseSums uses = segments_.Sums(segments_.Policy());
  figures.log_bytes = Minus(index.sealed_bytes(), uses.holes);
  for (const auto& [number, kind] : index.unsealed()) {
    FileInfo file;
    const std::shared_ptr<Segment>& segment = view->segments.Find(commits_.state().segments.at(number).slot);
    if (segment == nullptr || !segment->file().GetInfo(&file).ok()) continue;
    figures.log_bytes += std::max(file.size, file.allocated_bytes);
  }
  figures.log_bytes = Minus(figures.log_bytes, uses.damaged_garbage);  // not counted: nothing can free this garbage
  figures.garbage_bytes = uses.garbage;
  figures.collectable_bytes = uses.collectable;
  figures.live_footer_bytes = uses.live_overhead;
  // With snapshots, iterators and pinned values we cannot tell who keeps a file.
  const bool has_readers = snapshots_.size() > 0 || iterator_count_.load(std::memory_order_relaxed) > 0 ||
                           (value_pins_.count() > 0 && !MutantIs(Mutant::kCeilingIgnoresPins));
  if (!has_readers) {
    figures.leaving_bytes = commits_.obsolete().leaving_bytes();
    figures.leaving_log_bytes = std::min(figures.leaving_bytes, commits_.obsolete().leaving_log_bytes());
    figures.log_bytes += figures.leaving_bytes;
  }
  figures.log_live_bytes = index.sums().bytes;
  figures.other_bytes = commits_.manifest_bytes() + disk_.reserve_bytes.load(std::memory_order_relaxed);
  for (const FamilyView& family : view->families) {
    if (!commits_.state().families.contains(family.family->id)) continue;
    const TailOfFamily tail = MeasureTables(family, &figures);
    MeasureLayers(family, index.SumsOf(family.family->id), tail, &figures);
  }
  // The bytes in tail_new_bytes are new, and replace no hidden bytes.
  const std::uint64_t replacing =
      MutantIs(Mutant::kNewBytesReplaceHidden) ? figures.tail_bytes : Minus(figures.tail_bytes, figures.tail_new_bytes);
  figures.tail_hides_bytes = Minus(figures.tail_hides_bytes, replacing);
  return figures;
}

}  // namespace cambium
