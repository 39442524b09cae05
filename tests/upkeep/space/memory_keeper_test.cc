// One limit for the memory of memtables and filters of a database: db_write_buffer_size, WriteBufferManager. Several
// databases: shared_memory_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cambium/write_buffer_manager.h"
#include "memtable/write_budget.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "upkeep/space/budget_store.h"
#include "util/epoch.h"
#include "util/fault_point.h"

namespace cambium::testing {
namespace {

TEST(MemoryKeeperTest, TheLimitHoldsAtEveryWrite) {
  BudgetStore store(256 * kKiB);
  store.MustOpen();
  EXPECT_LE(store.PutRandom(10'000 * static_cast<int>(ScaleFromEnvironment())), 256 * kKiB);
  EXPECT_GT(store.Property("num-runs") + store.Property("index-bytes"), 0u);
  EXPECT_EQ(store.Property("write-buffer-manager-usage"), store.manager->memory_usage());
  EXPECT_EQ(store.Property("write-buffer-manager-capacity"), 256 * kKiB);
  EXPECT_EQ(store.Verify(), "");
  const MutantScope mutant(Mutant::kWritesPassBudget);
  EXPECT_GT(store.PutRandom(10'000), 256 * kKiB);
}

TEST(MemoryKeeperTest, DbWriteBufferSizeLimitsMemory) {
  BudgetStore store(1);
  store.options.write_buffer_manager = nullptr;
  store.options.db_write_buffer_size = 256 * kKiB;
  store.MustOpen();
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < 5000 * ScaleFromEnvironment(); ++i) {
    store.Put(std::to_string(store.prng.Next()), std::string(100, 'v'));
    most = std::max(most, store.Property("write-buffer-manager-usage"));
    ASSERT_GE(store.Property("write-buffer-manager-usage"),
              store.Property("size-all-mem-tables") + store.Property("estimate-table-readers-mem"));
  }
  EXPECT_LE(most, 256 * kKiB);
  EXPECT_GT(most, 128 * kKiB) << "the limit is used";
  EXPECT_EQ(store.db->GetOptions().write_buffer_manager, nullptr);
}

// Each family's memtable is small. They are flushed together, largest first.
TEST(MemoryKeeperTest, ManyFamiliesStayWithinTheLimit) {
  BudgetStore store(1024 * kKiB);
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("f" + std::to_string(i));
  store.MustOpenWith(names);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 6000 * ScaleFromEnvironment(); ++i) {
    most = std::max(most, store.PutRandom(1, store.handles[store.prng.Uniform(301)]));
  }
  EXPECT_LE(most, 1024 * kKiB);
  EXPECT_EQ(store.Verify(), "");
  store.Close();
}

// A batch over more families than the budget has room for is written all the same, and the memory is given back.
TEST(MemoryKeeperTest, ABatchLargerThanTheLimitIsWritten) {
  BudgetStore store(64 * kKiB);
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("f" + std::to_string(i));
  store.MustOpenWith(names);
  WriteBatch batch;
  for (ColumnFamilyHandle* const handle : store.handles) ASSERT_TRUE(batch.Put(handle, "k", "v").ok());
  ASSERT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_GT(store.manager->memory_usage(), 64 * kKiB);
  store.RunUntilIdle();
  EXPECT_LE(store.PutRandom(1), 64 * kKiB);
  for (ColumnFamilyHandle* const handle : store.handles) EXPECT_EQ(store.GetFrom(handle, "k"), "v");
  store.Close();
}

TEST(MemoryKeeperTest, TheManagerMayBeDestroyedFirst) {
  TestStore store;
  auto manager = std::make_shared<WriteBufferManager>(64 * kKiB);
  store.options.write_buffer_manager = manager;
  store.MustOpen();
  store.options.write_buffer_manager = nullptr;
  manager.reset();
  for (int i = 0; i < 2000; ++i) store.Put(NumberedKey(i), std::string(50, 'v'));
  store.MustClose();
}

// Memory that filters take is not available to memtables.
bool LimitHoldsWithFilters() {
  BudgetStore store(256 * kKiB);
  store.options.filter_bits_per_key = 64;
  store.MustOpen();
  std::uint64_t most = 0;
  for (int i = 0; i < 30; ++i) {
    store.PutRandom(300);
    store.RunUntilIdle();
    most = std::max(most, store.Property("size-all-mem-tables") + store.Property("estimate-table-readers-mem"));
  }
  store.Flush();
  EXPECT_GT(store.Property("num-runs") + store.Property("index-bytes"), 0u);
  return most <= store.manager->memory_usage() + 256 * kKiB &&
         store.manager->memory_usage() >= store.Property("estimate-table-readers-mem");
}

TEST(MemoryKeeperTest, FiltersCountInTheLimit) {
  if (!TestsUseLsm()) GTEST_SKIP() << "a tree's filters are in its pages, which the page cache counts";
  EXPECT_TRUE(LimitHoldsWithFilters());
  const MutantScope mutant(Mutant::kFiltersUncounted);
  EXPECT_FALSE(LimitHoldsWithFilters());
}

// Memtables that snapshots hold are moved to private runs before they take up the limit.
TEST(MemoryKeeperTest, TheLimitHoldsWithSnapshots) {
  BudgetStore store(512 * kKiB);
  store.MustOpen();
  store.Put("k", "old");
  std::vector<const Snapshot*> snapshots;
  for (int i = 0; i < 30; ++i) {
    EXPECT_LE(store.PutRandom(300), 512 * kKiB);
    snapshots.push_back(store.db->GetSnapshot());
  }
  ReadOptions read;
  read.snapshot = snapshots[0];
  EXPECT_EQ(store.Get("k", read), "old");
  for (const Snapshot* const snapshot : snapshots) store.db->ReleaseSnapshot(snapshot);
}

// Iterators keep flushed memtables in memory, more than the limit. Writes go on, and do not flush each chunk of their
// memory.
TEST(MemoryKeeperTest, WritesGoOnWhileIteratorsHoldTheMemory) {
  const auto listener = std::make_shared<CountingListener>();
  BudgetStore store(512 * kKiB);
  store.options.listeners.push_back(listener);
  store.MustOpen();
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (int i = 0; i < 30; ++i) {
    store.PutRandom(300);
    iterators.emplace_back(store.db->NewIterator({}));
    store.Flush();
  }
  EXPECT_GT(store.manager->memory_usage(), 512 * kKiB);
  listener->reasons.clear();
  store.PutRandom(3000);
  EXPECT_LE(listener->reasons.size(), 20u) << "each has an eighth of the limit, about 64 KiB";
  iterators.clear();
  store.PutRandom(1);
  store.Flush();
  EXPECT_LE(store.manager->memory_usage(), 512 * kKiB);
}

TEST(MemoryKeeperTest, NoSlowdownIsIncomplete) {
  BudgetStore store(64 * kKiB);
  store.MustOpen();
  WriteOptions write;
  write.no_slowdown = true;
  Status s;
  for (int i = 0; s.ok() && i < 2000; ++i) s = store.db->Put(write, NumberedKey(i), std::string(100, 'v'));
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_TRUE(store.db->Put({}, "k", "v").ok());
}

// A batch over many families is refused, or fails at the log, after it has reserved memory for some of them. Their
// memtables are empty, so no flush would free this memory. Returns the memory that such batches leave reserved.
std::size_t LeftByRefusedBatches() {
  BudgetStore store(256 * kKiB);
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("f" + std::to_string(i));
  store.MustOpenWith(names);
  WriteOptions write;
  write.no_slowdown = true;
  while (store.manager->memory_usage() < 225 * kKiB) store.PutRandom(1);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  WriteBatch batch;
  for (ColumnFamilyHandle* const handle : store.handles) EXPECT_TRUE(batch.Put(handle, "k", "v").ok());
  EXPECT_TRUE(store.db->Write(write, &batch).IsIncomplete());
  store.Flush();
  const std::size_t before = store.manager->memory_usage();
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
  fault.sticky = true;
  store.fs->AddFault(fault);
  WriteBatch few;
  for (int i = 1; i < 6; ++i) EXPECT_TRUE(few.Put(store.handles[i], "k", "v").ok());
  EXPECT_FALSE(store.db->Write(write, &few).ok());
  store.fs->ClearFaults();
  const std::size_t left = store.manager->memory_usage() - before;
  const std::size_t of_refused = store.manager->mutable_memtable_memory_usage();
  store.DestroyHandles();
  return std::max(left, of_refused);
}

TEST(MemoryKeeperTest, ARefusedBatchKeepsNoMemory) {
  EXPECT_EQ(LeftByRefusedBatches(), 0u);
  const MutantScope mutant(Mutant::kRefusedBatchKeepsMemory);
  EXPECT_GT(LeftByRefusedBatches(), 4 * kKiB);
}

// A reader kept a memtable in memory after its flush. Now the reader has ended, so there is room. A write that needs
// memory must notice this before it makes memtables flush. Returns how many memtables are frozen.
std::size_t FrozenAlthoughThereIsRoom() {
  const auto listener = std::make_shared<CountingListener>();
  BudgetStore store(512 * kKiB);
  store.options.listeners.push_back(listener);
  store.MustOpen();
  store.PutRandom(1000);
  std::atomic<int> step{0};
  std::thread reader([&step] {
    const EpochGuard guard;
    step = 1;
    while (step == 1) std::this_thread::yield();
  });
  while (step == 0) std::this_thread::yield();
  store.Flush();
  WriteOptions write;
  write.no_slowdown = true;
  const std::size_t kept = store.manager->memory_usage();
  EXPECT_GT(kept, 64 * kKiB);
  while (store.manager->memory_usage() < 480 * kKiB - 8 * kKiB) store.PutRandom(1);
  step = 2;
  reader.join();
  listener->reasons.clear();
  store.PutRandom(200);
  return listener->reasons.size();
}

TEST(MemoryKeeperTest, MemoryReleasedByReadersIsUsedBeforeAFlush) {
  EXPECT_EQ(FrozenAlthoughThereIsRoom(), 0u);
  const MutantScope mutant(Mutant::kFlushesBeforeLook);
  EXPECT_GT(FrozenAlthoughThereIsRoom(), 0u);
}

// A thread looks at the view when a large batch needs the memory of a memtable of this view. Returns the memory in use
// when the batch is written.
std::size_t UsedByBatchDuringLook() {
  BudgetStore store(512 * kKiB);
  store.MustOpenWith({"other"});
  while (store.manager->memory_usage() < 300 * kKiB) store.PutRandom(1);
  static thread_local bool is_looker = false;
  std::atomic<bool> looks{false};
  std::atomic<bool> is_written{false};
  FaultPoints::Instance().Set([&](const char* name) {
    if (!is_looker || std::string_view(name) != "ViewLook:begun" || looks.exchange(true)) return;
    for (int i = 0; i < 300 && !is_written; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  std::thread looker([&] {
    is_looker = true;
    EXPECT_TRUE(store.db->CompactRange({}, store.handles[1], nullptr, nullptr).ok());
  });
  while (!looks) std::this_thread::yield();
  WriteBatch batch;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(batch.Put(NumberedKey(i), std::string(200, 'v')).ok());
  EXPECT_TRUE(store.db->Write({}, &batch).ok());
  const std::size_t used = store.manager->memory_usage();
  is_written = true;
  looker.join();
  FaultPoints::Instance().Set(nullptr);
  store.DestroyHandles();
  return used;
}

TEST(MemoryKeeperTest, LargeBatchWaitsForJobThatReadsMemtables) {
  EXPECT_LE(UsedByBatchDuringLook(), 512 * kKiB);
  const MutantScope mutant(Mutant::kLooksPinViews);
  EXPECT_GT(UsedByBatchDuringLook(), 512 * kKiB);
}

// Another write is first in line, and there is room. A write that is refused because of the line alone needs no flush.
TEST(MemoryKeeperTest, WriteRefusedOnlyByOrderStartsNoFlush) {
  const auto listener = std::make_shared<CountingListener>();
  BudgetStore store(512 * kKiB);
  store.options.listeners.push_back(listener);
  store.MustOpen();
  store.PutRandom(1000);  // a memtable that a flush could take
  WriteBudget::Place other(WriteBudget::Of(store.manager, 0).get());
  ASSERT_TRUE(other.IsFirst());
  WriteOptions write;
  write.no_slowdown = true;
  Status refused;
  for (int i = 0; refused.ok() && i < 2000; ++i) refused = store.db->Put(write, NumberedKey(i), std::string(100, 'v'));
  EXPECT_TRUE(refused.IsIncomplete()) << refused.ToString();
  std::atomic<bool> is_done{false};
  std::thread writer([&] {
    store.PutRandom(500);
    is_done = true;
  });
  for (int i = 0; i < 300; ++i) std::this_thread::yield();  // it may get in line
  EXPECT_FALSE(is_done) << "it passed another one";
  other.Leave();
  writer.join();
  EXPECT_EQ(listener->reasons.size(), 0u);
}

// Listeners are told that writes wait for memory, and that they no longer do.
TEST(MemoryKeeperTest, AWaitForMemoryIsReported) {
  const auto listener = std::make_shared<CountingListener>();
  BudgetStore store(64 * kKiB);
  store.options.listeners.push_back(listener);
  store.MustOpen();
  WriteOptions write;
  write.no_slowdown = true;
  Status s;
  for (int i = 0; s.ok() && i < 2000; ++i) s = store.db->Put(write, NumberedKey(i), std::string(100, 'v'));
  ASSERT_TRUE(s.IsIncomplete()) << s.ToString();
  ASSERT_EQ(listener->stalls.size(), 1u);
  EXPECT_EQ(listener->stalls[0].cause, WriteStallCause::kWriteBufferManagerLimit);
  EXPECT_EQ(listener->stalls[0].cf_name, "");
  EXPECT_EQ(listener->stalls[0].condition.cur, WriteStallCondition::kStopped);
  EXPECT_EQ(store.Property("stall-micros"), 0u);
  store.Put("k", "v");
  ASSERT_EQ(listener->stalls.size(), 2u);
  EXPECT_EQ(listener->stalls[1].condition.prev, WriteStallCondition::kStopped);
  EXPECT_EQ(listener->stalls[1].condition.cur, WriteStallCondition::kNormal);
  store.PutRandom(2000);
  EXPECT_EQ(listener->stalls.size() % 2, 0u);
}

// An iterator holds more than half of the limit, so the active memtable never has so much memory that a flush is due.
TEST(MemoryKeeperTest, RefusedWriteStartsFlush) {
  BudgetStore store(256 * kKiB);
  store.MustOpen();
  WriteOptions write;
  write.no_slowdown = true;
  int i = 0;
  while (store.manager->memory_usage() < 135 * kKiB) {
    ASSERT_TRUE(store.db->Put(write, NumberedKey(i++), std::string(100, 'v')).ok());
  }
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  store.Flush();
  Status s;
  while (s.ok() && i < 9000) s = store.db->Put(write, NumberedKey(i++), std::string(100, 'v'));
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  store.RunUntilIdle();
  for (int more = 0; more < 200; ++more) {  // several chunks
    s = store.db->Put(write, NumberedKey(i++), std::string(100, 'v'));
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
}

// If memtables cannot be flushed, writes fail with the reason before memory passes the limit.
TEST(MemoryKeeperTest, WritesFailIfNoFlushSucceeds) {
  BudgetStore store(128 * kKiB);
  store.MustOpen();
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".run") || path.ends_with(".idx"); };
  fault.sticky = true;
  store.fs->AddFault(fault);
  Status s;
  for (int i = 0; s.ok() && i < 2000; ++i) s = store.db->Put({}, NumberedKey(i), std::string(100, 'v'));
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_LE(store.manager->memory_usage(), 128 * kKiB);
  store.fs->ClearFaults();
  EXPECT_TRUE(store.db->Put({}, "k", "v").ok());
  EXPECT_EQ(store.Get(NumberedKey(0)), std::string(100, 'v'));
}

TEST(MemoryKeeperTest, LoweredLimitIsKept) {
  BudgetStore store(1024 * kKiB);
  store.MustOpen();
  store.PutRandom(5000);
  EXPECT_GT(store.manager->memory_usage(), 500 * kKiB);
  store.manager->SetBufferSize(128 * kKiB);
  store.PutRandom(300);
  store.RunUntilIdle();
  EXPECT_LE(store.PutRandom(2000), 128 * kKiB);
  store.manager->SetBufferSize(0);
  EXPECT_FALSE(store.manager->enabled());
  EXPECT_GT(store.PutRandom(3000), 128 * kKiB);
}

TEST(MemoryKeeperTest, WithAllowStallTheLimitHoldsToo) {
  const auto manager = std::make_shared<WriteBufferManager>(256 * kKiB, /*allow_stall=*/true);
  BudgetStore store(0, manager);
  store.MustOpen();
  EXPECT_LE(store.PutRandom(5000), 256 * kKiB);
}

// Memtables that recovery has filled count, and are flushed if they take too much.
TEST(MemoryKeeperTest, RecoveredMemtablesCountInTheLimit) {
  BudgetStore store(1024 * kKiB);
  store.MustOpen();
  store.PutRandom(4000);
  store.manager->SetBufferSize(128 * kKiB);
  store.KillAndOpenWith({});
  EXPECT_GT(store.manager->memory_usage(), 128 * kKiB);
  store.RunUntilIdle();
  EXPECT_LE(store.PutRandom(1000), 128 * kKiB);
  EXPECT_EQ(store.Verify(), "");
}

TEST(MemoryKeeperTest, MemtablesOfReadOnlyDatabaseCountInBudget) {
  BudgetStore store(1024 * kKiB);
  store.MustOpen();
  store.PutRandom(1000);
  store.Kill();
  const std::size_t before = store.manager->memory_usage();
  std::unique_ptr<DB> reader;
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &reader).ok());
  EXPECT_GT(store.manager->memory_usage(), before);
  EXPECT_EQ(store.manager->mutable_memtable_memory_usage(), 0u) << "no flush can free them";
  reader.reset();
  EXPECT_EQ(store.manager->memory_usage(), before);
}

TEST(MemoryKeeperTest, TheReasonOfTheFlushIsReported) {
  const auto listener = std::make_shared<CountingListener>();
  BudgetStore store(128 * kKiB);
  store.options.listeners.push_back(listener);
  store.MustOpen();
  store.PutRandom(2000);
  ASSERT_FALSE(listener->reasons.empty());
  for (const FlushReason reason : listener->reasons) EXPECT_EQ(reason, FlushReason::kWriteBufferManager);
}

// A dropped family's memory is given back, although the handle still exists.
TEST(MemoryKeeperTest, DroppedFamilyDoesNotBlockWrites) {
  BudgetStore store(256 * kKiB);
  store.MustOpenWith({"f"});
  store.PutRandom(800, store.handles[1]);
  ASSERT_TRUE(store.db->DropColumnFamily(store.handles[1]).ok());
  EXPECT_LE(store.PutRandom(3000), 256 * kKiB);
  store.Close();
}

}  // namespace
}  // namespace cambium::testing
