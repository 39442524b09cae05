// Entering and leaving an epoch. Every lookup does it, so that nothing it reads is freed meanwhile.
#include <benchmark/benchmark.h>

#include "util/epoch.h"

namespace cambium::bench {
namespace {

void EpochEnterLeave(benchmark::State& state) {
  for (auto _ : state) {
    const EpochGuard guard;
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(EpochEnterLeave)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace cambium::bench
