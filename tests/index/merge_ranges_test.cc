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
#include "index/random_move.h"
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

std::string DrawKey(Prng* prng) {
  std::string key;
  for (std::uint64_t n = prng->Uniform(4); n > 0; --n) key += static_cast<char>('a' + prng->Uniform(4));
  return key;
}

std::vector<Layer> DrawLayers(const Comparator* order, Prng* prng) {
  std::vector<Layer> layers;
  for (std::uint64_t n = prng->Uniform(8); n > 0; --n) {
    Layer layer{Points(KeyLess{order}), {}, std::nullopt};
    for (std::uint64_t p = prng->Skewed(6); p > 0; --p) {
      layer.points[DrawKey(prng)] = prng->OneIn(4) ? 0 : p + n * 1000;
    }
    for (std::uint64_t r = prng->OneIn(2) ? prng->Uniform(4) : 0; r > 0; --r) {
      std::string begin = DrawKey(prng);
      layer.ranges.emplace_back(std::move(begin), DrawKey(prng));
    }
    if (prng->OneIn(3)) layer.first_visible = DrawKey(prng);
    layers.push_back(std::move(layer));
  }
  return layers;
}

// What lookups in the layers find, one key after the other.
struct Lookups {
  explicit Lookups(const Comparator* comparator) : order(comparator) {}

  static Lookups In(const std::vector<Layer>& layers, const Comparator* order) {
    Lookups found(order);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (const auto& [key, word] : layers[i].points) {
        if (!found.IsVisible(layers[i], key)) continue;
        bool hidden = found.shown.contains(key);
        for (std::size_t newer = 0; newer < i && !hidden; ++newer) hidden = found.Covers(layers[newer], key);
        if (hidden) {
          ++found.dropped[key];
        } else {
          found.shown.emplace(key, i);
        }
      }
    }
    return found;
  }
  [[nodiscard]] bool IsVisible(const Layer& layer, const std::string& key) const {
    return !layer.first_visible || order->Compare(key, *layer.first_visible) >= 0;
  }
  [[nodiscard]] bool Covers(const Layer& layer, const std::string& key) const {
    for (const auto& [begin, end] : layer.ranges) {
      if (IsVisible(layer, key) && order->Compare(begin, key) <= 0 && order->Compare(key, end) < 0) return true;
    }
    return false;
  }

  const Comparator* order;
  std::map<std::string, std::size_t, KeyLess> shown{KeyLess{order}};  // key -> the layer whose entry is shown
  std::map<std::string, int, KeyLess> dropped{KeyLess{order}};        // key -> the number of its entries to be reported
};

// Checks which entries a new layer made of these keeps and drops.
void ExpectFold(const std::vector<Layer>& layers, const Lookups& lookups) {
  const Comparator* const order = lookups.order;
  std::map<std::string, int, KeyLess> reported(KeyLess{order});
  LayerMerge fold(order, Children(order, layers),
                  [&](std::size_t, Slice key, const Entry&) { ++reported[key.ToString()]; });
  auto expected = lookups.shown.begin();
  for (fold.SeekToFirst(); fold.Valid(); fold.Next(), ++expected) {
    ASSERT_NE(expected, lookups.shown.end());
    ASSERT_EQ(order->Compare(fold.key(), expected->first), 0);
    ASSERT_EQ(fold.source(), expected->second);
    for (const auto& [key, count] : reported) ASSERT_LT(order->Compare(key, fold.key()), 0);
  }
  ASSERT_TRUE(fold.status().ok());
  ASSERT_EQ(expected, lookups.shown.end());
  ASSERT_EQ(reported, lookups.dropped);
}

// Moves a cursor in every way.
void ExpectMoves(const std::vector<Layer>& layers, const Lookups& lookups, Prng* prng) {
  std::vector<std::string> keys;
  for (const auto& [key, layer] : lookups.shown) keys.push_back(key);
  MergeCursor merge(lookups.order, Children(lookups.order, layers));
  std::ptrdiff_t at = -1;
  for (int move = 0; move < 150; ++move) {
    const bool valid = at >= 0 && at < std::ssize(keys);
    ASSERT_EQ(merge.Valid(), valid);
    if (valid) {
      const std::string& key = keys[static_cast<std::size_t>(at)];
      ASSERT_EQ(lookups.order->Compare(merge.key(), key), 0);
      ASSERT_EQ(merge.source(), lookups.shown.at(key));
    }
    testing::MoveAtRandom(&merge, keys, lookups.order, DrawKey(prng), prng, &at);
    ASSERT_TRUE(merge.status().ok()) << merge.status().ToString();
  }
}

// Random layers with points, ranges and masks, under several orders.
TEST(MergeRangesTest, AgreesWithLookupsInTheLayers) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x3e9);
  Prng prng(seed);
  const Comparator* orders[] = {BytewiseComparator(), ReverseBytewiseComparator(), testing::CaseFoldingComparator()};
  for (std::uint64_t round = 0; round < testing::ScaledCount(600); ++round) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    const Comparator* const order = orders[prng.Uniform(3)];
    const std::vector<Layer> layers = DrawLayers(order, &prng);
    const Lookups lookups = Lookups::In(layers, order);
    ASSERT_NO_FATAL_FAILURE(ExpectFold(layers, lookups));
    ASSERT_NO_FATAL_FAILURE(ExpectMoves(layers, lookups, &prng));
  }
}

}  // namespace
}  // namespace cambium::merge_ranges_test
