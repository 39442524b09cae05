#include "btree/tree_rebuilder.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/mutant_scope.h"

namespace cambium {
namespace {

// Keeps only the sizes of pages.
class CountingSink final : public PageSink {
 public:
  Result<Place> Reserve(unsigned units) override {
    const PageId id = MakePageId(9, next_unit_, units);
    next_unit_ += units;
    return Place{id, 42};
  }
  Status Append(PagePointer page, Slice bytes) override {
    pages.push_back(page.id);
    EXPECT_EQ(bytes.size(), UnitsOf(page.id) * 512u);
    return Status::OK();
  }
  std::vector<PageId> pages;

 private:
  std::uint64_t next_unit_ = 1;
};

std::string Key(int n) {
  std::string text = std::to_string(n);
  return std::string(8 - text.size(), '0') + text;
}

ChildRef OldSubtree(std::uint64_t unit) { return {{MakePageId(5, unit, 1), unit * 17}, 100, 1000}; }

class TreeRebuilderTest : public ::testing::Test {
 protected:
  Status Add(const std::string& key) { return tree_.Add(key, Entry::Inline("v")); }
  bool CanGraft(unsigned level) {
    const Result<bool> can = tree_.CanGraft(level);
    EXPECT_TRUE(can.ok());
    return can.ok() && *can;
  }

  CountingSink sink_;
  TreeRebuilder tree_{&sink_, BytewiseComparator(), {512, 95}};
};

TEST_F(TreeRebuilderTest, NoEntriesMakeAnEmptyTree) {
  const Result<TreeRoot> root = tree_.Finish();
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(*root, TreeRoot{});
  EXPECT_TRUE(sink_.pages.empty());
}

TEST_F(TreeRebuilderTest, SingleSubtreeBecomesTheRootWithoutAWrite) {
  ASSERT_TRUE(CanGraft(2));
  ASSERT_TRUE(tree_.Graft(OldSubtree(3), 2, nullptr, nullptr).ok());
  const Result<TreeRoot> root = tree_.Finish();
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->page, OldSubtree(3).page);
  EXPECT_EQ(root->height, 3u);
  EXPECT_EQ(root->entry_count, 100u);
  EXPECT_TRUE(sink_.pages.empty());
}

TEST_F(TreeRebuilderTest, SparseLeafNeedsItsNeighbour) {
  ASSERT_TRUE(Add(Key(1)).ok());
  EXPECT_FALSE(CanGraft(0));
  int n = 2;
  while (!CanGraft(0)) ASSERT_TRUE(Add(Key(n++)).ok());
  EXPECT_GT(n, 15);  // so many keys fill two thirds of 512 bytes
  ASSERT_EQ(sink_.pages.size(), 1u);
  const std::string key = Key(n);
  const Slice lower(key);
  ASSERT_TRUE(tree_.Graft(OldSubtree(3), 0, &lower, nullptr).ok());
  const Result<TreeRoot> root = tree_.Finish();
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->height, 2u);
  EXPECT_EQ(root->entry_count, 100u + static_cast<std::uint64_t>(n) - 1);
}

// Full leaves plus one key: a greedy builder would make a leaf of one key, or rewrite all of them.
TEST_F(TreeRebuilderTest, OneKeyTooManyIsRedistributed) {
  for (int leaves = 2; leaves < 6; ++leaves) {
    CountingSink sink;
    TreeRebuilder tree(&sink, BytewiseComparator(), {512, 95});
    LeafBuilder probe(BytewiseComparator(), {512, 95});
    int n = 0;
    for (int leaf = 0; leaf < leaves;) {
      if (!probe.Fits(Key(n), Entry::Inline("v"))) {
        ++leaf;
        probe = LeafBuilder(BytewiseComparator(), {512, 95});
      }
      ASSERT_TRUE(probe.Add(Key(n), Entry::Inline("v")).ok());
      ASSERT_TRUE(tree.Add(Key(n), Entry::Inline("v")).ok());
      ++n;
    }
    const Result<bool> can = tree.CanGraft(0);
    ASSERT_TRUE(can.ok());
    EXPECT_TRUE(*can) << leaves;
    EXPECT_LE(sink.pages.size(), static_cast<std::size_t>(leaves) + 1);
  }
}

TEST_F(TreeRebuilderTest, KeysOutOfOrderAreCorruption) {
  const auto add_backward = [] {
    CountingSink sink;
    TreeRebuilder tree(&sink, BytewiseComparator(), {512, 95});
    EXPECT_TRUE(tree.Add("b", Entry::Inline("v")).ok());
    return tree.Add("a", Entry::Inline("v"));
  };
  const auto graft_below = [] {
    CountingSink sink;
    TreeRebuilder tree(&sink, BytewiseComparator(), {512, 95});
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(tree.Add(Key(i), Entry::Inline("v")).ok());
    const Result<bool> can = tree.CanGraft(0);
    EXPECT_TRUE(can.ok() && *can);
    const std::string key = Key(19);
    const Slice lower(key);
    return tree.Graft(OldSubtree(3), 0, &lower, nullptr);
  };
  const auto add_into_subtree = [] {
    CountingSink sink;
    TreeRebuilder tree(&sink, BytewiseComparator(), {512, 95});
    const Slice upper("m");
    EXPECT_TRUE(tree.Graft(OldSubtree(3), 0, nullptr, &upper).ok());
    return tree.Add("k", Entry::Inline("v"));
  };
  const auto add_after_the_end = [] {
    CountingSink sink;
    TreeRebuilder tree(&sink, BytewiseComparator(), {512, 95});
    EXPECT_TRUE(tree.Graft(OldSubtree(3), 0, nullptr, nullptr).ok());
    return tree.Add("k", Entry::Inline("v"));
  };
  for (const std::function<Status()>& wrong :
       {std::function<Status()>(add_backward), std::function<Status()>(graft_below),
        std::function<Status()>(add_into_subtree), std::function<Status()>(add_after_the_end)}) {
    EXPECT_TRUE(wrong().IsCorruption()) << wrong().ToString();
    testing::MutantScope mutant(Mutant::kSkipOrderCheck);
    EXPECT_TRUE(wrong().ok()) << "the mutant does not check";
  }
}

TEST_F(TreeRebuilderTest, ReversedBoundsOfASubtreeAreCorruption) {
  const Slice first("f");
  ASSERT_TRUE(tree_.Graft(OldSubtree(2), 0, nullptr, &first).ok());
  const Slice lower("h");
  const Slice upper("g");
  EXPECT_TRUE(tree_.Graft(OldSubtree(3), 0, &lower, &upper).IsCorruption());
}

TEST_F(TreeRebuilderTest, KeyMayEqualTheUpperBoundOfThePreviousSubtree) {
  const Slice upper("m");
  ASSERT_TRUE(tree_.Graft(OldSubtree(3), 0, nullptr, &upper).ok());
  EXPECT_TRUE(Add("m").ok());
  const Result<TreeRoot> root = tree_.Finish();
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->entry_count, 101u);
}

TEST_F(TreeRebuilderTest, TreeHasAtMostSixteenLevels) {
  constexpr unsigned kTop = kMaxTreeHeight - 1;
  const Slice upper("m");
  ASSERT_TRUE(CanGraft(kTop));
  ASSERT_TRUE(tree_.Graft(OldSubtree(3), kTop, nullptr, &upper).ok());
  {
    TreeRebuilder alone(&sink_, BytewiseComparator(), {512, 95});
    ASSERT_TRUE(alone.Graft(OldSubtree(3), kTop, nullptr, nullptr).ok());
    EXPECT_EQ(alone.Finish()->height, kMaxTreeHeight) << "the subtree itself is the root";
  }
  ASSERT_TRUE(tree_.Graft(OldSubtree(4), kTop, &upper, nullptr).ok());
  EXPECT_TRUE(tree_.Finish().status().IsNotSupported()) << "joining them takes a seventeenth level";
}

}  // namespace
}  // namespace cambium
