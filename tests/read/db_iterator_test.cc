#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "testing/counting_comparator.h"
#include "testing/mutant_scope.h"
#include "testing/test_store.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Writes even numbers, with values of 100 bytes (separated) and 10 bytes (inline) in turn, into the tree, a run and the
// memtable.
void Fill(TestStore* store) {
  store->MustOpen();
  for (int i = 0; i < 200; i += 2) {
    if (i % 6 == 0) store->Put(NumberedKey(i), std::string(i % 4 == 0 ? 100 : 10, 'v'));
  }
  store->Compact();
  for (int i = 0; i < 200; i += 2) {
    if (i % 6 == 2) store->Put(NumberedKey(i), std::string(i % 4 == 0 ? 100 : 10, 'v'));
  }
  store->Flush();
  for (int i = 0; i < 200; i += 2) {
    if (i % 6 == 4) store->Put(NumberedKey(i), std::string(i % 4 == 0 ? 100 : 10, 'v'));
  }
}

// A store whose values are all in the log and not in the page cache.
void FillCold(TestStore* store, int count) {
  store->options.blob_file_size = 1u << 20;
  store->MustOpen();
  for (int i = 0; i < count; ++i) store->Put(NumberedKey(i), NumberedKey(i) + std::string(1000, 'v'));
  store->Compact();
  store->fs->SetResident(false);
}

std::uint64_t LogReads(TestStore* store, const std::function<void()>& run) {
  std::uint64_t reads = 0;
  SimFault counter;
  counter.matches = [&reads](SimOpKind kind, const std::string& path) {
    reads += kind == SimOpKind::kRead && path.ends_with(".log") ? 1 : 0;
    return false;
  };
  const int id = store->fs->AddFault(counter);
  run();
  store->fs->RemoveFault(id);
  return reads;
}

// Once values are in memory again, no queue reads them: neighbours are copied together.
TEST(DbIteratorTest, WarmScanReadsNothingAhead) {
  TestStore store;
  FillCold(&store, 600);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  const auto reads_of = [&](int count) {
    return LogReads(&store, [&] {
      for (int i = 0; i < count; ++i, it->Next()) ASSERT_FALSE(it->value().empty());
    });
  };
  EXPECT_LE(reads_of(200), 200u / 16 + 8) << "cold: together";
  store.fs->SetResident(true);
  reads_of(150);
  const auto queued = [&] {
    const SimReadCounts counts = store.fs->read_counts();
    return counts.queued[0] + counts.queued[1];
  };
  const std::uint64_t before = queued();
  EXPECT_LE(reads_of(50), 50u / 4) << "warm: leaves of 512 bytes have few entries";
  EXPECT_LE(reads_of(50), 50u / 4);
  EXPECT_EQ(queued(), before);
  store.fs->SetResident(false);
  EXPECT_LE(reads_of(100), 100u / 16 + 8) << "and cold again";
}

TEST(DbIteratorTest, ColdScanReadsValuesTogether) {
  TestStore store;
  FillCold(&store, 600);
  const auto scan = [&](int from, int count, bool wants_values) {
    return LogReads(&store, [&] {
      ReadOptions read;
      read.allow_unprepared_value = !wants_values;
      const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
      int seen = 0;
      for (it->Seek(NumberedKey(from)); it->Valid() && seen < count; it->Next(), ++seen) {
        ASSERT_EQ(it->key(), Slice(NumberedKey(from + seen)));
        if (!wants_values) continue;
        ASSERT_EQ(it->value(), Slice(NumberedKey(from + seen) + std::string(1000, 'v')));
      }
      EXPECT_EQ(seen, count);
    });
  };
  EXPECT_EQ(scan(0, 600, false), 0u) << "keys are not in the log";
  EXPECT_LE(scan(0, 600, true), 600u / 16 + 8) << "half of 32 at a time, once it is known to be long";
  for (int i = 0; i < 40; ++i) scan(10 * i, 10, true);
  EXPECT_LE(scan(400, 10, true), 2u) << "as long as scans usually are";
  for (int i = 0; i < 40; ++i) scan(10 * i, 1, true);
  // Most scans stop at the first entry that they do not want; its value is read with the others.
  const auto reads_of_scan = [&](int from) {
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    return LogReads(&store, [&] {
      it->Seek(NumberedKey(from));
      for (int i = 0; i < 10; ++i, it->Next()) {
        EXPECT_EQ(it->value(), Slice(NumberedKey(from + i) + std::string(1000, 'v')));
      }
    });
  };
  for (int i = 0; i < 40; ++i) reads_of_scan(10 * i);
  EXPECT_EQ(reads_of_scan(300), 1u);
  for (int i = 0; i < 40; ++i) scan(10 * i, 1, true);
  const std::uint64_t bytes_of_one = scan(500, 1, true);
  EXPECT_EQ(bytes_of_one, 1u);
}

// A key is valid until the iterator moves. Regression: reading a value from the device moved the cursor, and the key
// returned before changed in place.
TEST(DbIteratorTest, KeyStaysValidWhileItsValueIsRead) {
  for (const bool prepares : {false, true}) {
    TestStore store;
    FillCold(&store, 600);
    for (int from = 0; from < 600; from += 7) {
      const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
      it->Seek(NumberedKey(from));
      for (int i = from; i < std::min(600, from + 12); ++i, it->Next()) {
        ASSERT_TRUE(it->Valid());
        const Slice key = it->key();
        ASSERT_TRUE(!prepares || it->PrepareValue());
        ASSERT_EQ(it->value(), Slice(NumberedKey(i) + std::string(1000, 'v')));
        ASSERT_EQ(key, Slice(NumberedKey(i)));
        ASSERT_EQ(it->key(), Slice(NumberedKey(i)));
      }
      it->SeekForPrev(NumberedKey(from));
      for (int i = from; i >= std::max(0, from - 12); --i, it->Prev()) {
        const Slice key = it->key();
        ASSERT_EQ(it->value(), Slice(NumberedKey(i) + std::string(1000, 'v')));
        ASSERT_EQ(key, Slice(NumberedKey(i)));
      }
    }
  }
}

TEST(DbIteratorTest, DirectionChangesStartAtUserPosition) {
  TestStore store;
  FillCold(&store, 300);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  const auto expect_at = [&](int i) {
    ASSERT_TRUE(it->Valid()) << i << ' ' << it->status().ToString();
    EXPECT_EQ(it->key(), Slice(NumberedKey(i)));
    EXPECT_EQ(it->value(), Slice(NumberedKey(i) + std::string(1000, 'v')));
  };
  it->SeekToFirst();
  for (int i = 0; i < 50; ++i, it->Next()) expect_at(i);
  for (int i = 50; i > 20; --i, it->Prev()) expect_at(i);
  for (int i = 20; i < 200; ++i, it->Next()) expect_at(i);
  it->Seek(NumberedKey(250));
  for (int i = 250; i < 300; ++i, it->Next()) expect_at(i);
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  it->SeekToLast();
  for (int i = 299; i >= 0; --i, it->Prev()) expect_at(i);
  EXPECT_FALSE(it->Valid());

  // One value is damaged, and the other values of its block are not. So scans from both sides read up to it.
  std::string log;
  const std::string path = store.FilesOf(".log").front();
  ASSERT_TRUE(store.fs->probe().ReadContents(path, &log).ok());
  ASSERT_TRUE(store.fs->tampering().FlipBit(path, log.find(NumberedKey(100) + "v") + 500, 3).ok());
  it->Seek(NumberedKey(60));
  for (int i = 60; i < 100; ++i, it->Next()) expect_at(i);
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
  it->SeekForPrev(NumberedKey(140));
  for (int i = 140; i > 100; --i, it->Prev()) expect_at(i);
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
}

TEST(DbIteratorTest, MovesBothWaysAndTurns) {
  TestStore store;
  Fill(&store);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  EXPECT_FALSE(it->Valid());  // not positioned yet
  EXPECT_TRUE(it->status().ok());
  int at = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), at += 2) ASSERT_EQ(it->key(), Slice(NumberedKey(at)));
  EXPECT_EQ(at, 200);
  EXPECT_TRUE(it->status().ok());
  at = 198;
  for (it->SeekToLast(); it->Valid(); it->Prev(), at -= 2) ASSERT_EQ(it->key(), Slice(NumberedKey(at)));
  EXPECT_EQ(at, -2);
  Prng prng(SeedFromEnvironment(71));
  it->Seek(NumberedKey(100));
  at = 100;
  for (int step = 0; step < 2000; ++step) {
    const bool forward = at < 50 || (at < 150 && prng.OneIn(2));
    forward ? it->Next() : it->Prev();
    at += forward ? 2 : -2;
    ASSERT_TRUE(it->Valid());
    ASSERT_EQ(it->key(), Slice(NumberedKey(at)));
    if (prng.OneIn(3)) {
      ASSERT_EQ(it->value().size(), at % 4 == 0 ? 100u : 10u);
    }
  }
}

TEST(DbIteratorTest, SeekAndSeekForPrevFindTheNearestKeys) {
  TestStore store;
  Fill(&store);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  for (int i = 0; i < 200; ++i) {
    it->Seek(NumberedKey(i));
    const int next = i + i % 2;
    ASSERT_EQ(it->Valid(), next < 200) << i;
    if (it->Valid()) {
      ASSERT_EQ(it->key(), Slice(NumberedKey(next)));
    }
    it->SeekForPrev(NumberedKey(i));
    ASSERT_TRUE(it->Valid());
    ASSERT_EQ(it->key(), Slice(NumberedKey(i - i % 2)));
  }
  it->SeekForPrev("a");
  EXPECT_FALSE(it->Valid());
  it->Seek("z");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  it->SeekForPrev("z");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(NumberedKey(198)));
}

TEST(DbIteratorTest, KeysOutsideTheBoundsAreHidden) {
  TestStore store;
  Fill(&store);
  for (const auto& [low, high] : std::vector<std::pair<int, int>>{{50, 100}, {51, 99}, {50, 50}, {100, 50}, {0, 200}}) {
    const std::string low_key = NumberedKey(low);
    const std::string high_key = NumberedKey(high);
    const Slice lower = low_key;
    const Slice upper = high_key;
    ReadOptions options;
    options.iterate_lower_bound = &lower;
    options.iterate_upper_bound = &upper;
    const std::unique_ptr<Iterator> it(store.db->NewIterator(options));
    std::vector<int> inside;
    for (int i = 0; i < 200; i += 2) {
      if (i >= low && i < high) inside.push_back(i);
    }
    std::size_t n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++n) ASSERT_EQ(it->key(), Slice(NumberedKey(inside.at(n))));
    ASSERT_EQ(n, inside.size());
    for (it->SeekToLast(); it->Valid(); it->Prev(), --n) ASSERT_EQ(it->key(), Slice(NumberedKey(inside.at(n - 1))));
    ASSERT_EQ(n, 0u);
    for (int i = 0; i < 200; i += 7) {
      it->Seek(NumberedKey(i));
      const auto next = std::find_if(inside.begin(), inside.end(), [&](int k) { return k >= i; });
      ASSERT_EQ(it->Valid(), next != inside.end());
      if (it->Valid()) {
        ASSERT_EQ(it->key(), Slice(NumberedKey(*next)));
      }
      it->SeekForPrev(NumberedKey(i));
      const auto before = std::find_if(inside.rbegin(), inside.rend(), [&](int k) { return k <= i; });
      ASSERT_EQ(it->Valid(), before != inside.rend());
      if (it->Valid()) {
        ASSERT_EQ(it->key(), Slice(NumberedKey(*before)));
      }
    }
  }
}

TEST(DbIteratorTest, ShowsTheStateAtItsCreation) {
  TestStore store;
  Fill(&store);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  for (int i = 0; i < 200; ++i) store.Put(NumberedKey(i), "new");
  ASSERT_TRUE(store.db->Delete({}, NumberedKey(0)).ok());
  store.Compact();
  store.RunUntilIdle();
  int at = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), at += 2) {
    ASSERT_EQ(it->key(), Slice(NumberedKey(at)));
    ASSERT_EQ(it->value().size(), at % 4 == 0 ? 100u : 10u);
  }
  EXPECT_EQ(at, 200);
}

// Regression: a seek at a snapshot passed all keys of a memtable that was filled after the snapshot.
std::uint64_t ComparisonsAtOldSnapshot() {
  const CountingComparator order;
  TestStore store;
  store.options.comparator = &order;
  store.options.write_buffer_size = 4u << 20;
  store.MustOpen();
  store.Put("z", "seen by the snapshot");
  store.Flush();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  for (int i = 0; i < 10'000; ++i) store.Put(NumberedKey(i), "newer");
  ReadOptions read;
  read.snapshot = snapshot;
  static_cast<void>(order.TakeCount());
  {
    const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
    it->Seek("k");
    EXPECT_TRUE(it->Valid());
    EXPECT_EQ(it->key().ToString(), "z");
    it->Next();
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().ok());
  }
  const std::uint64_t count = order.TakeCount();
  store.db->ReleaseSnapshot(snapshot);
  store.MustClose();
  return count;
}

TEST(DbIteratorTest, SeekAtSnapshotSkipsNewerMemtables) {
  EXPECT_LE(ComparisonsAtOldSnapshot(), 20u);
  const MutantScope mutant(Mutant::kIteratorPassesNewerTables);
  EXPECT_GT(ComparisonsAtOldSnapshot(), 500u);
}

// With allow_unprepared_value, moving over keys reads no log segment. PrepareValue reads the value once.
TEST(DbIteratorTest, MovingOverKeysReadsNoValues) {
  TestStore store;
  Fill(&store);
  std::uint64_t log_reads = 0;
  SimFault never;
  never.kind = SimOpKind::kRead;
  never.nth = ~std::uint64_t{0};
  never.matches = [&](SimOpKind, const std::string& path) {
    if (path.ends_with(".log") || path.ends_with(".val")) ++log_reads;
    return false;
  };
  store.fs->AddFault(never);
  ReadOptions read;
  read.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    EXPECT_GE(it->ValueSize(), 10u);
  }
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
  }
  EXPECT_EQ(log_reads, 0u);
  it->Seek(NumberedKey(4));  // a value of 100 bytes
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(it->PrepareValue());
    ASSERT_EQ(it->value().size(), 100u);
  }
  EXPECT_EQ(log_reads, 1u);
  const std::unique_ptr<Iterator> prepared(store.db->NewIterator({}));
  prepared->Seek(NumberedKey(4));
  EXPECT_EQ(log_reads, 2u);
  ASSERT_TRUE(prepared->PrepareValue());
  ASSERT_EQ(prepared->value().size(), 100u);
  EXPECT_EQ(log_reads, 2u) << "the move has read it";
}

TEST(DbIteratorTest, ValueSizeNeedsNoRead) {
  TestStore store;
  store.MustOpen();
  for (const std::size_t size : {0u, 10u, 63u, 64u, 1000u, 20'000u}) {
    store.Put("k", std::string(size, 'v'));
    for (int round = 0; round < 2; ++round) {
      ReadOptions read;
      read.allow_unprepared_value = true;
      const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
      it->SeekToFirst();
      const std::uint64_t said = it->ValueSize();
      EXPECT_GE(said, size);
      EXPECT_LE(said, size > 8192 ? size + 4096 + size / 100 : size + 8);
      ASSERT_TRUE(it->PrepareValue());
      EXPECT_EQ(it->value().size(), size);
      EXPECT_EQ(it->ValueSize(), size);  // the value was read: the size is exact
      store.Flush();
    }
  }
}

// A read that fails once ends the scan like damage; the next seek reads again.
TEST(DbIteratorTest, ValueThatCannotBeReadStopsTheIteratorUntilItSeeks) {
  TestStore store;
  Fill(&store);
  for (const bool prepare : {false, true}) {
    ReadOptions options;
    options.allow_unprepared_value = prepare;
    const std::unique_ptr<Iterator> it(store.db->NewIterator(options));
    SimFault fault;
    fault.kind = SimOpKind::kRead;
    fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
    store.fs->AddFault(fault);
    it->Seek(NumberedKey(4));
    if (prepare) {
      ASSERT_TRUE(it->Valid());
      EXPECT_TRUE(it->value().empty());  // not prepared: no read, no error
      EXPECT_TRUE(it->Valid());
      EXPECT_FALSE(it->PrepareValue());
    }
    for (int i = 0; i < 3; ++i, it->Next()) {
      EXPECT_FALSE(it->Valid());
      EXPECT_TRUE(it->status().IsIOError()) << it->status().ToString();
      EXPECT_FALSE(it->PrepareValue());
    }
    it->Seek(NumberedKey(4));
    ASSERT_TRUE(it->Valid());
    EXPECT_TRUE(it->PrepareValue());
    EXPECT_EQ(it->value().size(), 100u);
    EXPECT_TRUE(it->status().ok());
    it->Next();
    ASSERT_EQ(it->key(), Slice(NumberedKey(6)));
  }
}

TEST(DbIteratorTest, UnreadablePageIsAnErrorNotTheEnd) {
  TestStore store;
  // Under a ceiling, an Open reads small indexes, and leaves some of their pages in the cache.
  store.options.max_space_amplification = 0;
  Fill(&store);
  store.Reopen();
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(IndexFileSuffix()); };
  fault.sticky = true;
  store.fs->AddFault(fault);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIOError()) << it->status().ToString();
  std::string value;
  EXPECT_TRUE(store.db->Get({}, NumberedKey(0), &value).IsIOError());
  store.fs->ClearFaults();
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(NumberedKey(0)));
}

TEST(DbIteratorTest, EmptyDatabaseHasNoKeys) {
  TestStore store;
  store.MustOpen();
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_FALSE(it->Valid());
  it->Seek("");
  EXPECT_FALSE(it->Valid());
  it->SeekForPrev("\xff");
  EXPECT_FALSE(it->Valid());
  EXPECT_FALSE(it->PrepareValue());
  EXPECT_TRUE(it->status().ok());
}

}  // namespace
}  // namespace cambium::testing
