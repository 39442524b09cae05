// The cost of statistics: a tick alone, from one thread and from two, compared with a shared counter; and in a Get.
#include <benchmark/benchmark.h>

#include <atomic>

#include "cambium/statistics.h"
#include "prepared.h"
#include "require.h"
#include "store.h"
#include "util/meter.h"

namespace cambium::bench {
namespace {

void StatisticsTick(benchmark::State& state) {
  static const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  const Meter meter(statistics.get(), nullptr);
  for (auto _ : state) meter.Tick(MEMTABLE_HIT);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(StatisticsTick)->Threads(1)->Threads(2)->UseRealTime();

void StatisticsMeasure(benchmark::State& state) {
  static const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  const Meter meter(statistics.get(), nullptr);
  std::uint64_t bytes = 0;
  for (auto _ : state) meter.Measure(BYTES_PER_READ, bytes++ % 4096);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(StatisticsMeasure)->Threads(1)->Threads(2)->UseRealTime();

void SharedCounter(benchmark::State& state) {
  static std::atomic<std::uint64_t> counter{0};
  for (auto _ : state) counter.fetch_add(1, std::memory_order_relaxed);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(SharedCounter)->Threads(1)->Threads(2)->UseRealTime();

struct CountedStore {
  CountedStore(IndexKind index, std::uint64_t keys, std::size_t value_size, StatsLevel level)
      : store(index, keys, value_size, CreateDBStatistics()), look_ups(KeyList::Shuffled(keys, kLookUpSeed, true)) {
    store.db().GetOptions().statistics->set_stats_level(level);
  }
  const Store store;
  const KeyList look_ups;
};

// Compare with DbGet.
void DbGetCounted(benchmark::State& state) {
  const auto level = static_cast<StatsLevel>(state.range(3));
  const auto& [store, look_ups] =
      Prepared<CountedStore>(IndexOf(state.range(0)), state.range(1), state.range(2), level);
  KeyWheel keys(look_ups, state.thread_index(), state.threads());
  PinnableSlice value;
  for (auto _ : state) {
    value.Reset();
    Require(store.db().Get({}, keys.Next(), &value));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DbGetCounted)
    ->ArgNames({"lsm", "keys", "value", "level"})
    ->Args({0, 10'000, 100, kExceptTimers})
    ->Args({0, 10'000, 100, kExceptDetailedTimers})
    ->Args({1, 10'000, 100, kExceptDetailedTimers})
    ->Threads(1)
    ->Threads(2)
    ->UseRealTime();

}  // namespace
}  // namespace cambium::bench
