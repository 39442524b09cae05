// A lookup in the copy-on-write tree, all of it in the pool. For most missing keys it ends at the filter of a branch.
#include <benchmark/benchmark.h>

#include "heap_tree.h"
#include "index/filter.h"
#include "index/tree_cursor.h"
#include "key_list.h"
#include "prepared.h"
#include "require.h"

namespace cambium::bench {
namespace {

struct TreeLookUps {
  TreeLookUps(std::uint64_t n, bool hit) : tree(n), keys(KeyList::Shuffled(n, kLookUpSeed, hit)) {}
  HeapTree tree;
  const KeyList keys;
};

void TreeFindKey(benchmark::State& state) {
  const bool hit = state.range(1) != 0;
  auto& [tree, look_ups] = Prepared<TreeLookUps>(state.range(0), hit);
  const KeyOrder order(BytewiseComparator());
  KeyWheel keys(look_ups, state.thread_index(), state.threads());
  PageRef keep;
  Entry entry;
  for (auto _ : state) {
    const Slice key = keys.Next();
    const std::uint64_t hash = FilterHash(key);
    const bool found = Require(TreeFind(tree.root(), tree.files(), tree.pool(), order, key, hash, &keep, &entry));
    Require(found == hit, "a tree answers wrongly");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(TreeFindKey)
    ->Name("TreeFind")
    ->ArgNames({"keys", "hit"})
    ->ArgsProduct({{10'000, 1'000'000}, {0, 1}})
    ->Threads(1)
    ->Threads(2)
    ->UseRealTime();

}  // namespace
}  // namespace cambium::bench
