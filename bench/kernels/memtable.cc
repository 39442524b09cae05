// The memtable with a given number of keys, in random order.
#include <benchmark/benchmark.h>

#include <memory>

#include "heap_run.h"
#include "key_list.h"
#include "memtable/memtable.h"
#include "prepared.h"
#include "require.h"

namespace cambium::bench {
namespace {

constexpr std::int64_t kSizes[] = {10'000, 100'000, 1'000'000};

// Adds keys [from, to) of the list, key i with sequence number i + 1.
void AddAll(MemTable* table, const KeyList& keys, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    Require(table->Reserve(1, kKeySize));
    table->Add(i + 1, keys[i], EntryOf(PresentId(i)));
  }
}

struct InsertKeys {
  explicit InsertKeys(std::size_t n) : keys(KeyList::Shuffled(n + n / 8, kInsertSeed)) {}
  const KeyList keys;
};

// Adds an eighth more keys to a memtable of state.range(0) keys. The initial fill is not measured.
void MemTableInsert(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const KeyList& keys = Prepared<InsertKeys>(n).keys;
  for (auto _ : state) {
    state.PauseTiming();
    auto table = std::make_unique<MemTable>(BytewiseComparator());
    AddAll(table.get(), keys, 0, n);
    state.ResumeTiming();
    AddAll(table.get(), keys, n, keys.size());
    state.PauseTiming();
    Require(table->key_count() == keys.size(), "a table has other keys than were added");
    table.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys.size() - n));
}
BENCHMARK(MemTableInsert)
    ->ArgName("keys")
    ->Arg(kSizes[0])
    ->Arg(kSizes[1])
    ->Arg(kSizes[2])
    ->Unit(benchmark::kMillisecond);

struct FullTable {
  FullTable(std::size_t n, bool hit) : look_ups(KeyList::Shuffled(n, kLookUpSeed, hit)) {
    AddAll(&table, KeyList::Shuffled(n, kInsertSeed), 0, n);
  }
  MemTable table{BytewiseComparator()};
  const KeyList look_ups;
};

void MemTableGet(benchmark::State& state) {
  const bool hit = state.range(1) != 0;
  const auto& [table, look_ups] = Prepared<FullTable>(state.range(0), hit);
  KeyWheel keys(look_ups);
  Entry entry;
  for (auto _ : state) {
    Require(table.Find(keys.Next(), kMaxSequenceNumber, &entry) == hit, "a table answers wrongly");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(MemTableGet)->ArgNames({"keys", "hit"})->ArgsProduct({{kSizes[0], kSizes[1], kSizes[2]}, {0, 1}});

}  // namespace
}  // namespace cambium::bench
