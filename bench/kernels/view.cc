// Getting the current view: as lookups do (inside an epoch, uncounted), and as iterators and snapshots do (counted).
#include <benchmark/benchmark.h>

#include "state/view.h"
#include "prepared.h"

namespace cambium::bench {
namespace {

struct OneView {
  OneView() {
    holder.Update([](View*) {});
  }
  ViewHolder holder;
};

void ViewPeek(benchmark::State& state) {
  const ViewHolder& holder = Prepared<OneView>().holder;
  for (auto _ : state) {
    const EpochGuard guard;
    const View* view = holder.Peek();
    benchmark::DoNotOptimize(view);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ViewPeek)->Threads(1)->Threads(2)->UseRealTime();

void ViewPin(benchmark::State& state) {
  const ViewHolder& holder = Prepared<OneView>().holder;
  for (auto _ : state) {
    std::shared_ptr<const View> view = holder.Pin();
    benchmark::DoNotOptimize(view);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ViewPin)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace cambium::bench
