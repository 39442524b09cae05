// The checksum that protects everything on disk, over bytes in the cache.
#include <benchmark/benchmark.h>

#include <string>

#include "util/checksum.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

void Checksum(benchmark::State& state) {
  const std::string bytes = Prng(5).Bytes(static_cast<std::size_t>(state.range(0)));
  std::uint64_t seed = 0;  // each call waits for the previous one, as a reader does
  for (auto _ : state) seed = Checksum64(bytes, seed);
  benchmark::DoNotOptimize(seed);
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Checksum)->ArgName("bytes")->RangeMultiplier(4)->Range(64, 64 << 10);

}  // namespace
}  // namespace cambium::bench
