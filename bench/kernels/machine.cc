// Yardsticks: the cost of the basic steps of the other kernels on this machine.
#include <benchmark/benchmark.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engines/registry.h"
#include "prepared.h"
#include "require.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

struct alignas(64) Line {
  const Line* next = nullptr;
};

// The cache lines of `mib` MiB, linked into one circle in random order.
struct Circle {
  explicit Circle(std::uint64_t mib) : lines((mib << 20) / sizeof(Line)) {
    std::vector<std::uint32_t> order(lines.size());
    std::iota(order.begin(), order.end(), 0u);
    Prng prng(9);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[prng.Uniform(i)]);
    for (std::size_t i = 0; i < order.size(); ++i) lines[order[i]].next = &lines[order[(i + 1) % order.size()]];
  }
  std::vector<Line> lines;
};

// Follows the circle: each address is known only when the previous line has arrived. Costs a cache miss and the address
// translation.
void MachineMiss(benchmark::State& state) {
  const Line* line = Prepared<Circle>(state.range(0)).lines.data();
  for (auto _ : state) line = line->next;
  benchmark::DoNotOptimize(line);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(MachineMiss)->ArgName("mib")->RangeMultiplier(4)->Range(1, 256);

struct Bytes {
  explicit Bytes(std::uint64_t mib) : bytes(mib << 20, 'b') {}
  std::vector<char> bytes;
};

// Copies state.range(0) bytes from a random place in state.range(1) MiB.
void MachineCopy(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::vector<char>& from = Prepared<Bytes>(state.range(1)).bytes;
  std::vector<char> to(size);
  Prng prng(10);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data() + prng.Uniform(from.size() - size), size);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(MachineCopy)
    ->ArgNames({"bytes", "mib"})
    ->ArgsProduct({{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10}, {1, 256}});

// Entering and leaving the kernel.
void MachineSystemCall(benchmark::State& state) {
  for (auto _ : state) {
    long parent = ::syscall(SYS_getppid);
    benchmark::DoNotOptimize(parent);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(MachineSystemCall);

// Appends state.range(0) bytes to a file and calls fdatasync, without any code of the library: a lower bound for a
// synced write that allocates no space ahead.
void MachineAppendSync(benchmark::State& state) {
  const testing::TempDirectory directory;
  EngineConfig config;
  config.path = directory.path();
  const std::unique_ptr<Engine> raw = MakeRaw(config);
  Require(raw->Open(true));
  Require(raw->BeginWrites({.sync = true}));
  const std::unique_ptr<Session> session = raw->NewSession();
  const std::string bytes = Prng(11).Bytes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) Require(session->Put({}, bytes));
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(MachineAppendSync)->ArgName("bytes")->Arg(128)->Arg(1 << 10)->Arg(16 << 10)->UseRealTime();

}  // namespace
}  // namespace cambium::bench
