// A sweep of a run of updates into a tree. Files are in memory, so only processor time counts.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "heap_run.h"
#include "heap_tree.h"
#include "prepared.h"
#include "require.h"

namespace cambium::bench {
namespace {

struct TreeAndRun {
  // One in `share` keys is in the run.
  TreeAndRun(std::uint64_t keys, std::size_t share)
      : tree(keys), run(MakeRun(tree.heap_files(), tree.pool(), DealIds(keys, share).front())) {}
  HeapTree tree;
  std::shared_ptr<const Run> run;
};

// A sweep is due at share 8: every leaf has keys of the run and is rewritten. At share 1000 most leaves have none, and
// are kept without being read. An item is an update of the run; bytes are those of the pages written.
void SweepRun(benchmark::State& state) {
  auto& [tree, run] = Prepared<TreeAndRun>(state.range(0), state.range(1));
  std::uint64_t updates = 0;
  std::uint64_t bytes = 0;
  std::uint64_t runs = 0;
  for (auto _ : state) {
    std::vector<MergeChild> layers;
    layers.emplace_back(run->NewCursor());
    const std::unique_ptr<IndexSegmentWriter> writer = tree.NewWriter();
    const SweepOutput swept = Require(Sweep(tree.SweepOf(std::move(layers)), writer.get()));
    Require(writer->Sync());
    updates += swept.stats.entries_merged;
    bytes += swept.stats.bytes_written;
    ++runs;
  }
  Require(updates == run->entry_count() * runs, "a sweep has lost keys or has too many");
  state.SetItemsProcessed(static_cast<std::int64_t>(updates));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["bytes/update"] = static_cast<double>(bytes) / static_cast<double>(updates);
}
BENCHMARK(SweepRun)
    ->Name("Sweep")
    ->ArgNames({"keys", "share"})
    ->ArgsProduct({{10'000, 1'000'000}, {8, 1000}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cambium::bench
