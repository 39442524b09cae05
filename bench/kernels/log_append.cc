// One put in the log, not synced: encoded, checksummed, bound to its place and written.
//
// In memory the write is a copy; on disk it also costs the system call and the page cache. Files are new, as those of a
// log are: the operating system allocates a page for each page written. The files are deleted before they are written
// back.
#include <benchmark/benchmark.h>

#include "key_list.h"
#include "log_files.h"
#include "prepared.h"
#include "require.h"
#include "value_bytes.h"

namespace cambium::bench {
namespace {

constexpr std::uint64_t kSegmentBytes = 64u << 20;

struct AppendLog {
  explicit AppendLog(LogPlace place) : log(place, kSegmentBytes, PreparedBatch::Rules().separate_from) {}
  LogFiles log;
  const KeyList keys = KeyList::Shuffled(1 << 16, kInsertSeed);
};

void Append(benchmark::State& state, LogPlace place) {
  auto& [log, key_list] = Prepared<AppendLog>(place);
  const auto value_size = static_cast<std::size_t>(state.range(0));
  const ValueBytes values(value_size);
  KeyWheel keys(key_list);
  ValueAddress address;
  std::uint64_t n = 0;
  log.StartOver();
  for (auto _ : state) {
    if (log.IsFull(value_size + 256)) {
      state.PauseTiming();
      log.StartOver();
      state.ResumeTiming();
    }
    Require(log.Put(keys.Next(), values.Of(n++), &address));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kKeySize + value_size));
}

void LogAppendDisk(benchmark::State& state) { Append(state, LogPlace::kDisk); }
void LogAppendMemory(benchmark::State& state) { Append(state, LogPlace::kMemory); }
BENCHMARK(LogAppendDisk)->ArgName("value")->Arg(100)->Arg(1 << 10)->Arg(16 << 10);
BENCHMARK(LogAppendMemory)->ArgName("value")->Arg(100)->Arg(1 << 10)->Arg(16 << 10);

}  // namespace
}  // namespace cambium::bench
