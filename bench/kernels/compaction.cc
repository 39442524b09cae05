// A compaction of the LSM: four runs of level 0 and the files that they overlap in level 1. Files are in memory.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>
#include <vector>

#include "heap_run.h"
#include "lsm_fallback/level_compaction.h"
#include "prepared.h"
#include "require.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kRuns = 4;

struct TwoLevels {
  // Each run has a sixteenth of the keys of level 1.
  explicit TwoLevels(std::uint64_t keys) : files(RoomFor(2 * keys)) {
    const auto dealt = DealIds(keys, 16);
    LsmLayers::Parts parts;
    parts.comparator = BytewiseComparator();
    parts.pool = &pool;
    for (std::size_t i = 0; i < kRuns; ++i) {
      parts.runs.push_back(MakeRun(&files, &pool, dealt[i]));
      choice.inputs.push_back(parts.runs.back()->number());
    }
    const auto base = MakeRun(&files, &pool, DealIds(keys, 1).front());
    choice.overlapped.push_back(base->number());
    parts.tiers.push_back(Require(Tier::Make(BytewiseComparator(), 1, 0, {base})));
    choice.kind = CompactionChoice::Kind::kCompact;
    choice.output_level = 1;
    layers = std::make_unique<LsmLayers>(std::move(parts));
  }
  HeapFiles files;
  PagePool pool{std::size_t{1} << 30};
  CompactionChoice choice;
  std::unique_ptr<LsmLayers> layers;
};

// An item is an entry of the inputs. All are read, compared, and written or dropped.
void CompactLevels(benchmark::State& state) {
  TwoLevels& levels = Prepared<TwoLevels>(state.range(0));
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    LevelCompactionInput input;
    input.layers = levels.layers.get();
    input.choice = &levels.choice;
    input.create_file = levels.files.creator();
    const LevelCompactionOutput output = Require(CompactLevel(input));
    Require(output.stats.entries_merged == static_cast<std::uint64_t>(state.range(0)), "a compaction lost keys");
    entries += levels.layers->shape().base_keys + levels.layers->shape().run_keys;
    bytes += output.stats.bytes_read + output.stats.bytes_written;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(entries));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(CompactLevels)
    ->Name("Compaction")
    ->ArgName("keys")
    ->Arg(10'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cambium::bench
