#include "lsm_fallback/lsm_layers.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <utility>

#include "index/covered_part.h"
#include "index/filter.h"
#include "index/merge_cursor.h"
#include "index/tree_cursor.h"
#include "lsm_fallback/tier_cursor.h"
#include "util/mutant.h"

namespace cambium {
namespace {

FoundIn PlaceOf(const Tier& tier) { return tier.level() == 1 ? FoundIn::kLevel1 : FoundIn::kDeeperLevel; }

// The order of tiers in layers; no two tiers have the same place.
[[maybe_unused]] bool IsNewer(const std::shared_ptr<const Tier>& a, const std::shared_ptr<const Tier>& b) {
  return a->level() != b->level() ? a->level() < b->level() : a->number() > b->number();
}

}  // namespace

LsmLayers::LsmLayers(Parts parts) : parts_(std::move(parts)), order_(parts_.comparator) {
  assert(std::ranges::adjacent_find(parts_.tiers, std::not_fn(IsNewer)) == parts_.tiers.end());
}

Result<std::shared_ptr<const LsmLayers>> LsmLayers::Open(const FamilyState& state, const Comparator* comparator,
                                                         PagePool* pool, const OpenIndexFile& open_file) {
  Parts parts;
  parts.comparator = comparator;
  parts.pool = pool;
  const auto open_run = [&](const RunInfo& info) -> Result<std::shared_ptr<const Run>> {
    CAMBIUM_TRY(std::shared_ptr<File> file, open_file(FileKind::kRun, info.number));
    return Run::Open(std::move(file), info, comparator, pool);
  };
  for (const RunInfo& info : state.runs) {
    CAMBIUM_TRY(std::shared_ptr<const Run> run, open_run(info));
    CAMBIUM_RETURN_IF_ERROR(CheckSpan(comparator, *run));
    parts.runs.push_back(std::move(run));
  }
  struct NewestFirst {
    bool operator()(const std::pair<std::uint32_t, std::uint64_t>& a,
                    const std::pair<std::uint32_t, std::uint64_t>& b) const {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    }
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, RunList, NewestFirst> tiers;
  for (const auto& [number, placed] : state.level_runs) {
    CAMBIUM_TRY(std::shared_ptr<const Run> run, open_run(placed.info));
    tiers[{placed.level, placed.tier}].push_back(std::move(run));
  }
  for (auto& [place, runs] : tiers) {
    CAMBIUM_TRY(std::shared_ptr<const Tier> tier, Tier::Make(comparator, place.first, place.second, std::move(runs)));
    parts.tiers.push_back(std::move(tier));
  }
  return std::make_shared<const LsmLayers>(std::move(parts));
}

// Hashes the key once for all filters. Without filters the hash is unused, but costs little.
Result<bool> LsmLayers::Find(Slice key, PageRef* keep, Entry* entry, FoundIn* where) const {
  const std::uint64_t filter_hash = FilterHash(key);
  if (MutantIs(Mutant::kLevelsBeforeRuns)) return FindOldestFirst(key, filter_hash, keep, entry, where);
  CAMBIUM_TRY(const bool found, FindInRuns(key, filter_hash, keep, entry, where));
  return found ? Result<bool>(true) : FindInTiers(key, filter_hash, keep, entry, where);
}

Result<bool> LsmLayers::FindOldestFirst(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry,
                                        FoundIn* where) const {
  CAMBIUM_TRY(const bool found, FindInTiers(key, filter_hash, keep, entry, where));
  return found ? Result<bool>(true) : FindInRuns(key, filter_hash, keep, entry, where);
}

void LsmLayers::FindTogether(std::span<Lookup> lookups) const {
  for (const auto& run : parts_.runs) {
    const OpenLookups open = OpenOf(lookups);
    run->FindTogether(open);
    NoteFound(open, FoundIn::kRun);
  }
  for (const auto& tier : parts_.tiers) {
    // Adjacent lookups in the same file are run together. If the keys are in order, that groups all of them.
    const OpenLookups open = OpenOf(lookups);
    for (std::size_t first = 0; first < open.size();) {
      const Run* const run = tier->Find(open[first]->key);
      std::size_t end = first + 1;
      while (end < open.size() && tier->Find(open[end]->key) == run) ++end;
      if (run != nullptr) run->FindTogether({open.data() + first, end - first});
      first = end;
    }
    NoteFound(open, PlaceOf(*tier));
  }
}

Result<bool> LsmLayers::FindInRuns(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry,
                                   FoundIn* where) const {
  *where = FoundIn::kRun;
  for (const auto& run : parts_.runs) {
    CAMBIUM_TRY(const bool found, run->FindHashed(key, filter_hash, keep, entry));
    if (found) return true;
  }
  return false;
}

Result<bool> LsmLayers::FindInTiers(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry,
                                    FoundIn* where) const {
  for (const auto& tier : parts_.tiers) {
    const Run* const run = tier->Find(key);
    if (run == nullptr) continue;
    *where = PlaceOf(*tier);
    CAMBIUM_TRY(const bool found, run->FindHashed(key, filter_hash, keep, entry));
    if (found) return true;
  }
  return false;
}

void LsmLayers::AppendCursors(std::vector<MergeChild>* children) const {
  for (const auto& run : parts_.runs) {
    children->emplace_back(run->NewCursor());
    children->back().name = FileName(FileKind::kRun, run->number());
    children->back().ranges = run->ranges();
  }
  for (const auto& tier : parts_.tiers) {
    std::shared_ptr<const RunList> runs(tier, &tier->runs());
    children->emplace_back(std::make_unique<TierCursor>(parts_.comparator, std::move(runs)));
    children->back().name = "level " + std::to_string(tier->level());
    children->back().ranges = tier->ranges();
  }
}

Result<std::uint64_t> LsmLayers::ApproximateSize(Slice begin, Slice end) const {
  std::uint64_t bytes = 0;
  for (const auto& run : parts_.runs) {
    CAMBIUM_TRY(const TreePart part, run->Measure(begin, end));
    bytes += part.Bytes();
  }
  for (const auto& tier : parts_.tiers) {
    CAMBIUM_TRY(const TreePart part, tier->Measure(begin, end));
    bytes += part.Bytes();
  }
  return bytes;
}

Result<TreePart> LsmLayers::CoveredByRanges() const {
  CoveredPart covered(parts_.comparator);
  const auto add = [&covered](const auto& layer) {
    return covered.Add(layer->ranges().get(), [&](Slice begin, Slice end) { return layer->Measure(begin, end); });
  };
  for (const auto& run : parts_.runs) CAMBIUM_RETURN_IF_ERROR(add(run));
  for (const auto& tier : parts_.tiers) CAMBIUM_RETURN_IF_ERROR(add(tier));
  return covered.total();
}

std::shared_ptr<const Layers> LsmLayers::WithNewestRun(std::shared_ptr<const Run> run) const {
  assert(run != nullptr);
  Parts parts = parts_;
  parts.runs.insert(parts.runs.begin(), std::move(run));
  return std::make_shared<const LsmLayers>(std::move(parts));
}

LayersShape LsmLayers::Measure() const {
  LayersShape shape;
  shape.run_count = parts_.runs.size();
  for (const auto& run : parts_.runs) {
    shape.run_keys += run->entry_count();
    shape.run_tombstones += run->info().tombstone_count;
    shape.run_file_bytes += run->info().disk_bytes();
    shape.memory_bytes += run->memory_bytes();
    shape.run_range_deletes += run->info().range_delete_count;
  }
  for (const auto& tier : parts_.tiers) {
    if (shape.levels.empty() || shape.levels.back().level != tier->level()) {
      shape.levels.emplace_back();
      shape.levels.back().level = tier->level();
    }
    LevelShape& level = shape.levels.back();
    ++level.tier_count;
    level.file_count += tier->runs().size();
    for (const auto& run : tier->runs()) {
      level.file_bytes += run->info().disk_bytes();
      level.entries += run->entry_count();
      level.tombstones += run->info().tombstone_count;
      level.range_deletes += run->info().range_delete_count;
      level.value_bytes += run->info().root.value_bytes;
      shape.memory_bytes += run->memory_bytes();
    }
  }
  for (const LevelShape& level : shape.levels) {
    shape.base_keys += level.entries;
    shape.base_value_bytes += level.value_bytes;
    shape.base_file_bytes += level.file_bytes;
  }
  shape.base_live_bytes = shape.base_file_bytes;
  return shape;
}

void LsmLayers::AppendFiles(std::vector<NumberedFile>* files) const {
  for (const auto& run : parts_.runs) files->push_back({FileKind::kRun, run->number()});
  for (const auto& tier : parts_.tiers) {
    for (const auto& run : tier->runs()) files->push_back({FileKind::kRun, run->number()});
  }
}

}  // namespace cambium
