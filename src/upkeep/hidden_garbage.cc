#include "upkeep/hidden_garbage.h"

#include <algorithm>
#include <cassert>

#include "upkeep/arithmetic.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kShareKeysLeast = 32;

// True if entries of many flushes are above the last sorted sequence. A sweep merges all runs of a tree, so the last
// flush is like the others.
bool HoldsForLong(const Family& family) {
  return family.options().index_type == IndexKind::kLsm && !MutantIs(Mutant::kLastFlushTellsTheShare);
}

}  // namespace

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

void NoteHidden(Family* family, const KeySample& sample, bool has_stretches, const Layers& below) {
  const KeySample::Replaced replaced = sample.ReplacedIn(below);
  // The few keys that the flush of a queue writes say nothing about the keys of other flushes.
  if (!has_stretches || sample.passed() >= kShareKeysLeast) {
    const auto above = static_cast<double>(HoldsForLong(*family) ? KeysAboveLast(below.shape()) : 0);
    const auto added = static_cast<double>(std::max<std::uint64_t>(sample.passed(), 1));
    const double share = family->replaced_share.load(std::memory_order_relaxed);
    family->replaced_share.store((share * above + replaced.share * added) / (above + added), std::memory_order_relaxed);
  }
  family->hidden_bytes.fetch_add(static_cast<std::int64_t>(replaced.bytes), std::memory_order_relaxed);
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
