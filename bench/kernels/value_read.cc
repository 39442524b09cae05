// A separated value, from its address to the caller's string, of a file that the page cache has: by each way there is.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "key_list.h"
#include "log_files.h"
#include "prepared.h"
#include "require.h"
#include "value_bytes.h"
#include "vlog/value_reader.h"

namespace cambium::bench {
namespace {

// A segment full of values of one size. Keys and addresses are in the order in which they are read.
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
    Require(log.Sync());  // or the system writes back while it is read
    addresses.reserve(written.size());
    for (std::size_t i = 0; i < keys.size(); ++i) addresses.push_back(written[NumberOf(keys[i])]);
  }
  LogFiles log;
  const KeyList keys;
  std::vector<ValueAddress> addresses;
};

using ReadPath = Status (*)(const ValueLog& log, std::size_t value, bool verify, std::string* out);

Status ByRead(const ValueLog& log, std::size_t value, bool verify, std::string* out) {
  return ReadValue(log.log.segments(), log.addresses[value], 0, log.keys[value], verify, out);
}

// range: bytes of a value, MiB of the file, whether the value's checksum is compared.
void ReadValues(benchmark::State& state, ReadPath read) {
  const auto value_size = static_cast<std::size_t>(state.range(0));
  const ValueLog& log = Prepared<ValueLog>(value_size, state.range(1));
  const bool verify = state.range(2) != 0;
  std::string value;
  std::size_t i = 0;
  for (auto _ : state) {
    Require(read(log, i, verify, &value));
    Require(value.size() == value_size, "a value has another size");
    if (++i == log.keys.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// A new way of reading gets a line here.
BENCHMARK_CAPTURE(ReadValues, read, ByRead)
    ->Name("ValueRead/read")
    ->ArgNames({"value", "mib", "verify"})
    ->ArgsProduct({{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10}, {1, 256}, {1}})
    ->ArgsProduct({{1 << 10, 64 << 10}, {256}, {0}});

}  // namespace
}  // namespace cambium::bench
