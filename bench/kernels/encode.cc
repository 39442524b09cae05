// Making a record of the log: the part before a writer takes the append lock, and the part under the lock.
#include <benchmark/benchmark.h>

#include "key_list.h"
#include "value_bytes.h"
#include "vlog/prepared_batch.h"

namespace cambium::bench {
namespace {

const KeyList& SomeKeys() {
  static const KeyList keys = KeyList::Shuffled(1024, kInsertSeed);
  return keys;
}

// Encoding, and the checksum of the body. Values below 2 KiB are copied, larger ones are not.
void EncodeRecord(benchmark::State& state) {
  const ValueBytes values(static_cast<std::size_t>(state.range(0)));
  KeyWheel keys(SomeKeys());
  std::uint64_t n = 0;
  for (auto _ : state) {
    PreparedBatch batch({});
    batch.Put(0, keys.Next(), values.Of(n++));
    std::uint64_t size = batch.size();
    benchmark::DoNotOptimize(size);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * (static_cast<std::int64_t>(kKeySize) + state.range(0)));
}
BENCHMARK(EncodeRecord)->ArgName("value")->Arg(100)->Arg(1 << 10)->Arg(16 << 10);

// Sequence number, durable lag and header checksum: the part that needs the record's place.
void BindRecord(benchmark::State& state) {
  const ValueBytes values(static_cast<std::size_t>(state.range(0)));
  PreparedBatch batch({});
  batch.Put(0, SomeKeys()[0], values.Of(0));
  SequenceNumber sequence = 1;
  for (auto _ : state) {
    batch.Bind(sequence, sequence - 1, 6, static_cast<Slot>(1), sequence % 4096 * 8);
    ++sequence;
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BindRecord)->ArgName("value")->Arg(100)->Arg(16 << 10);

}  // namespace
}  // namespace cambium::bench
