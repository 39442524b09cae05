#include "index/merge_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "index/random_move.h"
#include "testing/key_less.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/still_cursor.h"
#include "util/prng.h"

namespace cambium {
namespace {

using testing::KeyLess;

struct KeyAndWord {
  std::string key;
  std::uint64_t word;  // 0: a tombstone
};

// A layer made from a list. Its keys are in a buffer that every move overwrites, because the page of a real cursor may
// be evicted when it moves. Can fail at the n-th move, and yields the list as it is, even if it is out of order.
class ListCursor final : public EntryCursor {
 public:
  ListCursor(const Comparator* comparator, std::vector<KeyAndWord> list, int moves_until_error = -1)
      : comparator_(comparator), list_(std::move(list)), moves_until_error_(moves_until_error) {}

  void SeekToFirst() override { MoveTo(0); }
  void SeekToLast() override { MoveTo(static_cast<std::ptrdiff_t>(list_.size()) - 1); }
  void Seek(Slice target) override { MoveTo(LowerBound(target)); }
  void SeekForPrev(Slice target) override {
    std::ptrdiff_t at = LowerBound(target);
    const bool equal = at < std::ssize(list_) && comparator_->Compare(list_[Index(at)].key, target) == 0;
    MoveTo(equal ? at : at - 1);
  }
  void Next() override {
    ASSERT_TRUE(Valid());
    MoveTo(at_ + 1);
  }
  void Prev() override {
    ASSERT_TRUE(Valid());
    MoveTo(at_ - 1);
  }
  bool Valid() const override { return status_.ok() && at_ >= 0 && at_ < std::ssize(list_); }
  Slice key() const override { return buffer_; }
  Entry entry() const override {
    const std::uint64_t word = list_[Index(at_)].word;
    return word == 0 ? Entry::Tombstone() : Entry::At(ValueAddress(std::uint64_t{1} << 60 | word));
  }
  Status status() const override { return status_; }

 private:
  static std::size_t Index(std::ptrdiff_t at) { return static_cast<std::size_t>(at); }
  std::ptrdiff_t LowerBound(Slice target) const {
    std::ptrdiff_t at = 0;
    while (at < std::ssize(list_) && comparator_->Compare(list_[Index(at)].key, target) < 0) ++at;
    return at;
  }
  void MoveTo(std::ptrdiff_t at) {
    std::fill(buffer_.begin(), buffer_.end(), '#');
    status_ = moves_until_error_ == 0 ? Status::IOError("medium error") : Status::OK();
    if (moves_until_error_ >= 0) --moves_until_error_;
    at_ = at;
    if (Valid()) buffer_ = list_[Index(at_)].key;
  }

  const Comparator* comparator_;
  std::vector<KeyAndWord> list_;
  int moves_until_error_;
  std::ptrdiff_t at_ = -1;
  std::string buffer_;
  Status status_;
};

MergeChild ListChild(std::vector<KeyAndWord> list, const char* name = "", int moves_until_error = -1) {
  MergeChild child(std::make_unique<ListCursor>(BytewiseComparator(), std::move(list), moves_until_error));
  child.name = name;
  return child;
}

std::string Show(Slice key, const Entry& entry) {
  const std::string word = std::to_string(entry.address.word() << 4 >> 4);
  return key.ToString() + "=" + (entry.kind == EntryKind::kTombstone ? "deleted" : word);
}

template <typename Merge>
std::string Rest(Merge* merge) {
  std::string text;
  for (; merge->Valid(); merge->Next()) text += Show(merge->key(), merge->entry()) + " ";
  return text;
}

std::vector<MergeChild> Children(MergeChild a) {
  std::vector<MergeChild> children;
  children.push_back(std::move(a));
  return children;
}
std::vector<MergeChild> Children(MergeChild a, MergeChild b) {
  std::vector<MergeChild> children = Children(std::move(a));
  children.push_back(std::move(b));
  return children;
}

TEST(MergeCursorTest, NewestOfEqualKeysWinsAndTombstonesAreYielded) {
  MergeCursor merge(BytewiseComparator(), Children(ListChild({{"b", 0}, {"d", 12}}),
                                                   ListChild({{"a", 21}, {"b", 22}, {"d", 24}, {"e", 25}})));
  EXPECT_FALSE(merge.Valid());
  merge.SeekToFirst();
  EXPECT_EQ(merge.source(), 1u);
  EXPECT_EQ(Rest(&merge), "a=21 b=deleted d=12 e=25 ");
  EXPECT_TRUE(merge.status().ok());
}

TEST(MergeCursorTest, MergeOfNoChildrenIsEmpty) {
  MergeCursor merge(BytewiseComparator(), {});
  merge.SeekToFirst();
  EXPECT_FALSE(merge.Valid());
  merge.SeekForPrev("x");
  EXPECT_FALSE(merge.Valid());
  EXPECT_TRUE(merge.status().ok());
}

TEST(MergeCursorTest, LentCursorIsNotDeleted) {
  ListCursor lent(BytewiseComparator(), {{"a", 1}});
  {
    MergeCursor merge(BytewiseComparator(), Children(MergeChild(&lent)));
    merge.SeekToFirst();
    EXPECT_EQ(Rest(&merge), "a=1 ");
  }
  lent.SeekToFirst();
  EXPECT_TRUE(lent.Valid());
}

// The tree already has the keys that a swept run has below the sweep's cursor, perhaps with newer addresses.
TEST(MergeCursorTest, KeysBelowTheSweepCursorAreHiddenInThatChildOnly) {
  MergeChild run = ListChild({{"a", 11}, {"b", 12}, {"c", 13}, {"d", 14}});
  run.first_visible = "c";
  MergeCursor merge(BytewiseComparator(), Children(std::move(run), ListChild({{"a", 21}, {"c", 23}})));
  merge.SeekToFirst();
  EXPECT_EQ(Rest(&merge), "a=21 c=13 d=14 ");
  merge.Seek("aa");
  EXPECT_EQ(merge.key(), Slice("c"));
  merge.Prev();
  ASSERT_TRUE(merge.Valid());
  EXPECT_EQ(Show(merge.key(), merge.entry()), "a=21");
  merge.SeekForPrev("b");
  ASSERT_TRUE(merge.Valid());
  EXPECT_EQ(merge.key(), Slice("a"));
  merge.SeekToLast();
  EXPECT_EQ(merge.key(), Slice("d"));
}

std::string DrawKey(Prng* prng) {
  std::string key;
  for (std::uint64_t n = prng->Uniform(4); n > 0; --n) key += static_cast<char>('a' + prng->Uniform(4));
  return key;
}

using Words = std::map<std::string, std::uint64_t, KeyLess>;

// Draws layers, some of them with a mask, and adds to *shown what lookups find in them, from the newest to the oldest.
std::vector<MergeChild> DrawLayers(const Comparator* comparator, Prng* prng, Words* shown) {
  std::vector<MergeChild> children;
  const std::uint64_t layers = prng->Uniform(13);
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    Words entries(KeyLess{comparator});
    for (std::uint64_t n = prng->Skewed(6); n > 0; --n) {
      entries[DrawKey(prng)] = prng->OneIn(4) ? 0 : (layer + 1) * 1000 + n;
    }
    std::vector<KeyAndWord> list;
    for (const auto& [key, word] : entries) list.push_back({key, word});
    MergeChild child(std::make_unique<ListCursor>(comparator, list));
    if (prng->OneIn(3)) child.first_visible = DrawKey(prng);
    for (const auto& [key, word] : list) {
      // Newest first, so that the first entry of a key is kept.
      if (!child.first_visible || comparator->Compare(key, *child.first_visible) >= 0) shown->emplace(key, word);
    }
    children.push_back(std::move(child));
  }
  return children;
}

// Moves a cursor in every way over random layers and masks, under both orders. Compares each answer with lookups in the
// layers.
TEST(MergeCursorTest, AgreesWithLookupsInTheLayers) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x3e6);
  Prng prng(seed);
  for (std::uint64_t round = 0; round < testing::ScaledCount(400); ++round) {
    const Comparator* comparator = prng.OneIn(2) ? BytewiseComparator() : ReverseBytewiseComparator();
    Words shown(KeyLess{comparator});
    MergeCursor merge(comparator, DrawLayers(comparator, &prng, &shown));
    std::vector<std::string> all;
    std::vector<std::string> keys;
    for (const auto& [key, word] : shown) {
      keys.push_back(key);
      all.push_back(key + "=" + (word == 0 ? "deleted" : std::to_string(word)));
    }
    std::ptrdiff_t at = -1;
    for (int move = 0; move < 200; ++move) {
      const bool valid = at >= 0 && at < std::ssize(all);
      ASSERT_EQ(merge.Valid(), valid);
      if (valid) {
        ASSERT_EQ(Show(merge.key(), merge.entry()), all[static_cast<std::size_t>(at)]);
      }
      testing::MoveAtRandom(&merge, keys, comparator, DrawKey(&prng), &prng, &at);
      ASSERT_TRUE(merge.status().ok());
    }
  }
}

// If any move of any child fails, in any situation, the merge becomes invalid with that error, instead of just ending
// early. A new seek may succeed.
TEST(MergeCursorTest, ChildErrorAtAnyMoveFailsTheMerge) {
  for (int failing_child = 0; failing_child < 2; ++failing_child) {
    for (int moves = 0; moves < 8; ++moves) {
      SCOPED_TRACE(std::to_string(failing_child) + " fails after " + std::to_string(moves));
      MergeCursor merge(BytewiseComparator(),
                        Children(ListChild({{"a", 1}, {"c", 1}}, "new.run", failing_child == 0 ? moves : -1),
                                 ListChild({{"a", 2}, {"b", 2}, {"d", 2}}, "old.run",
                                           failing_child == 1 ? moves : -1)));
      merge.SeekToFirst();
      for (int i = 0; i < 2 && merge.Valid(); ++i) merge.Next();
      for (int i = 0; i < 2 && merge.Valid(); ++i) merge.Prev();
      while (merge.Valid()) merge.Next();
      if (merge.status().ok()) {
        EXPECT_GT(moves, 3);  // the failing move was not reached
        continue;
      }
      EXPECT_TRUE(merge.status().IsIOError());
      EXPECT_NE(merge.status().ToString().find(failing_child == 0 ? "new.run: medium" : "old.run: medium"),
                std::string::npos)
          << merge.status().ToString();
      merge.SeekToFirst();
      EXPECT_TRUE(merge.status().ok());
      EXPECT_EQ(Rest(&merge), "a=1 b=2 c=1 d=2 ");
    }
  }
}

// Rule A8: if a run is out of order (undetected damage, or another order under the comparator's name), a merge would
// lose keys. The merge must report the disorder in both directions, and it must report repeated keys too.
bool SeesDisorder(const std::vector<KeyAndWord>& list, bool forward) {
  MergeCursor merge(BytewiseComparator(),
                    Children(ListChild({{"b", 1}, {"x", 1}}), ListChild(list, "000012.run")));
  forward ? merge.SeekToFirst() : merge.SeekToLast();
  while (merge.Valid()) forward ? merge.Next() : merge.Prev();
  if (merge.status().ok()) return false;
  EXPECT_TRUE(merge.status().IsCorruption());
  EXPECT_NE(merge.status().ToString().find("000012.run"), std::string::npos);
  return true;
}

TEST(MergeCursorTest, KeysOutOfOrderAreCorruption) {
  for (const bool forward : {true, false}) {
    EXPECT_FALSE(SeesDisorder({{"a", 2}, {"c", 2}, {"d", 2}}, forward));
    EXPECT_TRUE(SeesDisorder({{"a", 2}, {"d", 2}, {"c", 2}}, forward));
    EXPECT_TRUE(SeesDisorder({{"a", 2}, {"c", 2}, {"c", 2}}, forward));
    testing::MutantScope mutant(Mutant::kSkipOrderCheck);
    EXPECT_FALSE(SeesDisorder({{"a", 2}, {"d", 2}, {"c", 2}}, forward));
  }
}

TEST(MergeCursorTest, SeekResultOnTheWrongSideIsCorruption) {
  // Stays at "m", whatever is sought.
  class Stubborn final : public testing::StillCursor {
   public:
    Slice key() const override { return "m"; }
    Entry entry() const override { return Entry::Tombstone(); }
  };
  MergeCursor merge(BytewiseComparator(), Children(MergeChild(std::make_unique<Stubborn>())));
  merge.Seek("m");
  EXPECT_TRUE(merge.Valid());
  merge.Seek("n");
  EXPECT_FALSE(merge.Valid());
  EXPECT_TRUE(merge.status().IsCorruption());
  merge.SeekForPrev("l");
  EXPECT_TRUE(merge.status().IsCorruption());
  merge.SeekForPrev("m");
  EXPECT_TRUE(merge.Valid());
  merge.Prev();
  EXPECT_TRUE(merge.status().IsCorruption());
}

TEST(LayerMergeTest, NextReportsHiddenEntriesOfTheKeyItLeaves) {
  std::vector<std::string> dropped;
  std::vector<MergeChild> children;
  children.push_back(ListChild({{"a", 0}, {"c", 13}}));
  children.push_back(ListChild({{"a", 21}, {"b", 22}}));
  children.push_back(ListChild({{"a", 31}, {"b", 0}, {"c", 33}}));
  children[2].first_visible = "b";  // its "a" is not dropped now: an earlier step has merged it
  LayerMerge merge(BytewiseComparator(), std::move(children), [&](std::size_t child, Slice key, const Entry& entry) {
    dropped.push_back(std::to_string(child) + " " + Show(key, entry));
  });
  merge.SeekToFirst();
  EXPECT_TRUE(dropped.empty());
  EXPECT_EQ(Show(merge.key(), merge.entry()), "a=deleted");
  merge.Next();
  EXPECT_EQ(dropped, std::vector<std::string>({"1 a=21"}));
  EXPECT_EQ(merge.source(), 1u);
  merge.Next();
  EXPECT_EQ(dropped, std::vector<std::string>({"1 a=21", "2 b=deleted"}));
  EXPECT_EQ(Show(merge.key(), merge.entry()), "c=13");
  merge.Next();
  EXPECT_EQ(dropped, std::vector<std::string>({"1 a=21", "2 b=deleted", "2 c=33"}));
  EXPECT_FALSE(merge.Valid());
  EXPECT_TRUE(merge.status().ok());
}

// Dropped entries change the accounts, so no reference may be lost or counted twice: each visible entry of each layer
// is either yielded or reported, exactly once, even if the merge continues from a key with a new Seek.
TEST(LayerMergeTest, EveryEntryIsYieldedOrReportedExactlyOnce) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x1a7e6);
  Prng prng(seed);
  for (std::uint64_t round = 0; round < testing::ScaledCount(300); ++round) {
    std::map<std::uint64_t, int> seen;  // by word; words are unique
    std::uint64_t word = 0;
    std::vector<std::vector<KeyAndWord>> lists(1 + prng.Uniform(12));
    for (auto& list : lists) {
      std::map<std::string, std::uint64_t> entries;
      for (std::uint64_t n = prng.Skewed(6); n > 0; --n) entries.emplace(std::to_string(prng.Uniform(60)), 0);
      for (auto& [key, its_word] : entries) {
        list.push_back({key, ++word});
        seen[word] = 0;
      }
    }
    std::string from;
    bool done = false;
    while (!done) {
      std::vector<MergeChild> children;
      for (const auto& list : lists) {
        children.push_back(ListChild(list));
        if (!from.empty()) children.back().first_visible = from;
      }
      const auto see = [&](const Entry& entry) { ++seen[entry.address.word() << 4 >> 4]; };
      LayerMerge merge(BytewiseComparator(), std::move(children),
                       [&](std::size_t, Slice, const Entry& entry) { see(entry); });
      merge.SeekToFirst();
      for (std::uint64_t steps = 1 + prng.Uniform(30); steps > 0 && merge.Valid(); --steps) {
        see(merge.entry());
        merge.Next();
      }
      ASSERT_TRUE(merge.status().ok());
      done = !merge.Valid();
      if (!done) from = merge.key().ToString();
    }
    for (const auto& [its_word, times] : seen) ASSERT_EQ(times, 1) << its_word;
  }
}

}  // namespace
}  // namespace cambium
