// Reading a separated value from its address into the caller's string, in each way, from a file in the page cache.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "key_list.h"
#include "log_files.h"
#include "prepared.h"
#include "require.h"
#include "value_bytes.h"
#include "vlog/read_queues.h"
#include "vlog/value_reader.h"
#include "vlog/value_reads.h"

namespace cambium::bench {
namespace {

// A segment full of values of one size. Keys and addresses are in the order of the reads.
struct ValueLog {
  ValueLog(std::size_t value_size, std::uint64_t mib)
      : log(LogPlace::kDisk, std::uint64_t{1} << 30, 1),
        keys(KeyList::Shuffled((mib << 20) / value_size, kLookUpSeed)) {
    const ValueBytes values(value_size);
    std::vector<ValueAddress> written(keys.size());
    KeyBuffer key(kKeySize);
    for (std::size_t i = 0; i < written.size(); ++i) {
      Require(log.Put(key.Make(PresentId(i)), values.Of(i), &written[i]));
    }
    Require(log.Sync());  // otherwise the system writes back during the reads
    addresses.reserve(written.size());
    for (std::size_t i = 0; i < keys.size(); ++i) addresses.push_back(written[NumberOf(keys[i])]);
  }
  LogFiles log;
  const KeyList keys;
  std::vector<ValueAddress> addresses;
};

// The same file, sealed, so that readers may map it.
struct MappedValueLog : ValueLog {
  MappedValueLog(std::size_t value_size, std::uint64_t mib) : ValueLog(value_size, mib) { log.AllowMap(); }
};

ValueQuery QueryOf(const ValueLog& log, std::size_t value, bool verify) {
  return {.address = log.addresses[value], .key = log.keys[value], .verify_checksums = verify};
}

// Reads as a Get at a snapshot does, or a Get that must wait for the device: from the mapping if there is one and the
// page is resident, else by a read of the right size.
Status ByRead(const ValueLog& log, std::size_t value, bool verify, std::string* buffer, Slice* out) {
  return ReadValue(log.log.segments(), QueryOf(log, value, verify), buffer, out);
}

// Reads as Get, MultiGet and iterators do: from the mapping; else by a read that does not wait for the device; if that
// read is refused, as ByRead does. The operating system may refuse a read that does not wait although the page cache
// has the bytes: while it writes them back.
Status IfCached(const ValueLog& log, std::size_t value, bool verify, std::string* buffer, Slice* out) {
  const Result<bool> was_cached = ReadCachedValue(log.log.segments(), QueryOf(log, value, verify), buffer, out);
  CAMBIUM_RETURN_IF_ERROR(was_cached.status());
  return *was_cached ? Status::OK() : ByRead(log, value, verify, buffer, out);
}

using ReadPath = Status (*)(const ValueLog& log, std::size_t value, bool verify, std::string* buffer, Slice* out);

// range: bytes of a value, MiB of the file, whether the value's checksum is verified.
template <typename Log>
void ReadValues(benchmark::State& state, Log& (*prepared)(int value_size, int mib), ReadPath read) {
  const auto value_size = static_cast<std::size_t>(state.range(0));
  const ValueLog& log = prepared(static_cast<int>(value_size), static_cast<int>(state.range(1)));
  const bool verify = state.range(2) != 0;
  std::string buffer;
  Slice value;
  std::size_t i = 0;
  for (auto _ : state) {
    Require(read(log, i, verify, &buffer, &value));
    Require(value.size() == value_size, "a value has another size");
    if (++i == log.keys.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// Ten values at a time through a read queue, as a scan fetches values that the page cache does not have. Here the page
// cache has all of them. range: bytes of a value, MiB of the file, whether the value's checksum is verified, whether by
// io_uring.
void ReadTogether(benchmark::State& state) {
  constexpr std::size_t kTogether = 10;
  const auto value_size = static_cast<std::size_t>(state.range(0));
  const ValueLog& log = Prepared<ValueLog>(value_size, state.range(1));
  const bool verify = state.range(2) != 0;
  const bool use_io_uring = state.range(3) != 0;
  ReadQueues queues(FileSystem::Default().get());
  std::vector<ValueReads::Item> items(kTogether);
  std::size_t next = 0;
  for (auto _ : state) {
    ValueReads reads(&queues, use_io_uring);
    for (ValueReads::Item& item : items) {
      item.query = QueryOf(log, next, verify);
      item.is_done = false;
      reads.Add(log.log.segments(), &item);
      if (++next == log.keys.size()) next = 0;
    }
    reads.Submit();
    for (const ValueReads::Item& item : items) reads.Await(item);
    for (const ValueReads::Item& item : items) {
      Require(item.status);
      Require(item.value.size() == value_size, "a value has another size");
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTogether));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kTogether) * state.range(0));
}

// The sizes for each way of reading.
void AllSizes(benchmark::internal::Benchmark* kernel) {
  kernel->ArgNames({"value", "mib", "verify"})
      ->ArgsProduct({{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10}, {1, 256}, {1}})
      ->ArgsProduct({{1 << 10, 64 << 10}, {256}, {0}});
}
BENCHMARK_CAPTURE(ReadValues, read, Prepared<ValueLog, int, int>, ByRead)->Name("ValueRead/read")->Apply(AllSizes);
BENCHMARK_CAPTURE(ReadValues, cached, Prepared<ValueLog, int, int>, IfCached)
    ->Name("ValueRead/read if cached")
    ->Apply(AllSizes);
BENCHMARK_CAPTURE(ReadValues, mapped, Prepared<MappedValueLog, int, int>, IfCached)
    ->Name("ValueRead/mapped")
    ->Apply(AllSizes);
BENCHMARK(ReadTogether)
    ->Name("ValueRead/together")
    ->ArgNames({"value", "mib", "verify", "io_uring"})
    ->ArgsProduct({{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10}, {256}, {1}, {0, 1}});

}  // namespace
}  // namespace cambium::bench
