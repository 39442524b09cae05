// The filters that save lookups, one cache line each: those of runs and those of the trees' branches.
#include <benchmark/benchmark.h>

#include <vector>

#include "heap_tree.h"
#include "index/branch_filter.h"
#include "index/filter.h"
#include "key_list.h"
#include "prepared.h"
#include "require.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kProbes = 1 << 18;

// The hash of a key, computed once for all layers of a lookup.
void FilterHashOfKey(benchmark::State& state) {
  const KeyList key_list = KeyList::Shuffled(1024, kLookUpSeed);
  KeyWheel keys(key_list);
  for (auto _ : state) {
    std::uint64_t hash = FilterHash(keys.Next());
    benchmark::DoNotOptimize(hash);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(FilterHashOfKey);

// The branch filters of a tree, and for each probe the filter of the branch above the key, as a descent finds it. So an
// existing key is in the filter that is probed.
struct BranchProbes {
  BranchProbes(std::uint64_t keys, bool hit) : tree(keys), branches(tree.LowestBranches()) {
    Prng prng(kLookUpSeed);
    KeyBuffer key(kKeySize);
    // Branches have about the same number of keys, which ascend from one to the next.
    std::vector<std::uint64_t> first{0};
    for (const PageRef& branch : branches) {
      Require(branch->filter().count > 0, "a branch without a filter");
      first.push_back(first.back() + branch->entry_count());
    }
    probes.reserve(kProbes);
    for (std::size_t i = 0; i < kProbes; ++i) {
      const std::size_t branch = prng.Uniform(branches.size());
      const std::uint64_t n = first[branch] + prng.Uniform(first[branch + 1] - first[branch]);
      probes.push_back({&branches[branch]->filter(), FilterHash(key.Make(hit ? PresentId(n) : AbsentId(n)))});
    }
  }
  struct Probe {
    const BranchFilter* filter;
    std::uint64_t hash;
  };

  HeapTree tree;
  std::vector<PageRef> branches;
  std::vector<Probe> probes;
};

void BranchFilterProbe(benchmark::State& state) {
  const bool hit = state.range(1) != 0;
  const auto& probes = Prepared<BranchProbes>(state.range(0), hit).probes;
  std::size_t i = 0;
  std::int64_t yes = 0;
  for (auto _ : state) {
    const BranchProbes::Probe& probe = probes[i++ % kProbes];
    yes += probe.filter->MayContain(probe.hash) ? 1 : 0;
  }
  Require(!hit || yes == state.iterations(), "a filter denies a key that it contains");
  state.SetItemsProcessed(state.iterations());
  state.counters["yes"] = static_cast<double>(yes) / static_cast<double>(state.iterations());
}
BENCHMARK(BranchFilterProbe)->ArgNames({"keys", "hit"})->ArgsProduct({{10'000, 1'000'000}, {0, 1}});

}  // namespace
}  // namespace cambium::bench
