// Iterators over many tombstones: how many they pass, which a ticker counts, and that they miss no entry.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/queue_key.h"
#include "cambium/compaction_filter.h"
#include "cambium/statistics.h"
#include "state/gaps.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

struct QueueStore : TestStore {
  QueueStore() {
    options.statistics = CreateDBStatistics();
    options.write_buffer_size = 4u << 20;  // the tombstones stay in the memtable
    options.level0_file_num_compaction_trigger = 2;
  }
  [[nodiscard]] std::uint64_t Passed() const { return options.statistics->getTickerCount(NUMBER_ITER_SKIP); }
  void Delete(Slice key) {
    const Status s = db->Delete({}, key);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // The first key, or the last; "" if there is none.
  std::string Front(const ReadOptions& read = {}) {
    const std::unique_ptr<Iterator> it(db->NewIterator(read));
    it->SeekToFirst();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return it->Valid() ? it->key().ToString() : "";
  }
  std::string Back(const ReadOptions& read = {}) {
    const std::unique_ptr<Iterator> it(db->NewIterator(read));
    it->SeekToLast();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return it->Valid() ? it->key().ToString() : "";
  }
  // Puts keys, and deletes all of them, so that a seek passes their tombstones.
  void MakeTombstones(std::size_t from, std::size_t count) {
    for (std::size_t i = from; i < from + count; ++i) Put(QueueKey(i), "v");
    for (std::size_t i = from; i < from + count; ++i) Delete(QueueKey(i));
  }
};

// Moves that pass `count` tombstones add a gap.
class GapsFrom {
 public:
  explicit GapsFrom(std::size_t count) { gap_tombstones_least = count; }
  ~GapsFrom() { gap_tombstones_least = 128; }
  GapsFrom(const GapsFrom&) = delete;
  GapsFrom& operator=(const GapsFrom&) = delete;
};

// More than this many tombstones are passed by a seek only if it finds no gap.
constexpr std::uint64_t kPassedMax = 300;

TEST(QueueTest, TakingFromTheFrontPassesFewTombstones) {
  QueueStore store;
  store.MustOpen();
  constexpr std::size_t kWaiting = 50;
  std::size_t back = 0;
  while (back < kWaiting) store.Put(QueueKey(back++), "value");
  for (std::size_t front = 0; front < 20'000; ++front) {
    store.Put(QueueKey(back++), "value");
    const std::uint64_t before = store.Passed();
    ASSERT_EQ(store.Front(), QueueKey(front));
    ASSERT_LE(store.Passed() - before, kPassedMax);
    store.Delete(QueueKey(front));
    if (front % 5000 == 4999) store.Flush();
  }
}

TEST(QueueTest, TakingFromTheBackPassesFewTombstones) {
  QueueStore store;
  store.MustOpen();
  for (std::size_t i = 0; i < 20'000; ++i) store.Put(QueueKey(i), "value");
  for (std::size_t back = 20'000; back-- > 10'000;) {
    const std::uint64_t before = store.Passed();
    ASSERT_EQ(store.Back(), QueueKey(back));
    ASSERT_LE(store.Passed() - before, kPassedMax);
    store.Delete(QueueKey(back));
  }
}

TEST(QueueTest, ManyQueuesInOneFamily) {
  QueueStore store;
  store.MustOpen();
  constexpr std::size_t kQueues = 20;
  constexpr std::size_t kEach = 1000;
  for (std::size_t queue = 0; queue < kQueues; ++queue) {
    for (std::size_t i = 0; i < kEach; ++i) store.Put(QueueKey(queue * 100'000 + i), "value");
  }
  for (std::size_t i = 0; i + 1 < kEach; ++i) {
    for (std::size_t queue = 0; queue < kQueues; ++queue) {
      const std::uint64_t before = store.Passed();
      const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
      it->Seek(QueueKey(queue * 100'000));
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->key().ToString(), QueueKey(queue * 100'000 + i));
      ASSERT_LE(store.Passed() - before, kPassedMax);
      store.Delete(it->key().ToString());
    }
  }
}

TEST(QueueTest, SecondSeekOverDeletedKeysIsShort) {
  QueueStore store;
  store.MustOpen();
  store.MakeTombstones(0, 5000);
  EXPECT_EQ(store.Front(), "");
  EXPECT_GE(store.Passed(), 5000u) << "the first seek passes them all";
  const std::uint64_t before = store.Passed();
  EXPECT_EQ(store.Front(), "");
  EXPECT_EQ(store.Back(), "");
  EXPECT_LE(store.Passed() - before, 2 * kPassedMax);
}

TEST(QueueTest, KeyThatIsPutIntoGapIsFound) {
  QueueStore store;
  store.MustOpen();
  store.MakeTombstones(0, 2000);
  EXPECT_EQ(store.Front(), "");
  store.Put(QueueKey(700), "again");
  EXPECT_EQ(store.Front(), QueueKey(700));
  EXPECT_EQ(store.Back(), QueueKey(700));
  const std::uint64_t before = store.Passed();
  EXPECT_EQ(store.Front(), QueueKey(700));
  EXPECT_EQ(store.Back(), QueueKey(700));
  EXPECT_LE(store.Passed() - before, 2 * kPassedMax) << "the gap is still passed on both sides of the key";
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(QueueKey(300), "in a batch").ok());
  ASSERT_TRUE(batch.Delete(QueueKey(700)).ok());
  ASSERT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_EQ(store.Front(), QueueKey(300));
  EXPECT_EQ(store.Back(), QueueKey(300));
}

TEST(QueueTest, MutantThatKeepsGapMissesKey) {
  const MutantScope mutant(Mutant::kGapOutlivesPut);
  QueueStore store;
  store.MustOpen();
  store.MakeTombstones(0, 2000);
  EXPECT_EQ(store.Front(), "");
  store.Put(QueueKey(700), "again");
  EXPECT_EQ(store.Front(), "");
}

// The keys are deleted after the snapshot, and the gap is found after the deletes.
std::string FrontAtOldSnapshot() {
  QueueStore store;
  store.MustOpen();
  for (std::size_t i = 0; i < 1000; ++i) store.Put(QueueKey(i), "v");
  for (std::size_t i = 0; i < 500; ++i) store.Delete(QueueKey(i));
  const Snapshot* const snapshot = store.db->GetSnapshot();
  for (std::size_t i = 500; i < 1000; ++i) store.Delete(QueueKey(i));
  EXPECT_EQ(store.Front(), "");
  ReadOptions read;
  read.snapshot = snapshot;
  const std::string front = store.Front(read);
  store.db->ReleaseSnapshot(snapshot);
  return front;
}

TEST(QueueTest, OlderSnapshotSeesKeysDeletedSince) {
  EXPECT_EQ(FrontAtOldSnapshot(), QueueKey(500));
  const MutantScope mutant(Mutant::kGapIgnoresSequence);
  EXPECT_GT(FrontAtOldSnapshot(), QueueKey(500)) << "the mutant has no effect";
}

// An iterator that was made before a put passes over the place of the key, and does not add a gap there.
std::string FrontAfterOldIterator() {
  QueueStore store;
  store.MustOpen();
  store.MakeTombstones(0, 1000);
  const std::unique_ptr<Iterator> old(store.db->NewIterator({}));
  store.Put(QueueKey(500), "newer than the iterator");
  old->SeekToFirst();
  EXPECT_FALSE(old->Valid());
  return store.Front();
}

TEST(QueueTest, OldIteratorDoesNotHideNewerKey) {
  EXPECT_EQ(FrontAfterOldIterator(), QueueKey(500));
  const MutantScope mutant(Mutant::kGapMissesEarlierPuts);
  EXPECT_EQ(FrontAfterOldIterator(), "") << "the mutant has no effect";
}

class RemovesAll final : public CompactionFilter {
 public:
  [[nodiscard]] const char* Name() const override { return "RemovesAll"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return true; }
};

// A compaction removes keys by the filter, without a sequence number, while tombstones around them are in the memtable.
// A snapshot with the same number, but an older view, has the keys.
std::string FrontAtSnapshotBeforeFilter() {
  const RemovesAll filter;
  QueueStore store;
  store.options.compaction_filter = &filter;
  store.MustOpen();
  for (const std::size_t odd : {0, 1}) {
    for (std::size_t i = 1000 + odd; i < 1100; i += 2) store.Put(QueueKey(i), "v");
    store.Flush();  // the second run makes a compaction due, which waits until tasks run
  }
  for (std::size_t i = 0; i < 2000; ++i) {
    if (i < 1000 || i >= 1100) store.Delete(QueueKey(i));
  }
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.RunUntilIdle();
  EXPECT_EQ(store.Front(), "") << "the filter was not asked";
  ReadOptions read;
  read.snapshot = snapshot;
  const std::string front = store.Front(read);
  store.db->ReleaseSnapshot(snapshot);
  return front;
}

TEST(QueueTest, SnapshotFromBeforeFilterSeesRemovedKeys) {
  EXPECT_EQ(FrontAtSnapshotBeforeFilter(), QueueKey(1000));
  const MutantScope mutant(Mutant::kGapsDespiteFilter);
  EXPECT_EQ(FrontAtSnapshotBeforeFilter(), "") << "the mutant has no effect";
}

// Random puts and deletes of few keys, with iterators of all ages, against the sets of keys that they must see.
TEST(QueueTest, IteratorsSeeStateOfTheirSequenceNumber) {
  const GapsFrom two(2);
  Prng random(SeedFromEnvironment(5));
  QueueStore store;
  store.MustOpen();
  constexpr std::size_t kKeys = 60;
  std::set<std::string> alive;
  struct Held {
    std::unique_ptr<Iterator> it;
    std::set<std::string> keys;    // that it must see
  };
  std::vector<Held> held(4);
  for (std::uint64_t step = 0; step < 30'000 * ScaleFromEnvironment(); ++step) {
    const std::string key = QueueKey(random.Uniform(kKeys));
    if (random.Uniform(4) == 0) {
      store.Put(key, "v");
      alive.insert(key);
    } else if (random.Uniform(2) == 0) {
      store.Delete(key);
      alive.erase(key);
    }
    if (random.Uniform(2000) == 0) store.Flush();
    Held& one = held[random.Uniform(held.size())];
    if (one.it == nullptr || random.Uniform(4) == 0) {
      one.it.reset(store.db->NewIterator({}));
      one.keys = alive;
    }
    auto at = one.keys.lower_bound(key);
    if (random.Uniform(2) == 0) {
      one.it->Seek(key);
    } else {
      one.it->SeekForPrev(key);
      if (at == one.keys.end() || *at != key) at = at == one.keys.begin() ? one.keys.end() : std::prev(at);
    }
    for (std::uint64_t moves = random.Uniform(5);; --moves) {
      ASSERT_EQ(one.it->Valid() ? one.it->key().ToString() : "", at == one.keys.end() ? "" : *at) << step;
      if (moves == 0 || at == one.keys.end()) break;
      if (random.Uniform(2) == 0) {
        one.it->Next();
        ++at;
      } else {
        one.it->Prev();
        at = at == one.keys.begin() ? one.keys.end() : std::prev(at);
      }
    }
  }
}

// One thread puts at the back, one takes from the front, two look at both ends.
TEST(QueueTest, ThreadsTakeAllThatIsPutInOrder) {
  const GapsFrom eight(8);
  const TempDirectory directory;
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 1u << 20;
  options.statistics = CreateDBStatistics();
  UseIndexOfTest(&options);
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, directory.path() + "/db", &db).ok());
  const std::size_t count = 20'000 * ScaleFromEnvironment();
  std::atomic<std::size_t> put{0};
  std::atomic<std::size_t> taken{0};
  std::atomic<bool> is_wrong{false};
  std::thread producer([&] {
    for (std::size_t i = 0; i < count && !is_wrong; ++i) {
      if (!db->Put({}, QueueKey(i), "value").ok()) is_wrong = true;
      put = i + 1;
    }
  });
  std::thread consumer([&] {
    for (std::size_t i = 0; i < count && !is_wrong;) {
      const bool is_there = put > i;
      const std::unique_ptr<Iterator> it(db->NewIterator({}));
      it->SeekToFirst();
      if (!it->Valid()) {
        if (is_there) is_wrong = true;  // it was put before the iterator was made
        continue;
      }
      if (it->key() != Slice(QueueKey(i))) is_wrong = true;
      if (!db->Delete({}, it->key()).ok()) is_wrong = true;
      taken = ++i;
    }
  });
  std::vector<std::thread> readers;
  for (const bool forward : {true, false}) {
    readers.emplace_back([&, forward] {
      while (taken < count && !is_wrong) {
        const std::size_t low = taken;
        const std::size_t high = put;
        const std::unique_ptr<Iterator> it(db->NewIterator({}));
        const std::size_t low_after = taken + 1;  // one may be deleted that is not counted yet
        if (forward) {
          it->SeekToFirst();
        } else {
          it->SeekToLast();
        }
        if (!it->Valid()) {
          if (high > low_after) is_wrong = true;
          continue;
        }
        const std::string key = it->key().ToString();
        if (forward ? key < QueueKey(low) || key > QueueKey(low_after) : high > low_after && key < QueueKey(high - 1)) {
          is_wrong = true;
        }
      }
    });
  }
  producer.join();
  consumer.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_FALSE(is_wrong) << "taken " << taken << " of " << put;
  const std::uint64_t passed = options.statistics->getTickerCount(NUMBER_ITER_SKIP);
  std::printf("%llu tombstones passed\n", static_cast<unsigned long long>(passed));
  EXPECT_TRUE(db->Close().ok());
}

}  // namespace
}  // namespace cambium::testing
