// A search in one page that is in the cache: the cost of a lookup per level, without any wait.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "heap_run.h"
#include "index/page_builder.h"
#include "key_list.h"
#include "prepared.h"
#include "require.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kLookUps = 1 << 16;  // more than branch prediction can learn

enum class PageKind : unsigned char { kLeaf, kInlineLeaf, kBranch };

// A full page of 4 KiB, and keys to look up: present ones, or ones between them.
class SearchPage {
 public:
  SearchPage(PageKind kind, bool hit)
      : keys_(kind == PageKind::kBranch ? FillBranch() : FillLeaf(kind == PageKind::kInlineLeaf)),
        page(Require(PageView::Parse({bytes_.data(), bytes_.size()}, "page", 0))),
        look_ups(Draw(keys_, hit)) {}

 private:
  static KeyList Draw(std::uint64_t keys, bool hit) {
    Prng prng(kLookUpSeed);
    std::vector<std::uint64_t> ids(kLookUps);
    for (std::uint64_t& id : ids) id = hit ? PresentId(prng.Uniform(keys)) : AbsentId(prng.Uniform(keys));
    return KeyList(ids);
  }

  std::uint64_t FillLeaf(bool is_inline) {
    LeafBuilder builder(BytewiseComparator(), {});
    KeyBuffer key(kKeySize);
    const std::string value(100, 'v');
    for (std::uint64_t i = 0;; ++i) {
      const Slice bytes = key.Make(PresentId(i));
      const Entry entry = is_inline ? Entry::Inline(value) : EntryOf(i);
      if (!builder.Fits(bytes, entry)) break;
      Require(builder.Add(bytes, entry));
    }
    const std::uint64_t count = builder.count();
    std::string bytes;
    builder.Finish(MakePageId(1, 1, 1), 0, &bytes);
    return Keep(bytes, count);
  }

  std::uint64_t FillBranch() {
    BranchBuilder builder(BytewiseComparator(), {}, 1);
    KeyBuffer key(kKeySize);
    for (std::uint64_t i = 0;; ++i) {
      const Slice bytes = key.Make(PresentId(i));
      const ChildRef child{{MakePageId(1, i + 2, 1), i}, 100, 100};
      if (!builder.Fits(bytes, child)) break;
      Require(builder.Add(bytes, child));
    }
    const std::uint64_t count = builder.count();
    std::string bytes;
    builder.Finish(MakePageId(1, 1, 1), 0, nullptr, &bytes);
    return Keep(bytes, count);
  }

  std::uint64_t Keep(const std::string& page_bytes, std::uint64_t count) {
    Require(page_bytes.size() == bytes_.size(), "a page has another size than one unit");
    std::ranges::copy(page_bytes, bytes_.begin());
    return count;
  }

  alignas(64) std::array<char, 4096> bytes_;  // at a cache line, as in the pool
  const std::uint64_t keys_;

 public:
  const PageView page;
  const KeyList look_ups;
};

void SearchLeaf(benchmark::State& state, PageKind kind) {
  const bool hit = state.range(0) != 0;
  const SearchPage& search = Prepared<SearchPage>(kind, hit);
  const KeyOrder order(BytewiseComparator());
  KeyWheel keys(search.look_ups);
  bool equal = false;
  for (auto _ : state) {
    std::uint32_t at = search.page.LowerBound(keys.Next(), order, &equal);
    benchmark::DoNotOptimize(at);
    Require(equal == hit, "a leaf answers wrongly");
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["keys"] = search.page.key_count();
}
void PageSearchLeaf(benchmark::State& state) { SearchLeaf(state, PageKind::kLeaf); }
void PageSearchInlineLeaf(benchmark::State& state) { SearchLeaf(state, PageKind::kInlineLeaf); }
BENCHMARK(PageSearchLeaf)->ArgName("hit")->Arg(0)->Arg(1);
BENCHMARK(PageSearchInlineLeaf)->ArgName("hit")->Arg(0)->Arg(1);

// In a branch a hit is a key that separates two children.
void PageSearchBranch(benchmark::State& state) {
  const SearchPage& search = Prepared<SearchPage>(PageKind::kBranch, state.range(0) != 0);
  const KeyOrder order(BytewiseComparator());
  KeyWheel keys(search.look_ups);
  for (auto _ : state) {
    std::uint32_t child = search.page.ChildFor(keys.Next(), order);
    benchmark::DoNotOptimize(child);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["keys"] = search.page.key_count();
}
BENCHMARK(PageSearchBranch)->ArgName("hit")->Arg(0)->Arg(1);

}  // namespace
}  // namespace cambium::bench
