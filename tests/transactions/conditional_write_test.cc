// Conditional writes: a batch is written exactly if its conditions hold at the moment of the write.
#include "cambium/conditional_write.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/db_inside.h"
#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "testing/test_store.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing::conditional_write_test {
namespace {

std::string Get(DB* db, Slice key, ColumnFamilyHandle* family = nullptr) {
  std::string value;
  const Status s = db->Get({}, family == nullptr ? db->DefaultColumnFamily() : family, key, &value);
  return s.ok() ? value : s.IsNotFound() ? "NotFound" : s.ToString();
}

// A database with threads, in a simulated file system: a plain one, or one that locks keys.
struct Store {
  explicit Store(bool locks, std::int64_t lock_timeout = 10'000, const Comparator* comparator = nullptr) {
    if (comparator != nullptr) options.comparator = comparator;
    options.file_system = std::make_shared<SimFileSystem>();
    options.info_log = NullLogger();
    Status s;
    if (locks) {
      std::unique_ptr<TransactionDB> locking;
      s = TransactionDB::Open(options, {.default_lock_timeout = lock_timeout}, kStorePath, &locking);
      db = std::move(locking);
    } else {
      s = DB::Open(options, kStorePath, &db);
    }
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  Options options = SmallOptions();
  std::unique_ptr<DB> db;
};

// "written", "unmet", or the error.
std::string Outcome(const Status& s, bool written) {
  if (!s.ok()) return written ? "an error, but written" : s.ToString();
  return written ? "written" : "unmet";
}
std::string Absent(DB* db, Slice key, Slice value, const WriteOptions& options = {}) {
  bool written = true;
  const Status s = PutIfAbsent(db, options, key, value, &written);
  return Outcome(s, written);
}
std::string Set(DB* db, Slice key, Slice expected, Slice value) {
  bool written = true;
  const Status s = CompareAndSet(db, {}, key, expected, value, &written);
  return Outcome(s, written);
}
std::string Delete(DB* db, Slice key, Slice expected) {
  bool written = true;
  const Status s = CompareAndDelete(db, {}, key, expected, &written);
  return Outcome(s, written);
}
std::string Write(DB* db, const WriteConditions& conditions, WriteBatch* batch, const WriteOptions& options = {}) {
  bool written = true;
  const Status s = WriteIf(db, options, conditions, batch, &written);
  return Outcome(s, written);
}
bool StartsWith(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

class EachKindTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(ConditionalWrite, EachKindTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "TransactionDB" : "DB"; });

TEST_P(EachKindTest, PutIfAbsentPutsOnlyAbsentKeys) {
  Store store(GetParam());
  DB* const db = store.db.get();
  EXPECT_EQ(Absent(db, "a", "1"), "written");
  EXPECT_EQ(Absent(db, "a", "2"), "unmet");
  EXPECT_EQ(Get(db, "a"), "1");
  ASSERT_TRUE(db->Delete({}, "a").ok());
  EXPECT_EQ(Absent(db, "a", ""), "written");
  EXPECT_EQ(Absent(db, "a", "3"), "unmet");  // an empty value is a value
  EXPECT_EQ(Get(db, "a"), "");
}

TEST_P(EachKindTest, CompareAndSetNeedsTheExpectedValue) {
  Store store(GetParam());
  DB* const db = store.db.get();
  EXPECT_EQ(Set(db, "a", "", "1"), "unmet");  // absent is not empty
  for (const std::size_t size : {0, 1, 100, 5'000}) {
    const std::string value(size, 'v');
    ASSERT_TRUE(db->Put({}, "a", value).ok());
    for (const bool flushed : {false, true}) {
      if (flushed) {
        ASSERT_TRUE(db->Flush({}).ok());
      }
      EXPECT_EQ(Set(db, "a", value + "x", "2"), "unmet");
      EXPECT_EQ(Get(db, "a"), value);
    }
    EXPECT_EQ(Set(db, "a", value, value + "n"), "written");
    EXPECT_EQ(Get(db, "a"), value + "n");
  }
}

TEST_P(EachKindTest, CompareAndDeleteNeedsTheExpectedValue) {
  Store store(GetParam());
  DB* const db = store.db.get();
  EXPECT_EQ(Delete(db, "a", "1"), "unmet");
  ASSERT_TRUE(db->Put({}, "a", "1").ok());
  EXPECT_EQ(Delete(db, "a", "2"), "unmet");
  EXPECT_EQ(Get(db, "a"), "1");
  EXPECT_EQ(Delete(db, "a", "1"), "written");
  EXPECT_EQ(Get(db, "a"), "NotFound");
}

TEST_P(EachKindTest, ABatchIsWrittenAsAWholeOrNotAtAll) {
  Store store(GetParam());
  DB* const db = store.db.get();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(store.options, "f", &family).ok());
  const std::unique_ptr<ColumnFamilyHandle> owned(family);
  ASSERT_TRUE(db->Put({}, "lock", "free").ok());
  ASSERT_TRUE(db->Put({}, family, "owner", "nobody").ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("lock", "taken").ok());
  ASSERT_TRUE(batch.Put(family, "owner", "me").ok());
  ASSERT_TRUE(batch.Delete("other").ok());
  WriteConditions conditions;
  conditions.HasValue("lock", "free").HasValue(family, "owner", "me").IsAbsent(family, "lock");
  EXPECT_EQ(conditions.Count(), 3u);
  EXPECT_EQ(Write(db, conditions, &batch), "unmet");
  EXPECT_EQ(Get(db, "lock"), "free");
  EXPECT_EQ(Get(db, "owner", family), "nobody");
  conditions.Clear();
  conditions.HasValue("lock", "free").HasValue(family, "owner", "nobody").IsAbsent(family, "lock");
  EXPECT_EQ(Write(db, conditions, &batch, {.sync = true}), "written");
  EXPECT_EQ(Get(db, "lock"), "taken");
  EXPECT_EQ(Get(db, "owner", family), "me");
  EXPECT_EQ(Write(db, {}, &batch), "written");  // without conditions it is DB::Write
}

TEST_P(EachKindTest, AnEmptyBatchOnlyChecksTheConditions) {
  Store store(GetParam());
  DB* const db = store.db.get();
  ASSERT_TRUE(db->Put({}, "a", "1").ok());
  WriteBatch empty;
  EXPECT_EQ(Write(db, WriteConditions().HasValue("a", "1"), &empty), "written");
  EXPECT_EQ(Write(db, WriteConditions().HasValue("a", "2"), &empty, {.sync = true}), "unmet");
}

// Threads raise counters with CompareAndSet: no increment is lost, while flushes and compactions run.
TEST_P(EachKindTest, NoIncrementOfAnyThreadIsLost) {
  Store store(GetParam());
  DB* const db = store.db.get();
  constexpr int kCounters = 3;
  constexpr int kThreads = 4;
  const std::uint64_t rounds = ScaledCount(300);
  const std::uint64_t seed = SeedFromEnvironment(1);
  const auto counter = [](std::size_t i) { return "counter" + std::to_string(i); };
  for (std::size_t i = 0; i < kCounters; ++i) ASSERT_TRUE(db->Put({}, counter(i), "0").ok());
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + t);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::string key = counter(prng.Uniform(kCounters));
        std::string outcome;
        do {
          const std::string old = Get(db, key);
          outcome = Set(db, key, old, std::to_string(std::stoull(old) + 1));
        } while (outcome == "unmet");
        EXPECT_EQ(outcome, "written");
        if (prng.OneIn(50)) {
          EXPECT_TRUE(db->Flush({}).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kCounters; ++i) sum += std::stoull(Get(db, counter(i)));
  EXPECT_EQ(sum, kThreads * rounds);
}

// The same with versions: some values are inline, others in the log, and the family begins to keep versions meanwhile.
TEST_P(EachKindTest, NoIncrementOfAnyThreadWithVersionsIsLost) {
  Store store(GetParam());
  DB* const db = store.db.get();
  constexpr std::uint64_t kCounters = 3;
  constexpr std::uint64_t kThreads = 4;
  const std::uint64_t rounds = ScaledCount(300);
  const std::uint64_t seed = SeedFromEnvironment(1);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + t);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::string key = NumberedKey(static_cast<int>(prng.Uniform(kCounters)));
        std::string outcome;
        do {
          std::string old;
          SequenceNumber version = 0;
          const Status s = GetWithVersion(db, {}, nullptr, key, &old, &version);
          EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
          const std::uint64_t next = (s.ok() ? std::stoull(old) : 0) + 1;
          bool written = true;
          const std::string value = std::to_string(next) + std::string(prng.OneIn(2) ? 100 : 0, ' ');
          const Status put = PutIfUnchanged(db, {}, key, version, value, &written);
          outcome = Outcome(put, written);
        } while (outcome == "unmet");
        EXPECT_EQ(outcome, "written");
        if (prng.OneIn(50)) {
          EXPECT_TRUE(db->Flush({}).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kCounters; ++i) sum += std::stoull(Get(db, NumberedKey(static_cast<int>(i))));
  EXPECT_EQ(sum, kThreads * rounds);
}

// Several threads put the same keys. For each key exactly one put succeeds, and the key has its value.
TEST_P(EachKindTest, OneOfManyPutIfAbsentSucceeds) {
  Store store(GetParam());
  DB* const db = store.db.get();
  constexpr std::size_t kThreads = 4;
  const std::uint64_t keys = ScaledCount(200);
  std::vector<std::array<bool, kThreads>> put(keys);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < keys; ++i) {
        const std::string outcome = Absent(db, NumberedKey(i), std::to_string(t));
        put[i][t] = outcome == "written";
        EXPECT_TRUE(put[i][t] || outcome == "unmet") << outcome;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint64_t i = 0; i < keys; ++i) {
    std::size_t winners = 0;
    for (std::size_t t = 0; t < kThreads; ++t) {
      if (!put[i][t]) continue;
      ++winners;
      EXPECT_EQ(Get(db, NumberedKey(i)), std::to_string(t));
    }
    EXPECT_EQ(winners, 1u) << i;
  }
}

// ---- Without locks ----

// Compares and sets, while another write comes between the comparison and the append. Returns the value.
std::string SetDuringAWrite(Slice written) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "old");
  bool once = false;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) == "ConditionalWrite:read" && !std::exchange(once, true)) store.Put("k", written);
  });
  const std::string outcome = Set(store.db.get(), "k", "old", "new");
  FaultPoints::Instance().Set(nullptr);
  return outcome + ", " + store.Get("k");
}

TEST(ConditionalWriteTest, AWriteBetweenTheComparisonAndTheAppendIsSeen) {
  EXPECT_EQ(SetDuringAWrite("other"), "unmet, other");
  EXPECT_EQ(SetDuringAWrite("old"), "written, new");  // it compares again
  const MutantScope mutant(Mutant::kConditionIsCheckedBeforeTheLock);
  EXPECT_EQ(SetDuringAWrite("other"), "written, new");  // the other write is lost
}

// Writes a batch that appends nothing if "a" has the value that it had before another write, which comes after the
// comparison.
std::string WriteNothingDuringAWrite(WriteBatch* batch) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  bool once = false;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) == "ConditionalWrite:read" && !std::exchange(once, true)) store.Put("a", "2");
  });
  std::string outcome = Write(store.db.get(), WriteConditions().HasValue("a", "1"), batch);
  FaultPoints::Instance().Set(nullptr);
  return outcome;
}

TEST(ConditionalWriteTest, EmptyBatchComparesAgainAfterAWrite) {
  WriteBatch empty;
  EXPECT_EQ(WriteNothingDuringAWrite(&empty), "unmet");
}

// A batch of an empty range has operations, but nothing to append.
TEST(ConditionalWriteTest, BatchOfAnEmptyRangeComparesAgainAfterAWrite) {
  WriteBatch batch;
  ASSERT_TRUE(batch.DeleteRange("x", "x").ok());
  EXPECT_EQ(WriteNothingDuringAWrite(&batch), "unmet");
}

TEST(ConditionalWriteTest, ConflictsWithOpenTransactions) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "1");
  const std::unique_ptr<Transaction> transaction(BeginOptimisticTransaction(store.db.get(), {}));
  ASSERT_TRUE(transaction->Put("k", "2").ok());
  ASSERT_EQ(Set(store.db.get(), "k", "1", "3"), "written");
  EXPECT_TRUE(transaction->Commit().IsBusy());
  EXPECT_EQ(store.Get("k"), "3");
}

TEST(ConditionalWriteTest, KeepsNoHistoryAfterItsEnd) {
  TestStore store;
  store.MustOpen();
  ASSERT_EQ(Absent(store.db.get(), "k", "1"), "written");
  EXPECT_EQ(Absent(store.db.get(), "k", "1"), "unmet");
  EXPECT_EQ(DbInside::Of(store.db.get())->history()->mark_count(), 0u);
}

// Drops a column family of a condition between the comparison and the append.
std::string WriteDuringADrop(bool locks) {
  Store store(locks);
  DB* const db = store.db.get();
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(db->CreateColumnFamily(store.options, "f", &family).ok());
  const std::unique_ptr<ColumnFamilyHandle> owned(family);
  EXPECT_TRUE(db->Put({}, family, "k", "v").ok());
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) == "ConditionalWrite:read") {
      EXPECT_TRUE(db->DropColumnFamily(family).ok());
    }
  });
  WriteBatch batch;
  EXPECT_TRUE(batch.Put("k", "v").ok());
  const std::string outcome = Write(db, WriteConditions().HasValue(family, "k", "v"), &batch);
  FaultPoints::Instance().Set(nullptr);
  EXPECT_EQ(Get(db, "k"), "NotFound");
  return outcome;
}

TEST(ConditionalWriteTest, DropOfAFamilyBeforeTheAppendIsSeen) {
  EXPECT_TRUE(StartsWith(WriteDuringADrop(false), "Column family dropped"));
  EXPECT_TRUE(StartsWith(WriteDuringADrop(true), "Column family dropped"));
}

TEST(ConditionalWriteTest, RefusedAndRepeatedWritesCountNoBytes) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "old");
  const auto user_bytes = [&] {
    std::map<std::string, std::string> figures;
    EXPECT_TRUE(store.db->GetMapProperty("cambium.index-stats", &figures));
    return std::stoull(figures["user_bytes"]);
  };
  const std::uint64_t before = user_bytes();
  EXPECT_EQ(Set(store.db.get(), "k", "other", "new"), "unmet");
  bool once = false;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) == "ConditionalWrite:read" && !std::exchange(once, true)) store.Put("k", "old");
  });
  EXPECT_EQ(Set(store.db.get(), "k", "old", "new"), "written");
  FaultPoints::Instance().Set(nullptr);
  EXPECT_EQ(user_bytes() - before, 2 * std::string("kold").size());
}

// ---- With locks ----

// The locks are for bytes, but the comparator takes "K" and "k" for the same key.
TEST(ConditionalWriteTest, KeysThatTheComparatorTakesForEqualAreOneKey) {
  Store store(/*locks=*/true, /*lock_timeout=*/10'000, CaseFoldingComparator());
  DB* const db = store.db.get();
  bool once = false;
  std::string inner;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) == "ConditionalWrite:read" && !std::exchange(once, true)) inner = Absent(db, "K", "inner");
  });
  EXPECT_EQ(Absent(db, "k", "outer"), "unmet");
  FaultPoints::Instance().Set(nullptr);
  EXPECT_EQ(inner, "written");
  EXPECT_EQ(Get(db, "k"), "inner");
}

TEST(ConditionalWriteTest, WaitsForTheLocksOfTransactions) {
  Store store(/*locks=*/true, /*lock_timeout=*/0);
  auto* const db = dynamic_cast<TransactionDB*>(store.db.get());
  const std::unique_ptr<Transaction> transaction(db->BeginTransaction({}));
  ASSERT_TRUE(transaction->Put("k", "1").ok());
  EXPECT_TRUE(StartsWith(Absent(db, "k", "2"), "Operation timed out (lock)"));
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("free", "1").ok());
  EXPECT_TRUE(StartsWith(Write(db, WriteConditions().IsAbsent("k"), &batch), "Operation timed out (lock)"));
  EXPECT_EQ(Get(db, "free"), "NotFound");
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(Absent(db, "k", "2"), "unmet");
  EXPECT_EQ(Set(db, "k", "1", "2"), "written");
  EXPECT_EQ(Get(db, "k"), "2");
  EXPECT_TRUE(db->GetLockStatusData().empty());
}

// A database that passes its calls on to a TransactionDB.
class Passing final : public StackableDB {
 public:
  using StackableDB::StackableDB;
};

TEST(ConditionalWriteTest, FindsTheLocksBelowAnotherDatabase) {
  Store store(/*locks=*/true, /*lock_timeout=*/0);
  auto* const locking = dynamic_cast<TransactionDB*>(store.db.get());
  Passing above(std::move(store.db));
  const std::unique_ptr<Transaction> transaction(locking->BeginTransaction({}));
  ASSERT_TRUE(transaction->Put("k", "1").ok());
  EXPECT_TRUE(StartsWith(Absent(&above, "k", "2"), "Operation timed out (lock)"));
}

// ---- Bad input ----

TEST(ConditionalWriteTest, BadInputIsRefused) {
  TestStore store;
  store.MustOpen();
  DB* const db = store.db.get();
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  bool written = true;
  EXPECT_TRUE(WriteIf(db, {}, {}, &batch, nullptr).IsInvalidArgument());
  EXPECT_TRUE(WriteIf(nullptr, {}, {}, &batch, &written).IsInvalidArgument());
  EXPECT_TRUE(WriteIf(db, {}, {}, nullptr, &written).IsInvalidArgument());
  EXPECT_TRUE(PutIfAbsent(db, {}, std::string(70'000, 'k'), "1", &written).IsInvalidArgument());
  EXPECT_TRUE(PutIfAbsent(db, {.sync = true, .disableWAL = true}, "a", "1", &written).IsInvalidArgument());

  TestStore other;
  other.MustOpen();
  EXPECT_TRUE(WriteIf(db, {}, WriteConditions().IsAbsent(other.db->DefaultColumnFamily(), "a"), &batch, &written)
                  .IsInvalidArgument());
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(store.options, "f", &family).ok());
  const std::unique_ptr<ColumnFamilyHandle> owned(family);
  ASSERT_TRUE(db->DropColumnFamily(family).ok());
  EXPECT_TRUE(WriteIf(db, {}, WriteConditions().IsAbsent(family, "a"), &batch, &written).IsColumnFamilyDropped());
  EXPECT_FALSE(written);
  EXPECT_EQ(store.Get("a"), "NotFound");
}

TEST(ConditionalWriteTest, ReadOnlyAndClosedDatabasesTakeNone) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  ASSERT_TRUE(store.db->Close().ok());
  bool written = true;
  EXPECT_TRUE(PutIfAbsent(store.db.get(), {}, "b", "1", &written).IsShutdownInProgress());
  store.db.reset();
  std::unique_ptr<DB> reader;
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &reader).ok());
  EXPECT_TRUE(PutIfAbsent(reader.get(), {}, "b", "1", &written).IsNotSupported());
  EXPECT_FALSE(written);
}

}  // namespace
}  // namespace cambium::testing::conditional_write_test
