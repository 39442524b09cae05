// Dead stretches: rows of tombstones of a memtable, which become range deletes. No key in a stretch is visible. A run
// that has the range in place of the tombstones hides what the memtable hides. The search is bounded. In these tests
// memtables stand for older layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/dead_stretches.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/still_cursor.h"
#include "testing/test_comparators.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class StretchesFrom {
 public:
  explicit StretchesFrom(std::size_t count) { dead_stretch_least = count; }
  ~StretchesFrom() { dead_stretch_least = 128; }
  StretchesFrom(const StretchesFrom&) = delete;
  StretchesFrom& operator=(const StretchesFrom&) = delete;
};

// A memtable that numbers its operations.
struct StretchTable {
  explicit StretchTable(const Comparator* comparator) : table(comparator) {}
  void Put(const std::string& key) { Add(key, Entry::At(ValueAddress::InLog(Slot{1}, (sequence + 1) * 8, 64))); }
  void Delete(const std::string& key) { Add(key, Entry::Tombstone()); }
  void Add(const std::string& key, const Entry& entry) {
    ASSERT_TRUE(table.Reserve(1, key.size()).ok());
    table.Add(++sequence, key, entry);
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    ASSERT_TRUE(table.Reserve(0, begin.size() + end.size(), 1).ok());
    table.AddRange(++sequence, begin, end);
  }
  void AppendTo(std::vector<MergeChild>* children) const {
    children->emplace_back(table.NewCursor(kMaxSequenceNumber));
    children->back().cover = table.CoverAt(kMaxSequenceNumber);
  }

  MemTable table;
  SequenceNumber sequence = 0;
};

std::string StretchKey(std::size_t i) {
  char key[16];
  std::snprintf(key, sizeof(key), "k%06zu", i);
  return key;
}

// `layers`: the newest one first.
std::vector<DeadStretch> StretchesOf(const Comparator* comparator, const std::vector<const StretchTable*>& layers) {
  return FindDeadStretches(comparator, layers.front()->table, kMaxSequenceNumber,
                           [&](std::vector<MergeChild>* children) {
                             for (std::size_t i = 1; i < layers.size(); ++i) layers[i]->AppendTo(children);
                           });
}
std::string StretchText(const std::vector<const StretchTable*>& layers) {
  std::string text;
  for (const DeadStretch& stretch : StretchesOf(BytewiseComparator(), layers)) {
    text += stretch.first + "-" + stretch.last + " ";
  }
  return text;
}

TEST(DeadStretchesTest, RowOfTombstonesIsStretch) {
  const StretchesFrom three(3);
  StretchTable table(BytewiseComparator());
  for (const char* const key : {"b", "d", "e", "f", "h", "i"}) table.Delete(key);
  EXPECT_EQ(StretchText({&table}), "b-i ");
  table.Put("g");
  EXPECT_EQ(StretchText({&table}), "b-f ") << "two tombstones are too few";
  table.Delete("g");
  EXPECT_EQ(StretchText({&table}), "b-i ");
  table.Put("d");
  EXPECT_EQ(StretchText({&table}), "e-i ");
}

TEST(DeadStretchesTest, VisibleEntryOfOlderLayerEndsStretch) {
  const StretchesFrom three(3);
  StretchTable table(BytewiseComparator());
  StretchTable older(BytewiseComparator());
  for (const char* const key : {"b", "d", "f", "h", "j", "l"}) table.Delete(key);
  for (const char* const key : {"a", "b", "d", "m"}) older.Put(key);
  EXPECT_EQ(StretchText({&table, &older}), "b-l ") << "the memtable hides b and d, and a and m lie outside";
  older.Put("g");
  EXPECT_EQ(StretchText({&table, &older}), "b-f h-l ");
  {
    const MutantScope mutant(Mutant::kStretchHidesOlderKeys);
    EXPECT_EQ(StretchText({&table, &older}), "b-l ");
  }
  older.Delete("g");
  EXPECT_EQ(StretchText({&table, &older}), "b-l ");
}

TEST(DeadStretchesTest, RangeDeletesHideOlderEntries) {
  const StretchesFrom three(3);
  StretchTable table(BytewiseComparator());
  StretchTable older(BytewiseComparator());
  for (const char* const key : {"b", "d", "f", "h"}) table.Delete(key);
  older.Put("e");
  table.DeleteRange("e", "f");
  EXPECT_EQ(StretchText({&table, &older}), "b-h ");
  table.DeleteRange("d", "g");
  EXPECT_EQ(StretchText({&table, &older}), "") << "the memtable yields two tombstones";
  table.Put("e");
  table.Delete("d");
  table.Delete("f");
  EXPECT_EQ(StretchText({&table, &older}), "") << "a newer put of the memtable is visible";
}

// One older layer has an entry after every 20th tombstone of the row; another has 10,000 tombstones after each of the
// first 101.
TEST(DeadStretchesTest, SearchIsBounded) {
  constexpr std::size_t kRow = 50'000;
  StretchTable table(BytewiseComparator());
  StretchTable alive(BytewiseComparator());
  StretchTable dead(BytewiseComparator());
  for (std::size_t i = 0; i < kRow; ++i) {
    table.Delete(StretchKey(i));
    if (i % 20 == 0) alive.Put(StretchKey(i) + "x");
    if (i > 100) continue;
    for (std::size_t k = 0; k < 10'000; ++k) dead.Delete(StretchKey(i) + StretchKey(k));
  }
  // Counts how often a cursor is moved.
  class Counting final : public StillCursor {
   public:
    Counting(std::unique_ptr<EntryCursor> its, std::uint64_t* seeks, std::uint64_t* steps)
        : its_(std::move(its)), seeks_(seeks), steps_(steps) {}
    void Seek(Slice target) override {
      ++*seeks_;
      its_->Seek(target);
    }
    void Next() override {
      ++*steps_;
      its_->Next();
    }
    [[nodiscard]] bool Valid() const override { return its_->Valid(); }
    [[nodiscard]] Slice key() const override { return its_->key(); }
    [[nodiscard]] Entry entry() const override { return its_->entry(); }
    [[nodiscard]] Status status() const override { return its_->status(); }

   private:
    const std::unique_ptr<EntryCursor> its_;
    std::uint64_t* const seeks_;
    std::uint64_t* const steps_;
  };
  std::uint64_t seeks = 0;
  std::uint64_t steps = 0;
  const auto find = [&](const StretchTable& older) {
    seeks = steps = 0;
    return FindDeadStretches(BytewiseComparator(), table.table, kMaxSequenceNumber,
                             [&](std::vector<MergeChild>* children) {
                               children->emplace_back(std::make_unique<Counting>(
                                   older.table.NewCursor(kMaxSequenceNumber), &seeks, &steps));
                             });
  };
  EXPECT_TRUE(find(alive).empty());
  EXPECT_GT(seeks, 1u);
  EXPECT_LE(seeks, 40u) << "the row has room for 64 stretches";
  EXPECT_LE(steps, 100u);
  EXPECT_TRUE(find(dead).empty());
  EXPECT_LE(steps, 8 * kRow) << "the layer has twenty keys for each of the memtable";
  EXPECT_GT(steps, 7 * kRow);
  for (std::size_t i = 0; i < kRow; i += 2000) table.Put(StretchKey(i));
  EXPECT_TRUE(find(dead).empty());
  EXPECT_EQ(seeks, 1u) << "the first of 25 rows has used up what may be read";
}

// A stretch is at least a 64th of its memtable, so there are at most 64.
TEST(DeadStretchesTest, StretchesAreFew) {
  StretchTable table(BytewiseComparator());
  std::size_t at = 0;
  const auto add_rows = [&](std::size_t rows, std::size_t length) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < length; ++i) table.Delete(StretchKey(at++));
      table.Put(StretchKey(at++));
    }
  };
  add_rows(60, 200);
  EXPECT_EQ(StretchesOf(BytewiseComparator(), {&table}).size(), 60u);
  add_rows(20, 200);
  EXPECT_TRUE(StretchesOf(BytewiseComparator(), {&table}).empty()) << "each row is an 80th of the memtable";
  add_rows(1, 2000);
  EXPECT_EQ(StretchesOf(BytewiseComparator(), {&table}).size(), 1u);
}

// ---- Against a model ----

using Alive = std::map<std::string, std::uint64_t>;  // what readers see: the address of each key

Alive AliveIn(const Comparator* comparator, std::vector<MergeChild> children) {
  Alive alive;
  MergeCursor merge(comparator, std::move(children));
  for (merge.SeekToFirst(); merge.Valid(); merge.Next()) {
    if (merge.kind() == EntryKind::kTombstone) continue;
    alive[CanonicalKey(comparator, merge.key())] = merge.entry().address.word();
  }
  EXPECT_TRUE(merge.status().ok()) << merge.status().ToString();
  return alive;
}

std::unique_ptr<StretchTable> RandomTable(const Comparator* comparator, Prng* random) {
  auto table = std::make_unique<StretchTable>(comparator);
  const std::uint64_t puts = random->Uniform(60);  // percent
  for (std::uint64_t left = random->Uniform(80); left > 0; --left) {
    const auto key = [&] {
      std::string bytes = std::to_string(random->Uniform(60));
      return (random->OneIn(2) ? "K" : "k") + bytes;
    };
    if (random->Uniform(100) < puts) {
      table->Put(key());
    } else if (!random->OneIn(30)) {
      table->Delete(key());
    } else {
      std::string begin = key();
      std::string end = key();
      if (comparator->Compare(begin, end) > 0) std::swap(begin, end);
      if (comparator->Compare(begin, end) < 0) table->DeleteRange(begin, end);
    }
  }
  return table;
}

// A layer as a flush writes it out of the newest table: the tombstones that remain, and the ranges.
struct FlushedStretches {
  FlushedStretches(const Comparator* comparator, const std::vector<const StretchTable*>& layers)
      : cursor(layers.front()->table.NewCursor(kMaxSequenceNumber)),
        stretches(StretchesOf(comparator, layers)),
        left_out(RangesOf(comparator, stretches)),
        run(comparator) {
    cursor->SeekToFirst();
    const auto of_table = layers.front()->table.RangesAt(kMaxSequenceNumber);
    const RangeDeletes none(comparator);
    const RangeDeletes* const parts[] = {of_table == nullptr ? &none : of_table.get(), &left_out};
    ranges = std::make_shared<const RangeDeletes>(RangeDeletes::Union(comparator, parts));
    for (StretchSkipper skipper(cursor.get(), comparator, &left_out); skipper.Valid(); skipper.Next()) {
      run.Add(skipper.key().ToString(), skipper.entry());
    }
  }
  const std::unique_ptr<EntryCursor> cursor;
  const std::vector<DeadStretch> stretches;
  const RangeDeletes left_out;
  std::shared_ptr<const RangeDeletes> ranges;
  StretchTable run;
};

class DeadStretchesModelTest : public ::testing::TestWithParam<const Comparator*> {};

TEST_P(DeadStretchesModelTest, RunHidesWhatItsMemtableHides) {
  Prng random(SeedFromEnvironment(11));
  std::size_t found = 0;
  std::size_t wrong_in_mutant = 0;
  for (std::uint64_t round = 0; round < 2000 * ScaleFromEnvironment(); ++round) {
    const StretchesFrom some(random.Between(2, 6));
    std::vector<std::unique_ptr<StretchTable>> owned;
    std::vector<const StretchTable*> layers;
    for (int i = 0; i < 3; ++i) {
      owned.push_back(RandomTable(GetParam(), &random));
      layers.push_back(owned.back().get());
    }
    std::vector<MergeChild> before;
    for (const StretchTable* layer : layers) layer->AppendTo(&before);
    const Alive alive = AliveIn(GetParam(), std::move(before));
    const auto alive_after_flush = [&](std::size_t* count) {
      const FlushedStretches flushed(GetParam(), layers);
      *count += flushed.stretches.size();
      std::vector<MergeChild> after;
      after.emplace_back(flushed.run.table.NewCursor(kMaxSequenceNumber));
      after.back().ranges = flushed.ranges;
      for (std::size_t i = 1; i < layers.size(); ++i) layers[i]->AppendTo(&after);
      return AliveIn(GetParam(), std::move(after));
    };
    ASSERT_EQ(alive_after_flush(&found), alive) << "round " << round;
    const MutantScope mutant(Mutant::kStretchHidesOlderKeys);
    std::size_t ignored = 0;
    if (alive_after_flush(&ignored) != alive) ++wrong_in_mutant;
  }
  EXPECT_GT(found, 500u);
  EXPECT_GT(wrong_in_mutant, 100u);
}

INSTANTIATE_TEST_SUITE_P(Comparators, DeadStretchesModelTest,
                         ::testing::Values(BytewiseComparator(), ReverseBytewiseComparator(), CaseFoldingComparator(),
                                           LengthFirstComparator()));

}  // namespace
}  // namespace cambium::testing
