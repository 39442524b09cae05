// Finding, pinning and releasing a page that is in the pool.
#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

#include "heap_tree.h"
#include "prepared.h"
#include "require.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kVisits = 1 << 18;

// Random leaves of a tree, with their pointers and their places in their branches.
struct PoolVisits {
  explicit PoolVisits(std::uint64_t keys) : tree(keys), branches(tree.LowestBranches()) {
    Prng prng(7);
    visits.reserve(kVisits);
    for (std::size_t i = 0; i < kVisits; ++i) {
      Visit visit;
      visit.branch = static_cast<std::uint32_t>(prng.Uniform(branches.size()));
      visit.child = static_cast<std::uint32_t>(prng.Uniform(branches[visit.branch]->count()));
      visit.leaf = branches[visit.branch]->child_pointer(visit.child);
      visits.push_back(visit);
    }
  }
  struct Visit {
    std::uint32_t branch = 0;
    std::uint32_t child = 0;
    PagePointer leaf;
  };

  HeapTree tree;
  std::vector<PageRef> branches;
  std::vector<Visit> visits;
};

// Returns the first visit of a thread. Each thread makes all visits, from another start on.
std::size_t FirstVisit(const benchmark::State& state) {
  return kVisits / static_cast<std::size_t>(state.threads()) * static_cast<std::size_t>(state.thread_index());
}

void PagePoolGet(benchmark::State& state) {
  PoolVisits& pool = Prepared<PoolVisits>(state.range(0));
  std::size_t i = FirstVisit(state);
  for (auto _ : state) {
    const PageRef page = Require(pool.tree.pool()->Get(pool.tree.files(), pool.visits[i++ % kVisits].leaf));
    bool is_leaf = page->is_leaf();
    benchmark::DoNotOptimize(is_leaf);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PagePoolGet)->ArgName("keys")->Arg(10'000)->Arg(1'000'000)->Threads(1)->Threads(2)->UseRealTime();

// Gets pages as a descent does, with prefetches.
void PagePoolGetChild(benchmark::State& state) {
  PoolVisits& pool = Prepared<PoolVisits>(state.range(0));
  std::size_t i = FirstVisit(state);
  for (auto _ : state) {
    const PoolVisits::Visit& visit = pool.visits[i++ % kVisits];
    const PageRef& branch = pool.branches[visit.branch];
    const PageRef page = Require(pool.tree.pool()->GetChild(pool.tree.files(), branch, visit.child, 0));
    bool is_leaf = page->is_leaf();
    benchmark::DoNotOptimize(is_leaf);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PagePoolGetChild)->ArgName("keys")->Arg(10'000)->Arg(1'000'000)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace cambium::bench
