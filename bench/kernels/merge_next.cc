// The next key of a merge of several runs, with warm pages.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "heap_run.h"
#include "index/merge_cursor.h"
#include "prepared.h"
#include "require.h"

namespace cambium::bench {
namespace {

// `n` keys, each in a random one of `runs` runs, so that the source of the next key cannot be predicted.
struct MergedRuns {
  MergedRuns(std::uint64_t n, std::size_t runs) : files(RoomFor(n)) {
    for (const auto& ids : DealIds(n, runs)) parts.push_back(MakeRun(&files, &pool, ids));
  }
  [[nodiscard]] std::unique_ptr<MergeCursor> NewCursor() const {
    std::vector<MergeChild> children;
    for (const auto& run : parts) children.emplace_back(run->NewCursor());
    return std::make_unique<MergeCursor>(BytewiseComparator(), std::move(children));
  }
  HeapFiles files;
  PagePool pool{std::size_t{1} << 30};
  std::vector<std::shared_ptr<const Run>> parts;
};

void MergeNext(benchmark::State& state) {
  const std::unique_ptr<MergeCursor> cursor = Prepared<MergedRuns>(state.range(0), state.range(1)).NewCursor();
  for (auto _ : state) {
    if (cursor->Valid()) [[likely]] {
      cursor->Next();
    } else {
      Require(cursor->status());
      cursor->SeekToFirst();
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(MergeNext)->ArgNames({"keys", "runs"})->ArgsProduct({{10'000, 1'000'000}, {1, 2, 4, 16}});

}  // namespace
}  // namespace cambium::bench
