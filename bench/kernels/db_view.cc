// The cost of holding a state of the database: making and releasing snapshots and iterators.
#include <benchmark/benchmark.h>

#include <memory>

#include "prepared.h"
#include "require.h"
#include "store.h"

namespace cambium::bench {
namespace {

struct SmallStore {
  explicit SmallStore(IndexKind index) : store(index, 10'000, 100) {}
  const Store store;
};

void DbSnapshot(benchmark::State& state) {
  DB& db = Prepared<SmallStore>(kBTree).store.db();
  for (auto _ : state) {
    const Snapshot* const snapshot = db.GetSnapshot();
    Require(snapshot != nullptr, "no snapshot was given");
    db.ReleaseSnapshot(snapshot);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DbSnapshot)->Threads(1)->Threads(2)->UseRealTime();

void DbNewIterator(benchmark::State& state) {
  DB& db = Prepared<SmallStore>(IndexOf(state.range(0))).store.db();
  for (auto _ : state) {
    std::unique_ptr<Iterator> iterator(db.NewIterator({}));
    benchmark::DoNotOptimize(iterator);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DbNewIterator)->ArgName("lsm")->Arg(0)->Arg(1)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace cambium::bench
