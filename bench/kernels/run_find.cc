// A lookup in a run with warm pages: in its filter, then, unless the filter denies the key, in its tree.
#include <benchmark/benchmark.h>

#include "heap_run.h"
#include "key_list.h"
#include "prepared.h"
#include "require.h"

namespace cambium::bench {
namespace {

struct OneRun {
  OneRun(std::uint64_t n, bool hit)
      : files(RoomFor(n)),
        run(MakeRun(&files, &pool, DealIds(n, 1).front())),
        look_ups(KeyList::Shuffled(n, kLookUpSeed, hit)) {
    const auto cursor = run->NewCursor();  // brings all pages into the pool
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) continue;
    Require(cursor->status());
  }
  HeapFiles files;
  PagePool pool{std::size_t{1} << 30};
  std::shared_ptr<const Run> run;
  const KeyList look_ups;
};

void RunFind(benchmark::State& state) {
  const bool hit = state.range(1) != 0;
  const OneRun& one = Prepared<OneRun>(state.range(0), hit);
  KeyWheel keys(one.look_ups);
  PageRef keep;
  Entry entry;
  for (auto _ : state) Require(Require(one.run->Find(keys.Next(), &keep, &entry)) == hit, "a run answers wrongly");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(RunFind)->ArgNames({"keys", "hit"})->ArgsProduct({{10'000, 1'000'000}, {0, 1}});

}  // namespace
}  // namespace cambium::bench
