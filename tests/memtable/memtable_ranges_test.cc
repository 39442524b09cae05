// Range deletes in a memtable: at a sequence number, a key is deleted if the newest range that covers it is newer than
// its newest version.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memtable/arena.h"
#include "memtable/memtable.h"
#include "memtable/table_ranges.h"
#include "testing/counting_comparator.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/prng.h"

namespace cambium {
namespace {

Entry Value(SequenceNumber seq) { return Entry::At(ValueAddress::InLog(Slot{1}, seq * 8, 64)); }

void Put(MemTable* table, SequenceNumber seq, const std::string& key) {
  ASSERT_TRUE(table->Reserve(1, key.size()).ok());
  table->Add(seq, key, Value(seq));
}
void DeleteRange(MemTable* table, SequenceNumber seq, const std::string& begin, const std::string& end) {
  ASSERT_TRUE(table->Reserve(0, begin.size() + end.size(), 1).ok());
  table->AddRange(seq, begin, end);
}

std::string KeysOf(const MemTable& table, SequenceNumber read_seq) {
  std::string keys;
  const auto cursor = table.NewCursor(read_seq);
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) keys += cursor->key().ToString() + " ";
  return keys;
}

TEST(MemTableRangesTest, RangeHidesOlderVersionsOnly) {
  MemTable table(BytewiseComparator());
  Put(&table, 1, "a");
  Put(&table, 2, "b");
  DeleteRange(&table, 3, "a", "c");
  Put(&table, 4, "b");
  Entry entry;
  SequenceNumber seq = 0;
  ASSERT_TRUE(table.Find("a", 2, &entry, &seq));
  EXPECT_EQ(entry.kind, EntryKind::kValue);
  ASSERT_TRUE(table.Find("a", 3, &entry, &seq));
  EXPECT_EQ(entry.kind, EntryKind::kTombstone);
  EXPECT_EQ(seq, 3u);
  ASSERT_TRUE(table.Find("b", 3, &entry, &seq));
  EXPECT_EQ(entry.kind, EntryKind::kTombstone);
  ASSERT_TRUE(table.Find("b", 4, &entry, &seq));
  EXPECT_EQ(entry.kind, EntryKind::kValue);
  EXPECT_EQ(seq, 4u);
  // Never written here; an older layer may have it.
  EXPECT_FALSE(table.Find("aa", 2, &entry));
  ASSERT_TRUE(table.Find("aa", 3, &entry));
  EXPECT_EQ(entry.kind, EntryKind::kTombstone);
  EXPECT_FALSE(table.Find("c", 4, &entry));
  EXPECT_EQ(KeysOf(table, 2), "a b ");
  EXPECT_EQ(KeysOf(table, 3), "");
  EXPECT_EQ(KeysOf(table, 4), "b ");
  EXPECT_EQ(table.RangesAt(2), nullptr);
  ASSERT_NE(table.RangesAt(3), nullptr);
  EXPECT_TRUE(table.RangesAt(3)->Covers("aa"));
  EXPECT_EQ(table.range_delete_count(), 1u);
  EXPECT_FALSE(table.empty());
  EXPECT_TRUE(table.CheckInvariants().ok());
}

TEST(MemTableRangesTest, TableWithOnlyARangeIsNotEmpty) {
  MemTable table(BytewiseComparator());
  DeleteRange(&table, 1, "a", "b");
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.key_count(), 0u);
  EXPECT_GT(table.memory_bytes(), 0u);
  EXPECT_EQ(KeysOf(table, 1), "");
}

// Rule A7: the mutant, which does not compare sequence numbers, loses a put that follows the range delete.
TEST(MemTableRangesTest, RangeDoesNotHideANewerPut) {
  MemTable table(BytewiseComparator());
  DeleteRange(&table, 1, "a", "c");
  Put(&table, 2, "b");
  EXPECT_EQ(KeysOf(table, 2), "b ");
  Entry entry;
  ASSERT_TRUE(table.Find("b", 2, &entry));
  EXPECT_EQ(entry.kind, EntryKind::kValue);
  const testing::MutantScope mutant(Mutant::kTableRangeHidesNewer);
  EXPECT_EQ(KeysOf(table, 2), "");
  ASSERT_TRUE(table.Find("b", 2, &entry));
  EXPECT_EQ(entry.kind, EntryKind::kTombstone);
}

struct KeyLess {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
};

// The model: all operations. Each query checks them one by one.
struct History {
  explicit History(const Comparator* order) : comparator(order) {}
  const Comparator* comparator;
  std::map<std::string, std::map<SequenceNumber, bool>, KeyLess> points{KeyLess{comparator}};  // true: a value
  struct RangeOp {
    SequenceNumber seq;
    std::string begin, end;
  };
  std::vector<RangeOp> ranges;

  [[nodiscard]] SequenceNumber Covering(const std::string& key, SequenceNumber read_seq) const {
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
      if (range->seq <= read_seq && comparator->Compare(range->begin, key) <= 0 &&
          comparator->Compare(key, range->end) < 0) {
        return range->seq;
      }
    }
    return 0;
  }
  [[nodiscard]] SequenceNumber Version(const std::string& key, SequenceNumber read_seq) const {
    const auto found = points.find(key);
    if (found == points.end()) return 0;
    const auto newer = found->second.upper_bound(read_seq);
    return newer == found->second.begin() ? 0 : std::prev(newer)->first;
  }
};

class MemTableRangesModelTest : public ::testing::TestWithParam<const Comparator* (*)()> {};
INSTANTIATE_TEST_SUITE_P(Orders, MemTableRangesModelTest,
                         ::testing::Values(&BytewiseComparator, &ReverseBytewiseComparator,
                                           &testing::CaseFoldingComparator, &testing::LengthFirstComparator));

// Draws keys of a space of a few or of many.
struct KeyDraw {
  std::string operator()() const {
    const std::uint64_t n = prng->Uniform(space);
    std::string key = n == 0 ? std::string() : "k" + std::to_string(n);
    if (n % 7 == 0) key += std::string(n % 50, 'X');
    return key;
  }
  Prng* prng;
  std::uint64_t space;
};

// Puts, deletes and range deletes. *seq becomes the last sequence number.
void WriteAtRandom(MemTable* table, History* history, const KeyDraw& draw_key, SequenceNumber* seq) {
  Prng& prng = *draw_key.prng;
  const Comparator* const comparator = history->comparator;
  const std::uint64_t one_range_in = prng.Between(1, 20);
  for (std::uint64_t n = prng.Between(1, 1500); n > 0; --n) {
    *seq += prng.Between(1, 3);
    if (prng.OneIn(one_range_in)) {
      std::string begin = draw_key();
      std::string end = draw_key();
      if (comparator->Compare(begin, end) > 0) std::swap(begin, end);
      if (comparator->Compare(begin, end) == 0) continue;
      DeleteRange(table, *seq, begin, end);
      history->ranges.push_back({*seq, begin, end});
    } else {
      const std::string key = draw_key();
      ASSERT_TRUE(table->Reserve(1, key.size()).ok());
      const bool is_value = !prng.OneIn(4);
      table->Add(*seq, key, is_value ? Value(*seq) : Entry::Tombstone());
      history->points[key][*seq] = is_value;
    }
  }
}

void ExpectLookups(const MemTable& table, const History& history, SequenceNumber read_seq, const KeyDraw& draw_key) {
  const auto covered = table.RangesAt(read_seq);
  const auto cover = table.CoverAt(read_seq);
  ASSERT_EQ(covered == nullptr, cover == nullptr);
  for (int look = 0; look < 100; ++look) {
    const std::string key = draw_key();
    const SequenceNumber version = history.Version(key, read_seq);
    const SequenceNumber covering = history.Covering(key, read_seq);
    Entry entry;
    SequenceNumber found_seq = 0;
    ASSERT_EQ(table.Find(key, read_seq, &entry, &found_seq), version != 0 || covering != 0);
    if (version != 0 || covering != 0) {
      ASSERT_EQ(found_seq, std::max(version, covering));
      const bool is_value = version > covering && history.points.at(key).at(version);
      ASSERT_EQ(entry.kind == EntryKind::kValue, is_value);
    }
    ASSERT_EQ(covered != nullptr && covered->Covers(key), covering != 0);
    if (covered == nullptr) continue;
    const KeyStretch copied = covered->StretchOf(key);
    const KeyStretch in_place = cover->StretchOf(key);
    ASSERT_EQ(in_place.covered, copied.covered);
    ASSERT_EQ(in_place.from, copied.from);
    ASSERT_EQ(in_place.to, copied.to);
  }
}

// Scans in both directions, and seeks.
void ExpectScans(const MemTable& table, const History& history, SequenceNumber read_seq, const KeyDraw& draw_key) {
  const Comparator* const comparator = history.comparator;
  std::vector<std::string> shown;
  for (const auto& [key, versions] : history.points) {
    const SequenceNumber version = history.Version(key, read_seq);
    if (version != 0 && version > history.Covering(key, read_seq)) shown.push_back(key);
  }
  const auto cursor = table.NewCursor(read_seq);
  std::size_t at = 0;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++at) {
    ASSERT_LT(at, shown.size());
    ASSERT_EQ(comparator->Compare(cursor->key(), shown[at]), 0);
    ASSERT_EQ(cursor->entry().kind == EntryKind::kValue,
              history.points.at(shown[at]).at(history.Version(shown[at], read_seq)));
  }
  ASSERT_EQ(at, shown.size());
  for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev()) {
    ASSERT_GT(at, 0u);
    ASSERT_EQ(comparator->Compare(cursor->key(), shown[--at]), 0);
  }
  ASSERT_EQ(at, 0u);
  for (int look = 0; look < 30; ++look) {
    const std::string target = draw_key();
    const auto lower = std::lower_bound(shown.begin(), shown.end(), target, KeyLess{comparator});
    cursor->Seek(target);
    ASSERT_EQ(cursor->Valid(), lower != shown.end());
    if (cursor->Valid()) {
      ASSERT_EQ(comparator->Compare(cursor->key(), *lower), 0);
    }
  }
}

// Few and many keys, read at several sequence numbers.
TEST_P(MemTableRangesModelTest, AgreesWithTheHistoryAtEverySequenceNumber) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x7ab);
  Prng prng(seed);
  const Comparator* comparator = GetParam()();
  for (std::uint64_t round = 0; round < 30 * testing::ScaleFromEnvironment(); ++round) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    MemTable table(comparator);
    History history(comparator);
    const KeyDraw draw_key{&prng, prng.Between(2, 400)};
    SequenceNumber seq = 0;
    ASSERT_NO_FATAL_FAILURE(WriteAtRandom(&table, &history, draw_key, &seq));
    ASSERT_TRUE(table.CheckInvariants().ok()) << table.CheckInvariants().ToString();
    ASSERT_EQ(table.range_delete_count(), history.ranges.size());
    for (const SequenceNumber read_seq :
         {SequenceNumber{0}, prng.Uniform(seq + 1), prng.Uniform(seq + 1), seq, kMaxSequenceNumber}) {
      ASSERT_NO_FATAL_FAILURE(ExpectLookups(table, history, read_seq, draw_key));
      ASSERT_NO_FATAL_FAILURE(ExpectScans(table, history, read_seq, draw_key));
    }
  }
}

std::string Numbered(std::uint64_t n) { return std::to_string(10'000'000 + n); }

// Ranges apart, ranges that touch, and ranges that lie over many others, up to 30,000. The comparisons of a write, a
// lookup, a new cursor with a seek, and a search of the cover must not grow faster than the logarithm.
TEST(MemTableRangesTest, ComparisonsGrowWithTheLogarithmOfTheRanges) {
  constexpr std::uint64_t kRanges = 30'000;
  constexpr std::uint64_t kComparisonsMax = 4 * 15 + 16;  // some four for each of log2(kRanges)
  enum class Shape { kApart, kTouching, kOverlapping };
  for (const Shape shape : {Shape::kApart, Shape::kTouching, Shape::kOverlapping}) {
    SCOPED_TRACE(static_cast<int>(shape));
    Prng prng(testing::SeedFromEnvironment(0x7ae));
    const testing::CountingComparator order;
    MemTable table(&order);
    std::uint64_t in_writes = 0;
    for (std::uint64_t i = 0; i < kRanges; ++i) {
      const std::uint64_t at = shape == Shape::kOverlapping ? prng.Uniform(100 * kRanges) : 100 * (i * 7919 % kRanges);
      const std::uint64_t length = shape == Shape::kApart      ? 50
                                   : shape == Shape::kTouching ? 100
                                                               : 1 + prng.Uniform(1000);
      static_cast<void>(order.TakeCount());
      DeleteRange(&table, i + 1, Numbered(at), Numbered(at + length));
      in_writes += order.TakeCount();
    }
    EXPECT_LE(in_writes / kRanges, 3 * kComparisonsMax);
    EXPECT_LT(table.memory_bytes() / kRanges, 2048u);
    for (const SequenceNumber read_seq : {SequenceNumber{kRanges / 3}, SequenceNumber{kRanges}}) {
      static_cast<void>(order.TakeCount());
      const auto cover = table.CoverAt(read_seq);
      const auto cursor = table.NewCursor(read_seq);
      cursor->Seek(Numbered(17));
      EXPECT_EQ(order.TakeCount(), 0u) << "an iterator copies or joins the ranges";
      for (int look = 0; look < 1000; ++look) {
        const std::string key = Numbered(prng.Uniform(100 * kRanges));
        static_cast<void>(order.TakeCount());
        Entry entry;
        static_cast<void>(table.Find(key, read_seq, &entry));
        ASSERT_LE(order.TakeCount(), kComparisonsMax);
        static_cast<void>(cover->StretchOf(key));
        ASSERT_LE(order.TakeCount(), 4 * kComparisonsMax);
      }
    }
  }
}

// A reader of older layers leaves ranges that touch with one seek, as if they were one range.
TEST(MemTableRangesTest, CoverJoinsRangesThatTouch) {
  MemTable table(BytewiseComparator());
  for (std::uint64_t i = 0; i < 1000; ++i) DeleteRange(&table, i + 1, Numbered(i), Numbered(i + 1));
  const auto cover = table.CoverAt(900);
  ASSERT_NE(cover, nullptr);
  const KeyStretch stretch = cover->StretchOf(Numbered(450));
  EXPECT_TRUE(stretch.covered);
  EXPECT_EQ(stretch.from, Slice(Numbered(0)));
  EXPECT_EQ(stretch.to, Slice(Numbered(900)));
  EXPECT_FALSE(cover->StretchOf(Numbered(900)).covered);
  EXPECT_EQ(table.RangesAt(900)->count(), 1u);
}

// BytesMax is enough for any ranges; otherwise the arena would abort the process. Memory does not grow quadratically
// with the number of ranges.
TEST(TableRangesTest, BytesMaxIsEnoughAndMemoryIsNotQuadratic) {
  Prng prng(testing::SeedFromEnvironment(0x7ac));
  for (const std::uint64_t batch : {1u, 3u, 64u, 1000u}) {
    Arena arena;
    TableRanges ranges(BytewiseComparator());
    SequenceNumber seq = 0;
    for (std::uint64_t added = 0; added < 2000; added += batch) {
      const std::size_t before = arena.used_bytes();
      const std::size_t reserved = ranges.BytesMax(batch) + batch * 2 * (TableRanges::kKeyOverhead + 8);
      ASSERT_TRUE(arena.Reserve(reserved).ok());
      for (std::uint64_t i = 0; i < batch; ++i) {
        std::string a = std::to_string(10'000'000 + prng.Uniform(1'000'000));
        std::string b = std::to_string(10'000'000 + prng.Uniform(1'000'000));
        if (b < a) std::swap(a, b);
        if (a == b) b += "x";
        b.resize(8);
        if (a >= b) b = a.substr(0, 7) + "~";
        ranges.Add(++seq, a, b, &arena);
      }
      ASSERT_LE(arena.used_bytes() - before, reserved);
    }
    ASSERT_TRUE(ranges.CheckInvariants().ok());
    EXPECT_LT(arena.used_bytes(), 2000u * 1024);
  }
}

// Reserve fails before anything is written, and takes no memory.
TEST(MemTableRangesTest, ReserveOfMoreRangesThanFitIntoMemoryFails) {
  MemTable table(BytewiseComparator());
  EXPECT_TRUE(table.Reserve(0, 100, std::size_t{1} << 33).IsAborted());
  EXPECT_TRUE(table.Reserve(1, 10, 1).ok());
  EXPECT_EQ(table.memory_bytes(), 0u);
}

// Readers run concurrently with the writer. Keys are put, covered, and put again in a fixed cycle, so that a reader
// knows what it must find at each sequence number.
TEST(MemTableRangesThreadsTest, ReadersSeeARangeExactlyFromItsSequenceNumberOn) {
  constexpr SequenceNumber kRounds = testing::kUnderSanitizer ? 1500 : 20000;
  const std::uint64_t seed = testing::SeedFromEnvironment(0x7ad);
  MemTable table(BytewiseComparator());
  std::atomic<SequenceNumber> published{0};
  std::atomic<int> wrong{0};
  constexpr SequenceNumber kKeys = 16;
  const auto key_of = [](SequenceNumber n) { return std::string(1, static_cast<char>('a' + n)); };
  // Round r: puts of all keys at 17 r + 1 ... 17 r + 16, then at 17 r + 17 a range over the first half.
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      Prng prng(seed + static_cast<std::uint64_t>(r));
      SequenceNumber newest = 0;
      while (newest < kRounds * (kKeys + 1) && wrong.load() == 0) {
        newest = published.load(std::memory_order_acquire);
        if (newest == 0) continue;
        const SequenceNumber read_seq = prng.OneIn(4) ? prng.Between(1, newest) : newest;
        const SequenceNumber round = (read_seq - 1) / (kKeys + 1);
        const SequenceNumber in_round = (read_seq - 1) % (kKeys + 1) + 1;  // 1 to 17
        const SequenceNumber n = prng.Uniform(kKeys);
        const bool written = in_round > n || round > 0;
        const bool deleted = n < kKeys / 2 && (in_round == kKeys + 1 || (round > 0 && in_round <= n));
        Entry entry;
        const bool found = table.Find(key_of(n), read_seq, &entry);
        if (found != written || (found && (entry.kind == EntryKind::kTombstone) != deleted)) wrong.fetch_add(1);
        if (!prng.OneIn(8)) continue;
        std::size_t expected = 0;
        for (SequenceNumber k = 0; k < kKeys; ++k) {
          const bool there = in_round > k || round > 0;
          const bool gone = k < kKeys / 2 && (in_round == kKeys + 1 || (round > 0 && in_round <= k));
          expected += there && !gone ? 1 : 0;
        }
        const auto cursor = table.NewCursor(read_seq);
        std::size_t seen = 0;
        for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++seen;
        if (seen != expected) wrong.fetch_add(1);
      }
    });
  }
  SequenceNumber seq = 0;
  for (SequenceNumber round = 0; round < kRounds; ++round) {
    for (SequenceNumber n = 0; n < kKeys; ++n) {
      if (!table.Reserve(1, 1).ok()) wrong.fetch_add(1);
      ++seq;
      table.Add(seq, key_of(n), Value(seq));
      published.store(seq, std::memory_order_release);
    }
    if (!table.Reserve(0, 2, 1).ok()) wrong.fetch_add(1);
    table.AddRange(++seq, key_of(0), key_of(kKeys / 2));
    published.store(seq, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_TRUE(table.CheckInvariants().ok());
}

}  // namespace
}  // namespace cambium
