// A compaction filter sees every key in the range of the request once, in any number of steps and during any sweep.
// Leaves in which it keeps everything are not rewritten.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tree_family.h"
#include "testing/seed.h"

namespace cambium::testing::filter_walk_test {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

std::string Key(std::uint64_t n) { return "key" + std::to_string(1'000'000 + n); }

class AskedFilter final : public ValueFilter {
 public:
  explicit AskedFilter(std::function<bool(const std::string&)> removes = nullptr) : removes_(std::move(removes)) {}
  Status Begin(std::uint32_t level, bool is_full) override {
    EXPECT_EQ(level, 1u);
    fulls.insert(is_full);
    last_.clear();
    return Status::OK();
  }
  Result<FilterVerdict> Ask(Slice key, const Entry& entry) override {
    EXPECT_NE(entry.kind, EntryKind::kTombstone);
    EXPECT_LT(last_, key.ToString()) << "keys ascend";
    last_ = key.ToString();
    ++asked[last_];
    FilterVerdict verdict;
    if (removes_ && removes_(last_)) {
      verdict.kind = FilterVerdict::Kind::kRemove;
      removed.push_back(last_);
    }
    return verdict;
  }
  FilterVerdict Pass(Slice /*key*/, const Entry& /*entry*/) override { return {}; }
  [[nodiscard]] std::uint64_t value_bytes() const override { return 0; }

  std::map<std::string, int> asked;
  std::set<bool> fulls;
  std::vector<std::string> removed;

 private:
  const std::function<bool(const std::string&)> removes_;
  std::string last_;
};

class FilterWalkTest : public ::testing::Test {
 protected:
  void Load(std::uint64_t keys) {
    for (std::uint64_t i = 0; i < keys; ++i) {
      i % 3 == 0 ? family_.PutInline(Key(i), "inline" + std::to_string(i)) : family_.Put(Key(i), 500);
    }
    ASSERT_TRUE(family_.FlushIntoTree().ok());
  }
  CompactionRequest Request() {
    CompactionRequest request;
    request.asks_filter = true;
    for (const auto& run : family_.layers().runs()) request.runs.push_back(run->number());
    return request;
  }
  // Runs the request to its end. Returns the number of steps.
  int CarryOut(CompactionRequest* request, AskedFilter* filter, std::uint64_t step_bytes) {
    int steps = 0;
    while (family_.index().IsCompactionDue(family_.layers(), request)) {
      const Status s = family_.Step(step_bytes, request, filter);
      EXPECT_TRUE(s.ok()) << s.ToString();
      if (!s.ok() || ++steps > 10'000) return steps;
    }
    for (const std::string& key : filter->removed) family_.Forget(key);
    const Status checked = family_.Check();
    EXPECT_TRUE(checked.ok()) << checked.ToString();
    return steps;
  }
  std::vector<PageId> Leaves() {
    const Result<TreeFacts> facts = family_.Walk();
    EXPECT_TRUE(facts.ok());
    return facts->leaf_ids;
  }

  TreeFamily family_{TreeFamilyOptions()};
};

TEST_F(FilterWalkTest, UnchangedLeavesAreKeptByAddress) {
  Load(3000);
  const std::vector<PageId> before = Leaves();
  for (const std::uint64_t step_bytes : {kAll, std::uint64_t{8192}, std::uint64_t{1}}) {
    AskedFilter filter;
    CompactionRequest request = Request();
    const int steps = CarryOut(&request, &filter, step_bytes);
    EXPECT_EQ(steps == 1, step_bytes == kAll);
    EXPECT_EQ(filter.asked.size(), 3000u);
    for (const auto& [key, times] : filter.asked) ASSERT_EQ(times, 1) << key;
    EXPECT_EQ(Leaves(), before);
    EXPECT_EQ(filter.fulls, std::set<bool>{true});
  }
}

TEST_F(FilterWalkTest, FilterIsAskedOnlyAboutTheRange) {
  Load(3000);
  AskedFilter filter;
  CompactionRequest request = Request();
  request.begin = Key(1000);
  request.end = Key(1999);
  CarryOut(&request, &filter, 4096);
  EXPECT_EQ(filter.asked.size(), 1000u);
  EXPECT_EQ(filter.asked.begin()->first, Key(1000));
  EXPECT_EQ(filter.asked.rbegin()->first, Key(1999));
  EXPECT_EQ(filter.fulls, std::set<bool>{false});
}

// Regression: if a leaf is rewritten only because its neighbour became too small, it gets into a new file, like leaves
// that were filtered. If a step ended at such a leaf, the next step skipped the leaf's keys, and the filter was never
// asked about them.
TEST_F(FilterWalkTest, FilterIsAskedAboutLeavesRewrittenWithANeighbour) {
  for (const std::uint64_t step_bytes : {std::uint64_t{1}, std::uint64_t{2000}, std::uint64_t{20'000}}) {
    Load(3000);
    CompactionRequest request = Request();
    family_.NoteFiltered();
    AskedFilter filter([](const std::string& key) { return key.back() != '7'; });
    CarryOut(&request, &filter, step_bytes);
    for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_EQ(filter.asked[Key(i)], 1) << i << " steps of " << step_bytes;
  }
}

// A walk takes the tree's keys on both sides of the cursor of a sweep in progress. The sweep continues unaffected.
TEST_F(FilterWalkTest, SweepInProgressIsUnaffected) {
  Load(3000);
  for (std::uint64_t i = 0; i < 3000; i += 5) family_.Put(Key(i), 700);
  ASSERT_TRUE(family_.FlushRun().ok());
  ASSERT_TRUE(family_.Step(20'000).ok());
  ASSERT_TRUE(family_.layers().parts().sweep.has_value());
  const SweepState before = *family_.layers().parts().sweep;
  CompactionRequest request = Request();
  request.runs.clear();
  AskedFilter filter([](const std::string& key) { return key.back() == '1'; });
  CarryOut(&request, &filter, 8192);
  EXPECT_EQ(filter.removed.size(), 300u);
  ASSERT_TRUE(family_.layers().parts().sweep.has_value());
  EXPECT_EQ(*family_.layers().parts().sweep, before);
  ASSERT_TRUE(family_.SweepAll().ok());
  const Status checked = family_.Check();
  EXPECT_TRUE(checked.ok()) << checked.ToString();
}

}  // namespace
}  // namespace cambium::testing::filter_walk_test
