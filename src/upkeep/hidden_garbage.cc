#include "upkeep/hidden_garbage.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "index/merge_cursor.h"
#include "index/passing_reads.h"
#include "options/options_check.h"
#include "upkeep/arithmetic.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kShareKeysLeast = 32;

// True if entries of many flushes are above the last sorted sequence, and what each flush replaced is not known. In a
// tree, each run has that figure (Run::ReplacedShare).
bool HoldsForLong(const Family& family) {
  return family.options().index_type == IndexKind::kLsm && !MutantIs(Mutant::kLastFlushTellsTheShare);
}

// The error of an estimate from the sample, for all values, is less than this number of standard deviations.
constexpr std::uint64_t kDeviations = 3;

// The sample represents about bytes() bytes. If it is whole, these are all live bytes, so an estimate for a part of
// them is corrected by the same factor. In an LSM, such errors would otherwise add up.
double ScaleOf(const LiveSample& sample, std::uint64_t live) {
  if (!sample.is_whole() || sample.bytes() == 0) return 1;
  const auto all = static_cast<double>(sample.bytes());
  const double error = std::min(1.0, static_cast<double>(kDeviations * sample.Deviation()) / all);
  return std::clamp(static_cast<double>(live) / all, 1 - error, 1 + error);
}

// The fraction of the live bytes that the sample does not represent.
double UnknownPart(const LiveSample& sample, std::uint64_t live) {
  if (sample.is_whole() || live == 0) return 0;
  const std::uint64_t known = sample.bytes() + kDeviations * sample.Deviation();
  return static_cast<double>(Minus(live, known)) / static_cast<double>(live);
}

}  // namespace

bool IsSampled(const Family& family) {
  return family.equal_by == nullptr && !HasFilter(family.options()) && !MutantIs(Mutant::kKeysTellWhatIsHidden);
}

void SampleLayers(Family* family, const Layers& layers, std::uint64_t grain) {
  LiveSample& sample = family->live_sample;
  sample.Clear();
  if (!IsSampled(*family)) return sample.MarkPartial();
  const PassingReads passing(true);  // Open reads these pages once: they do not fill the cache
  std::vector<MergeChild> children;
  layers.AppendCursors(&children);
  MergeCursor cursor(family->options().comparator, std::move(children));
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    if (const Entry entry = cursor.entry(); entry.HasAddress()) sample.Note(cursor.key(), entry, grain);
  }
  if (!cursor.status().ok()) sample.MarkPartial();  // a read that needs the damaged page reports it
}

bool NoteReplaced(Family* family, const MemTable& table, LiveSample::Newest newest, std::uint64_t below, bool is_run,
                   const RangeDeletes* ranges) {
  LiveSample& sample = family->live_sample;
  if (!IsSampled(*family)) {
    sample.Clear();
    sample.MarkPartial();
    return false;
  }
  const bool is_known = sample.is_whole();
  const std::uint64_t live = Minus(below, AtLeastZero(family->hidden_bytes.load(std::memory_order_relaxed)) +
                                              family->covered_bytes.load(std::memory_order_relaxed));
  const double scale = ScaleOf(sample, live);
  const std::uint64_t replaced = Times(sample.Replace(table, ranges, std::move(newest)), scale);
  if (is_run && !MutantIs(Mutant::kHiddenIgnoresValueSizes)) {
    family->hidden_bytes.fetch_add(static_cast<std::int64_t>(replaced), std::memory_order_relaxed);
  }
  return is_known;
}

void NoteMoved(Family* family, std::span<const MovedValue> values, std::uint64_t grain) noexcept {
  if (!IsSampled(*family)) return;
  try {
    for (const MovedValue& value : values) family->live_sample.Note(value.key, value.to, grain);
  } catch (...) {
    family->live_sample.Clear();
    family->live_sample.MarkPartial();
  }
}

std::uint64_t HiddenBytes(const Family& family, std::uint64_t bytes, std::uint64_t counted) {
  const LiveSample& sample = family.live_sample;
  if (!IsSampled(family) || MutantIs(Mutant::kHiddenIgnoresValueSizes)) return std::min(counted, bytes);
  const std::uint64_t hidden = Minus(bytes, sample.bytes() + family.covered_bytes.load(std::memory_order_relaxed));
  const std::uint64_t error = kDeviations * sample.Deviation();
  // At most the bytes outside the sample are hidden; if the sample is whole, all of them.
  const std::uint64_t least = sample.is_whole() ? Minus(hidden, error) : 0;
  return std::min(std::clamp(counted, least, hidden + error), bytes);
}

std::uint64_t BytesHiddenBy(std::span<const MemTable* const> tables, const Family& family, std::uint64_t live,
                            double per_key) {
  std::uint64_t keys = 0;
  for (const MemTable* const table : tables) keys += table->key_count();
  const LiveSample& sample = family.live_sample;
  const double unknown = UnknownPart(sample, live);
  const std::uint64_t hidden = Times(sample.BytesIn(tables), ScaleOf(sample, live)) + Times(keys, unknown * per_key);
  return std::min(hidden, live);
}

std::uint64_t FileBytes(const LayersShape& shape) { return shape.run_file_bytes + shape.base_file_bytes; }

std::uint64_t Tombstones(const LayersShape& shape) {
  std::uint64_t count = shape.run_tombstones;
  for (const LevelShape& level : shape.levels) count += level.tombstones;
  return count;
}

double FileBytesPerEntry(const LayersShape& shape) {
  const std::uint64_t entries = Minus(shape.run_keys + shape.base_keys, Tombstones(shape));
  return entries == 0 ? 0 : static_cast<double>(FileBytes(shape)) / static_cast<double>(entries);
}

double BytesPerReference(const Account& all) {
  return all.references == 0 ? 0 : static_cast<double>(all.bytes) / static_cast<double>(all.references);
}

std::uint64_t KeysAboveLast(const LayersShape& shape) {
  std::uint64_t keys = shape.run_keys;
  for (std::size_t i = 0; i + 1 < shape.levels.size(); ++i) keys += shape.levels[i].entries;
  return keys;
}

void NoteHidden(Family* family, const FlushedRuns& flushed, const Layers& below, bool is_known) {
  const KeySample& sample = flushed.sample;
  const KeySample::Replaced replaced = sample.ReplacedIn(below);
  // Dead stretches become range deletes, whose keys are not in the sample (dead_stretches.h). The few other keys that
  // the flush of a queue writes say nothing about the keys of other flushes.
  if (!flushed.has_stretches || sample.passed() >= kShareKeysLeast) {
    if (!MutantIs(Mutant::kRunsAreLikeTheLast)) {
      for (const std::shared_ptr<const Run>& run : flushed.runs) run->NoteReplacedShare(replaced.share);
    }
    const auto above = static_cast<double>(HoldsForLong(*family) ? KeysAboveLast(below.shape()) : 0);
    const auto added = static_cast<double>(std::max<std::uint64_t>(sample.passed(), 1));
    const double share = family->replaced_share.load(std::memory_order_relaxed);
    family->replaced_share.store((share * above + replaced.share * added) / (above + added), std::memory_order_relaxed);
  }
  if (!is_known) {
    family->hidden_bytes.fetch_add(static_cast<std::int64_t>(replaced.bytes), std::memory_order_relaxed);
  }
  family->hidden_index_bytes.fetch_add(
      static_cast<std::int64_t>(Times(replaced.keys, FileBytesPerEntry(below.shape()))), std::memory_order_relaxed);
}

void NoteCovered(Family* family, const Layers& now) {
  const Result<TreePart> covered = now.CoveredByRanges();
  if (!covered.ok()) return;
  family->covered_bytes.store(Minus(covered->Bytes(), covered->page_bytes), std::memory_order_relaxed);
  family->covered_index_bytes.store(covered->page_bytes, std::memory_order_relaxed);
}

// If one sorted sequence is left, nothing is hidden.
void NoteCompacted(Family* family, const Layers& before, const Layers& now, std::int64_t uncharged) {
  assert(uncharged >= 0);
  NoteCovered(family, now);
  const LayersShape& shape = now.shape();
  const bool is_one_sequence =
      shape.run_count == 0 && (shape.levels.empty() || (shape.levels.size() == 1 && shape.levels[0].tier_count == 1));
  if (is_one_sequence) {
    family->hidden_bytes.store(0, std::memory_order_relaxed);
    family->hidden_index_bytes.store(0, std::memory_order_relaxed);
  } else {
    family->hidden_bytes.fetch_sub(uncharged, std::memory_order_relaxed);
    // An upper bound of the hidden bytes that were removed: files also become smaller because pages become fuller.
    const auto smaller = static_cast<std::int64_t>(Minus(FileBytes(before.shape()), FileBytes(shape)));
    std::int64_t hidden = family->hidden_index_bytes.load(std::memory_order_relaxed);
    while (!family->hidden_index_bytes.compare_exchange_weak(hidden, std::max<std::int64_t>(hidden - smaller, 0))) {
    }
  }
}

std::int64_t UnchargedBy(const AccountDelta& accounts, const ManifestState& state) {
  std::int64_t bytes = 0;
  for (const auto& [slot, account] : accounts.by_slot()) {
    if (account.bytes < 0 && !state.shadowed_slots.contains(slot)) bytes -= account.bytes;
  }
  return bytes;
}

}  // namespace cambium
