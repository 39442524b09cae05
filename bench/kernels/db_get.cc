// DB::Get and MultiGet of random keys, warm.
#include <benchmark/benchmark.h>

#include <array>

#include "prepared.h"
#include "require.h"
#include "store.h"

namespace cambium::bench {
namespace {

struct GetStore {
  GetStore(IndexKind index, std::uint64_t keys, std::size_t value_size, bool hit)
      : store(index, keys, value_size), look_ups(KeyList::Shuffled(keys, kLookUpSeed, hit)) {}
  const Store store;
  const KeyList look_ups;
};

GetStore& PrepareGets(const benchmark::State& state, bool hit) {
  return Prepared<GetStore>(IndexOf(state.range(0)), state.range(1), state.range(2), hit);
}

void DbGet(benchmark::State& state) {
  const auto& [store, look_ups] = PrepareGets(state, true);
  KeyWheel keys(look_ups, state.thread_index(), state.threads());
  PinnableSlice value;
  for (auto _ : state) {
    value.Reset();
    Require(store.db().Get({}, keys.Next(), &value));
    Require(value.size() == store.value_size(), "a value has another size");
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(2));
}

void DbGetMissing(benchmark::State& state) {
  const auto& [store, look_ups] = PrepareGets(state, false);
  KeyWheel keys(look_ups, state.thread_index(), state.threads());
  PinnableSlice value;
  for (auto _ : state) {
    value.Reset();
    Require(store.db().Get({}, keys.Next(), &value).IsNotFound(), "a missing key was found");
  }
  state.SetItemsProcessed(state.iterations());
}

void DbMultiGet(benchmark::State& state) {
  constexpr std::size_t kBatch = 32;
  const auto& [store, look_ups] = PrepareGets(state, true);
  KeyWheel wheel(look_ups);
  std::array<Slice, kBatch> keys;
  std::array<PinnableSlice, kBatch> values;
  std::array<Status, kBatch> statuses;
  for (auto _ : state) {
    for (Slice& key : keys) key = wheel.Next();
    store.db().MultiGet({}, kBatch, keys.data(), values.data(), statuses.data());
    for (const Status& status : statuses) Require(status);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kBatch) * state.range(2));
}

// Values of 100 B are inline, the others are in the log.
void GetSizes(benchmark::internal::Benchmark* kernel) {
  kernel->ArgNames({"lsm", "keys", "value"});
  for (const std::int64_t lsm : {0, 1}) {
    for (const std::int64_t value : {100, 1 << 10}) kernel->Args({lsm, 1'000'000, value});
    for (const std::int64_t value : {100, 1 << 10, 16 << 10}) kernel->Args({lsm, 10'000, value});
  }
}
BENCHMARK(DbGet)->Apply(GetSizes)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(DbGetMissing)->Apply(GetSizes);
BENCHMARK(DbMultiGet)->Apply(GetSizes);

}  // namespace
}  // namespace cambium::bench
