#include "state/index_stats.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

namespace cambium {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::string Decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

double Ratio(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

// Estimates the number of keys: the keys of the tree, or of the lowest level, which lacks only the newest keys.
std::uint64_t KeysOf(const LayersShape& shape) {
  return shape.levels.empty() ? shape.base_keys : shape.levels.back().entries;
}

}  // namespace

void IndexStats::AddFlush(const Index& index, const Layers& before, const Layers& after, const MemtableShape& memtable,
                          std::uint64_t step_bytes) {
  const LayersShape& now = after.shape();
  flushes_.fetch_add(1, kRelaxed);
  flushed_keys_.fetch_add(memtable.key_count, kRelaxed);
  UpdateShape update;
  update.new_share = NewShare(KeysOf(before.shape()), KeysOf(now));
  update.step_bytes = step_bytes;
  const std::uint64_t merged_bytes = now.levels.empty() ? now.base_live_bytes : now.base_file_bytes;
  update.entry_bytes = Ratio(merged_bytes, now.base_keys);
  update.run_entry_bytes = Ratio(flush_bytes_.load(kRelaxed), run_keys_.load(kRelaxed));
  if (update.entry_bytes == 0) update.entry_bytes = update.run_entry_bytes;
  if (update.run_entry_bytes == 0) update.run_entry_bytes = update.entry_bytes;
  law_bytes_.store(law_bytes_.load(kRelaxed) + index.ExpectedBytes(before, memtable, update), kRelaxed);
}

void IndexStats::AddRun(const RunInfo& run) {
  flush_bytes_.fetch_add(run.file_size, kRelaxed);
  run_keys_.fetch_add(run.root.entry_count, kRelaxed);
}

void IndexStats::AddCompaction(const CompactionStats& stats, const Layers& after, bool with_memtable) {
  merges_.fetch_add(1, kRelaxed);
  merge_bytes_.fetch_add(stats.bytes_written, kRelaxed);
  if (with_memtable) {
    straight_merges_.fetch_add(1, kRelaxed);
  } else if (!after.shape().sweep_in_progress) {
    sweeps_.fetch_add(1, kRelaxed);
  }
}

// The share is measured again once the keys flushed since the last measurement are a quarter of all keys. That is more
// than the runs hold at a time, so most of these keys have been merged.
double IndexStats::NewShare(std::uint64_t keys_before, std::uint64_t keys) {
  const std::uint64_t flushed = flushed_keys_.load(kRelaxed);
  assert(flushed >= flushed_at_mark_);
  if (!has_mark_) {
    has_mark_ = true;
    new_share_ = keys_before == 0 ? 1 : 0;
  } else if (flushed - flushed_at_mark_ < keys / 4) {
    return new_share_;
  } else if (flushed > flushed_at_mark_) {
    const std::uint64_t grown = keys - std::min(keys, keys_at_mark_);
    new_share_ = std::min(1.0, Ratio(grown, flushed - flushed_at_mark_));
  }
  keys_at_mark_ = keys;
  flushed_at_mark_ = flushed;
  return new_share_;
}

std::map<std::string, std::string> IndexStats::Describe(const std::string& kind, const LayersShape& shape) const {
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  const std::uint64_t updates = flushed_keys_.load(kRelaxed);
  const std::uint64_t written = flush_bytes_.load(kRelaxed) + merge_bytes_.load(kRelaxed);
  std::map<std::string, std::string> figures = {
      {"index", kind},
      {"runs", text(shape.run_count)},
      {"run_keys", text(shape.run_keys)},
      {"run_tombstones", text(shape.run_tombstones)},
      {"run_range_deletes", text(shape.run_range_deletes)},
      {"run_bytes", text(shape.run_file_bytes)},
      {"flushes", text(flushes_.load(kRelaxed))},
      {"flushed_keys", text(updates)},
      {"flush_bytes", text(flush_bytes_.load(kRelaxed))},
      {"merges", text(merges_.load(kRelaxed))},
      {"merge_bytes", text(merge_bytes_.load(kRelaxed))},
      {"index_bytes_per_update", Decimal(Ratio(written, updates))},
      {"law_bytes", text(static_cast<std::uint64_t>(std::llround(law_bytes_.load(kRelaxed))))},
      {"law_bytes_per_update",
       Decimal(updates == 0 ? 0 : law_bytes_.load(kRelaxed) / static_cast<double>(updates))},
  };
  if (kind == "btree") {
    figures["sweeps"] = text(sweeps_.load(kRelaxed));
    figures["straight_merges"] = text(straight_merges_.load(kRelaxed));
    figures["tree_keys"] = text(shape.base_keys);
    figures["tree_height"] = text(shape.height);
    figures["tree_bytes"] = text(shape.base_file_bytes);
    figures["tree_live_bytes"] = text(shape.base_live_bytes);
    figures["tree_value_bytes"] = text(shape.base_value_bytes);
    return figures;
  }
  figures["compactions"] = text(sweeps_.load(kRelaxed));
  figures["levels"] = text(shape.levels.size());
  for (const LevelShape& level : shape.levels) {
    const std::string name = "level_" + std::to_string(level.level) + "_";
    figures[name + "tiers"] = text(level.tier_count);
    figures[name + "files"] = text(level.file_count);
    figures[name + "bytes"] = text(level.file_bytes);
    figures[name + "keys"] = text(level.entries);
  }
  return figures;
}

std::uint64_t FilesAtLevel(const LayersShape& shape, std::uint64_t level) {
  if (level == 0) return shape.run_count;
  for (const LevelShape& each : shape.levels) {
    if (each.level == level) return each.file_count;
  }
  return 0;
}

std::string LevelTable(const LayersShape& shape, std::uint32_t level_count) {
  constexpr double kMiB = 1 << 20;
  std::string table = "Level Files Size(MB)\n--------------------\n";
  const auto row = [&table](std::uint32_t level, std::uint64_t files, std::uint64_t bytes) {
    char text[96];
    std::snprintf(text, sizeof(text), "%3u %8llu %8.0f\n", level, static_cast<unsigned long long>(files),
                  static_cast<double>(bytes) / kMiB);
    table += text;
  };
  row(0, shape.run_count, shape.run_file_bytes);
  std::uint32_t next = 1;
  for (const LevelShape& level : shape.levels) {
    for (; next < level.level; ++next) row(next, 0, 0);
    row(next++, level.file_count, level.file_bytes);
  }
  for (; next < level_count; ++next) row(next, 0, 0);
  return table;
}

}  // namespace cambium
