// Iterators, warm: a seek and ten steps from a random key, and a walk over everything; with values and without.
#include <benchmark/benchmark.h>

#include <memory>

#include "prepared.h"
#include "require.h"
#include "store.h"

namespace cambium::bench {
namespace {

constexpr int kNexts = 10;

struct ScanStore {
  ScanStore(IndexKind index, std::uint64_t keys, std::size_t value_size)
      : store(index, keys, value_size), starts(KeyList::Shuffled(keys, kLookUpSeed)) {}
  const Store store;
  const KeyList starts;
};

ScanStore& PrepareScans(const benchmark::State& state) {
  return Prepared<ScanStore>(IndexOf(state.range(0)), state.range(1), state.range(2));
}

ReadOptions Wanting(bool values) {
  ReadOptions options;
  options.allow_unprepared_value = !values;
  return options;
}

// Reads the entry at the iterator.
void Touch(Iterator* iterator, bool with_value, std::size_t value_size) {
  Slice key = iterator->key();
  benchmark::DoNotOptimize(key);
  if (with_value) Require(iterator->value().size() == value_size, "a value has another size");
}

// An item is a seek with its steps.
void DbSeek(benchmark::State& state) {
  const auto& [store, starts] = PrepareScans(state);
  const bool with_values = state.range(3) != 0;
  KeyWheel keys(starts);
  const std::unique_ptr<Iterator> iterator(store.db().NewIterator(Wanting(with_values)));
  for (auto _ : state) {
    iterator->Seek(keys.Next());
    Require(iterator->Valid(), "a seek found nothing");
    Touch(iterator.get(), with_values, store.value_size());
    for (int i = 0; i < kNexts; ++i) {
      iterator->Next();
      if (!iterator->Valid()) break;  // among the last ten keys
      Touch(iterator.get(), with_values, store.value_size());
    }
    Require(iterator->status());
  }
  state.SetItemsProcessed(state.iterations());
}

// An item is an entry.
void DbNext(benchmark::State& state) {
  const Store& store = PrepareScans(state).store;
  const bool with_values = state.range(3) != 0;
  const std::unique_ptr<Iterator> iterator(store.db().NewIterator(Wanting(with_values)));
  iterator->SeekToFirst();
  for (auto _ : state) {
    Require(iterator->Valid(), "a walk ended early");
    Touch(iterator.get(), with_values, store.value_size());
    iterator->Next();
    if (!iterator->Valid()) [[unlikely]] {
      Require(iterator->status());
      iterator->SeekToFirst();
    }
  }
  state.SetItemsProcessed(state.iterations());
}

void ScanSizes(benchmark::internal::Benchmark* kernel) {
  kernel->ArgNames({"lsm", "keys", "value", "values"})
      ->ArgsProduct({{0, 1}, {1'000'000}, {100, 1 << 10}, {0, 1}})
      ->ArgsProduct({{0, 1}, {10'000}, {100, 1 << 10, 16 << 10}, {0, 1}});
}
BENCHMARK(DbSeek)->Name("DbSeekNext10")->Apply(ScanSizes);
BENCHMARK(DbNext)->Apply(ScanSizes);

}  // namespace
}  // namespace cambium::bench
