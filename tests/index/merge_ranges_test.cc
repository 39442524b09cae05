// Merges of layers with range deletes: the position of a layer decides what it hides. This holds in both directions,
// with and without masks.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "index/merge_cursor.h"
#include "testing/key_less.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/prng.h"

namespace cambium::merge_ranges_test {
namespace {

using testing::KeyLess;

using Points = std::map<std::string, std::uint64_t, KeyLess>;  // 0: a tombstone

// Yields a map, and counts its moves. Can fail at the n-th move.
class PointCursor final : public EntryCursor {
 public:
  PointCursor(Points points, int* moves, int moves_until_error = -1)
      : points_(std::move(points)), at_(points_.end()), moves_(moves), moves_until_error_(moves_until_error) {}
  void SeekToFirst() override { Stand(points_.begin()); }
  void SeekToLast() override { Stand(points_.empty() ? points_.end() : std::prev(points_.end())); }
  void Seek(Slice target) override { Stand(points_.lower_bound(target.ToString())); }
  void SeekForPrev(Slice target) override { Stand(Before(points_.upper_bound(target.ToString()))); }
  void Next() override { Stand(std::next(at_)); }
  void Prev() override { Stand(Before(at_)); }
  [[nodiscard]] bool Valid() const override { return status_.ok() && at_ != points_.end(); }
  [[nodiscard]] Slice key() const override { return at_->first; }
  [[nodiscard]] Entry entry() const override {
    return at_->second == 0 ? Entry::Tombstone() : Entry::At(ValueAddress(std::uint64_t{1} << 60 | at_->second));
  }
  [[nodiscard]] Status status() const override { return status_; }

 private:
  Points::const_iterator Before(Points::const_iterator at) const {
    return at == points_.begin() ? points_.end() : std::prev(at);
  }
  void Stand(Points::const_iterator at) {
    at_ = at;
    if (moves_ != nullptr) ++*moves_;
    status_ = moves_until_error_ == 0 ? Status::IOError("medium error") : Status::OK();
    if (moves_until_error_ >= 0) --moves_until_error_;
  }
  const Points points_;
  Points::const_iterator at_;
  int* const moves_;
  int moves_until_error_;
  Status status_;
};

struct Layer {
  Points points;
  std::vector<std::pair<std::string, std::string>> ranges;
  std::optional<std::string> first_visible;
};

Layer MakeLayer(std::vector<std::pair<std::string, std::uint64_t>> points,
                std::vector<std::pair<std::string, std::string>> ranges = {},
                std::optional<std::string> first_visible = std::nullopt) {
  Layer layer{Points(KeyLess{BytewiseComparator()}), std::move(ranges), std::move(first_visible)};
  for (auto& [key, word] : points) layer.points[key] = word;
  return layer;
}

std::vector<MergeChild> Children(const Comparator* comparator, const std::vector<Layer>& layers,
                                 std::vector<int>* moves = nullptr) {
  std::vector<MergeChild> children;
  if (moves != nullptr) moves->assign(layers.size(), 0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    MergeChild child(std::make_unique<PointCursor>(layer.points, moves == nullptr ? nullptr : &(*moves)[i]));
    child.name = "layer " + std::to_string(i);
    child.first_visible = layer.first_visible;
    std::vector<RangeDeletes::Range> ranges;
    for (const auto& [begin, end] : layer.ranges) ranges.push_back({begin, end});
    if (!ranges.empty()) child.ranges = std::make_shared<const RangeDeletes>(comparator, ranges);
    children.push_back(std::move(child));
  }
  return children;
}

template <typename Merge>
std::string Rest(Merge* merge) {
  std::string text;
  for (; merge->Valid(); merge->Next()) {
    text += merge->key().ToString() + std::to_string(merge->source()) + " ";
  }
  return text;
}
std::string Merged(const std::vector<Layer>& layers) {
  MergeCursor merge(BytewiseComparator(), Children(BytewiseComparator(), layers));
  merge.SeekToFirst();
  std::string text = Rest(&merge);
  EXPECT_TRUE(merge.status().ok());
  return text;
}

TEST(MergeRangesTest, RangesHideOnlyOlderLayers) {
  const std::vector<Layer> layers = {MakeLayer({{"c", 1}}), MakeLayer({{"b", 2}, {"e", 2}}, {{"b", "f"}}),
                                     MakeLayer({{"a", 3}, {"d", 3}, {"e", 3}, {"f", 3}})};
  EXPECT_EQ(Merged(layers), "a2 b1 c0 e1 f2 ");
  const testing::MutantScope mutant(Mutant::kOldRangesHideNewer);
  EXPECT_NE(Merged(layers), "a2 b1 c0 e1 f2 ");
}

// Rule A4, A7: a sweep has merged everything below its cursor into the tree, also keys that are newer than the range.
TEST(MergeRangesTest, RangesBelowTheSweepCursorAreMasked) {
  const std::vector<Layer> layers = {MakeLayer({{"x", 1}}, {{"a", "z"}}, "m"), MakeLayer({{"b", 2}, {"n", 2}})};
  EXPECT_EQ(Merged(layers), "b1 x0 ");
  const testing::MutantScope mutant(Mutant::kRangesIgnoreSweepCursor);
  EXPECT_EQ(Merged(layers), "x0 ");
}

TEST(MergeRangesTest, WideRangeIsSkippedBySeekInBothDirections) {
  std::vector<std::pair<std::string, std::uint64_t>> many;
  for (int i = 0; i < 10000; ++i) many.emplace_back("k" + std::to_string(10000 + i), 1);
  const std::vector<Layer> layers = {MakeLayer({}, {{"k10001", "k19999"}}), MakeLayer(many)};
  std::vector<int> moves;
  MergeCursor merge(BytewiseComparator(), Children(BytewiseComparator(), layers, &moves));
  merge.SeekToFirst();
  EXPECT_EQ(Rest(&merge), "k100001 k199991 ");
  EXPECT_LT(moves[1], 30);
  moves[1] = 0;
  merge.SeekToLast();
  ASSERT_TRUE(merge.Valid());
  merge.Prev();
  ASSERT_TRUE(merge.Valid());
  EXPECT_EQ(merge.key(), Slice("k10000"));
  EXPECT_LT(moves[1], 30);
}

TEST(LayerMergeRangesTest, CoveredEntriesBeforeTheCurrentKeyAreReported) {
  const std::vector<Layer> layers = {MakeLayer({{"d", 1}}, {{"b", "f"}}),
                                     MakeLayer({{"a", 2}, {"b", 2}, {"c", 2}, {"d", 2}, {"e", 2}, {"g", 2}}),
                                     MakeLayer({{"c", 3}, {"g", 3}})};
  std::string reported;
  LayerMerge merge(BytewiseComparator(), Children(BytewiseComparator(), layers),
                   [&](std::size_t child, Slice key, const Entry&) {
                     reported += key.ToString() + std::to_string(child) + " ";
                   });
  std::string kept;
  for (merge.SeekToFirst(); merge.Valid(); merge.Next()) {
    kept += merge.key().ToString() + std::to_string(merge.source()) + " ";
    if (merge.key() == Slice("d")) {
      EXPECT_EQ(reported, "b1 c1 c2 ");
    }
    if (merge.key() == Slice("g")) {
      EXPECT_EQ(reported, "b1 c1 c2 d1 e1 ");
    }
  }
  EXPECT_EQ(kept, "a1 d0 g1 ");
  EXPECT_EQ(reported, "b1 c1 c2 d1 e1 g2 ");
}

TEST(LayerMergeRangesTest, CoveredKeysAreYieldedOnRequest) {
  const std::vector<Layer> layers = {MakeLayer({}, {{"b", "d"}}), MakeLayer({{"a", 2}, {"b", 2}, {"c", 2}, {"e", 2}})};
  std::string reported;
  LayerMerge merge(BytewiseComparator(), Children(BytewiseComparator(), layers),
                   [&](std::size_t, Slice key, const Entry&) { reported += key.ToString(); },
                   LayerMerge::Covered::kYield);
  std::string seen;
  for (merge.SeekToFirst(); merge.Valid(); merge.Next()) {
    if (merge.key() == Slice("c")) {
      EXPECT_EQ(reported, "b");  // no entry of the current key
    }
    seen += merge.key().ToString() + (merge.is_covered() ? "! " : " ");
  }
  EXPECT_EQ(seen, "a b! c! e ");
  EXPECT_EQ(reported, "bc");
}

TEST(MergeRangesTest, ErrorWhileSkippingARangeFailsTheMerge) {
  for (int until_error = 0; until_error < 14; ++until_error) {
    for (const bool forward : {true, false}) {
      Points points(KeyLess{BytewiseComparator()});
      for (char c = 'a'; c <= 'z'; ++c) points[std::string(1, c)] = 1;
      std::vector<MergeChild> children = Children(BytewiseComparator(), {MakeLayer({}, {{"b", "z"}})});
      children.emplace_back(std::make_unique<PointCursor>(points, nullptr, until_error));
      MergeCursor merge(BytewiseComparator(), std::move(children));
      std::string seen;
      if (forward) {
        for (merge.SeekToFirst(); merge.Valid(); merge.Next()) seen += merge.key().ToString();
      } else {
        for (merge.SeekToLast(); merge.Valid(); merge.Prev()) seen += merge.key().ToString();
      }
      if (merge.status().ok()) {
        EXPECT_EQ(seen, forward ? "az" : "za");
        EXPECT_GT(until_error, 8);
      } else {
        EXPECT_TRUE(merge.status().IsIOError());
      }
    }
  }
}

// Moves a cursor in every way over random layers with points, ranges and masks, under several orders. Also checks which
// entries a new layer made of them keeps and drops.
TEST(MergeRangesTest, AgreesWithLookupsInTheLayers) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x3e9);
  Prng prng(seed);
  const Comparator* orders[] = {BytewiseComparator(), ReverseBytewiseComparator(), testing::CaseFoldingComparator()};
  for (std::uint64_t round = 0; round < testing::ScaledCount(600); ++round) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    const Comparator* order = orders[prng.Uniform(3)];
    const auto random_key = [&] {
      std::string key;
      for (std::uint64_t n = prng.Uniform(4); n > 0; --n) key += static_cast<char>('a' + prng.Uniform(4));
      return key;
    };
    std::vector<Layer> layers;
    for (std::uint64_t n = prng.Uniform(8); n > 0; --n) {
      Layer layer{Points(KeyLess{order}), {}, std::nullopt};
      for (std::uint64_t p = prng.Skewed(6); p > 0; --p) layer.points[random_key()] = prng.OneIn(4) ? 0 : p + n * 1000;
      for (std::uint64_t r = prng.OneIn(2) ? prng.Uniform(4) : 0; r > 0; --r) {
        layer.ranges.emplace_back(random_key(), random_key());
      }
      if (prng.OneIn(3)) layer.first_visible = random_key();
      layers.push_back(std::move(layer));
    }
    const auto is_visible = [&](const Layer& layer, const std::string& key) {
      return !layer.first_visible || order->Compare(key, *layer.first_visible) >= 0;
    };
    const auto covers = [&](const Layer& layer, const std::string& key) {
      for (const auto& [begin, end] : layer.ranges) {
        if (is_visible(layer, key) && order->Compare(begin, key) <= 0 && order->Compare(key, end) < 0) return true;
      }
      return false;
    };
    // Key -> the layer whose entry is shown; key -> the number of its entries to be reported.
    std::map<std::string, std::size_t, KeyLess> shown(KeyLess{order});
    std::map<std::string, int, KeyLess> dropped(KeyLess{order});
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (const auto& [key, word] : layers[i].points) {
        if (!is_visible(layers[i], key)) continue;
        bool hidden = shown.contains(key);
        for (std::size_t newer = 0; newer < i && !hidden; ++newer) hidden = covers(layers[newer], key);
        if (hidden) {
          ++dropped[key];
        } else {
          shown.emplace(key, i);
        }
      }
    }

    std::map<std::string, int, KeyLess> reported(KeyLess{order});
    LayerMerge fold(order, Children(order, layers),
                    [&](std::size_t, Slice key, const Entry&) { ++reported[key.ToString()]; });
    auto expected = shown.begin();
    for (fold.SeekToFirst(); fold.Valid(); fold.Next(), ++expected) {
      ASSERT_NE(expected, shown.end());
      ASSERT_EQ(order->Compare(fold.key(), expected->first), 0);
      ASSERT_EQ(fold.source(), expected->second);
      for (const auto& [key, count] : reported) ASSERT_LT(order->Compare(key, fold.key()), 0);
    }
    ASSERT_TRUE(fold.status().ok());
    ASSERT_EQ(expected, shown.end());
    ASSERT_EQ(reported, dropped);

    std::vector<std::string> keys;
    for (const auto& [key, layer] : shown) keys.push_back(key);
    const auto lower_bound = [&](const std::string& target) {
      return std::lower_bound(keys.begin(), keys.end(), target, KeyLess{order}) - keys.begin();
    };
    MergeCursor merge(order, Children(order, layers));
    std::ptrdiff_t at = -1;
    for (int move = 0; move < 150; ++move) {
      const bool valid = at >= 0 && at < std::ssize(keys);
      ASSERT_EQ(merge.Valid(), valid);
      if (valid) {
        ASSERT_EQ(order->Compare(merge.key(), keys[static_cast<std::size_t>(at)]), 0);
        ASSERT_EQ(merge.source(), shown[keys[static_cast<std::size_t>(at)]]);
      }
      const std::string target = random_key();
      switch (prng.Uniform(valid ? 14 : 4)) {
        case 0:
          merge.SeekToFirst();
          at = 0;
          break;
        case 1:
          merge.SeekToLast();
          at = std::ssize(keys) - 1;
          break;
        case 2:
          merge.Seek(target);
          at = lower_bound(target);
          break;
        case 3:
          merge.SeekForPrev(target);
          at = lower_bound(target);
          if (at == std::ssize(keys) || order->Compare(keys[static_cast<std::size_t>(at)], target) != 0) --at;
          break;
        case 4:
        case 5:
        case 6:
        case 7:
        case 8:
          merge.Prev();
          --at;
          break;
        default:
          merge.Next();
          ++at;
      }
      ASSERT_TRUE(merge.status().ok()) << merge.status().ToString();
    }
  }
}

}  // namespace
}  // namespace cambium::merge_ranges_test
