// DB::Put over random existing keys. Flushes and compactions run in the background, on the other processor if there is
// one, and are part of the cost.
#include <benchmark/benchmark.h>

#include "prepared.h"
#include "require.h"
#include "store.h"

namespace cambium::bench {
namespace {

struct PutStore {
  PutStore(IndexKind index, std::uint64_t keys, std::size_t value_size)
      : store(index, keys, value_size), order(KeyList::Shuffled(keys, kLookUpSeed)) {}
  const Store store;
  const KeyList order;
};

void Puts(benchmark::State& state, bool sync) {
  const auto& [store, order] = Prepared<PutStore>(IndexOf(state.range(0)), state.range(1), state.range(2));
  WriteOptions options;
  options.sync = sync;
  KeyWheel keys(order);
  std::uint64_t n = 0;
  for (auto _ : state) Require(store.db().Put(options, keys.Next(), store.values().Of(n++)));
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(2));
}

void DbPut(benchmark::State& state) { Puts(state, false); }
BENCHMARK(DbPut)
    ->ArgNames({"lsm", "keys", "value"})
    ->ArgsProduct({{0, 1}, {1'000'000}, {100, 1 << 10}})
    ->ArgsProduct({{0, 1}, {10'000}, {100, 1 << 10, 16 << 10}})
    ->UseRealTime();

// The index and the number of keys do not matter here.
void DbPutSync(benchmark::State& state) { Puts(state, true); }
BENCHMARK(DbPutSync)
    ->ArgNames({"lsm", "keys", "value"})
    ->ArgsProduct({{0}, {10'000}, {100, 1 << 10, 16 << 10}})
    ->UseRealTime();

}  // namespace
}  // namespace cambium::bench
