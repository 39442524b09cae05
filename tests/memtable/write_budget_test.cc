#include "memtable/write_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cambium/comparator.h"
#include "memtable/memtable.h"
#include "testing/mutant_scope.h"
#include "util/manual_executor.h"

namespace cambium {
namespace {

using testing::MutantScope;
constexpr std::size_t kKiB = 1024;

std::shared_ptr<WriteBudget> BudgetOf(std::size_t limit) { return std::make_shared<WriteBudget>(limit, false); }

// A member whose memtables are flushed when the test says so.
struct FakeMember : WriteBudget::Member {
  struct Table {
    std::uint32_t family;
    std::unique_ptr<TableCharge> charge;
    bool is_frozen = false;
  };
  explicit FakeMember(std::shared_ptr<WriteBudget> its_budget)
      : budget(std::move(its_budget)), its_share(std::make_shared<BudgetShare>(budget)) {
    budget->Register(this);
  }
  ~FakeMember() override { budget->Unregister(this); }

  // False if the budget refuses it.
  bool Add(std::uint32_t family, std::size_t bytes) {
    for (Table& table : tables) {
      if (table.family == family && !table.is_frozen) return table.charge->Add(bytes, BudgetClaim::kUsual);
    }
    tables.push_back({family, std::make_unique<TableCharge>(its_share)});
    return tables.back().charge->Add(bytes, BudgetClaim::kUsual);
  }
  void FlushAll() {
    std::erase_if(tables, [](const Table& table) { return table.is_frozen; });
  }
  [[nodiscard]] std::vector<std::uint32_t> Frozen() const {
    std::vector<std::uint32_t> frozen;
    for (const Table& table : tables) {
      if (table.is_frozen) frozen.push_back(table.family);
    }
    return frozen;
  }

  void ListTables(std::vector<WriteBudget::Candidate>* out) override {
    if (its_share->is_failing()) return;
    for (const Table& table : tables) {
      if (!table.is_frozen) out->push_back({table.family, &table, table.charge->bytes(), table.charge->begin()});
    }
  }
  void Freeze(const WriteBudget::Candidate& chosen) override {
    for (Table& table : tables) {
      if (table.family != chosen.family || table.is_frozen) continue;
      table.is_frozen = true;
      table.charge->Freeze();
    }
  }
  bool IsFlushing() override { return !Frozen().empty() && !its_share->is_failing(); }
  void RetryFailed() override { ++retries; }
  BudgetShare& share() override { return *its_share; }
  std::shared_ptr<Executor> executor() override { return std::make_shared<ManualExecutor>(); }

  const std::shared_ptr<WriteBudget> budget;
  const std::shared_ptr<BudgetShare> its_share;
  std::vector<Table> tables;
  int retries = 0;
};

TEST(WriteBudgetTest, ChargesAreCountedByState) {
  const auto budget = BudgetOf(100 * kKiB);
  const FakeMember member(budget);
  auto table = std::make_unique<TableCharge>(member.its_share);
  ASSERT_TRUE(table->Add(40 * kKiB, BudgetClaim::kUsual));
  EXPECT_EQ(budget->used(), 40 * kKiB);
  EXPECT_EQ(budget->active(), 40 * kKiB);
  table->Remove(10 * kKiB);
  EXPECT_EQ(budget->used(), 30 * kKiB);
  table->Freeze();
  EXPECT_EQ(budget->active(), 0u);
  EXPECT_EQ(budget->unflushed(), 30 * kKiB);
  table->Flushed();
  EXPECT_EQ(budget->unflushed(), 0u);
  EXPECT_EQ(budget->used(), 30 * kKiB) << "a reader may still have it";
  ASSERT_TRUE(table->Add(5 * kKiB, BudgetClaim::kUsual));
  EXPECT_EQ(budget->unflushed() + budget->active(), 0u) << "as the memtable of a dropped family";
  EXPECT_EQ(budget->used(), 35 * kKiB);
  table.reset();
  EXPECT_EQ(budget->used(), 0u);
  {
    const FilterCharge filter(budget, 7);
    EXPECT_EQ(budget->used(), 7u);
  }
  EXPECT_EQ(budget->used(), 0u);
}

TEST(WriteBudgetTest, ChunksBeyondTheLimitAreRefused) {
  const auto budget = BudgetOf(160 * kKiB);
  const FakeMember member(budget);
  TableCharge table(member.its_share);
  ASSERT_TRUE(table.Add(140 * kKiB, BudgetClaim::kUsual));
  EXPECT_FALSE(table.Add(11 * kKiB, BudgetClaim::kUsual));
  EXPECT_EQ(budget->used(), 140 * kKiB);
  EXPECT_TRUE(table.Add(10 * kKiB, BudgetClaim::kUsual)) << "a 16th is kept for filters";
  EXPECT_FALSE(table.Add(1, BudgetClaim::kUsual));
  EXPECT_TRUE(table.Add(1, BudgetClaim::kExceeds)) << "unless the caller says so";
  const MutantScope mutant(Mutant::kWritesPassBudget);
  EXPECT_TRUE(table.Add(1, BudgetClaim::kUsual));
}

// A compaction writes new filters before it drops the old ones.
TEST(WriteBudgetTest, RoomForNewFiltersIsReserved) {
  const auto budget = BudgetOf(160 * kKiB);
  const FilterCharge filters(budget, 30 * kKiB);
  EXPECT_EQ(budget->TablesLimit(), 100 * kKiB);
  const FakeMember member(budget);
  TableCharge table(member.its_share);
  ASSERT_TRUE(table.Add(100 * kKiB, BudgetClaim::kUsual));
  EXPECT_FALSE(table.Add(1, BudgetClaim::kUsual));
  const FilterCharge compacted(budget, 30 * kKiB);
  EXPECT_EQ(budget->used(), budget->limit());
}

// However much filters and readers hold, memtables get an eighth: without it each of their chunks would need a flush.
TEST(WriteBudgetTest, EighthOfLimitIsReservedForMemtables) {
  const auto budget = BudgetOf(80 * kKiB);
  const FilterCharge filters(budget, 500 * kKiB);
  const FakeMember member(budget);
  TableCharge table(member.its_share);
  EXPECT_TRUE(table.Add(10 * kKiB, BudgetClaim::kUsual));
  EXPECT_FALSE(table.Add(1, BudgetClaim::kUsual));
  table.Freeze();
  EXPECT_FALSE(table.Add(1, BudgetClaim::kUsual)) << "a flush can free it";
  table.Flushed();
  TableCharge next(member.its_share);
  EXPECT_TRUE(next.Add(10 * kKiB, BudgetClaim::kUsual));
}

TEST(WriteBudgetTest, AFlushIsDueAsInRocksDB) {
  const auto budget = BudgetOf(80 * kKiB * 16 / 15);
  ASSERT_EQ(budget->TablesLimit() / kKiB, 80u);
  const FakeMember member(budget);
  TableCharge table(member.its_share);
  ASSERT_TRUE(table.Add(70 * kKiB, BudgetClaim::kUsual));
  EXPECT_FALSE(budget->ShouldFlush()) << "7/8";
  EXPECT_FALSE(budget->IsFlushDue());
  ASSERT_TRUE(table.Add(1, BudgetClaim::kUsual));
  EXPECT_TRUE(budget->ShouldFlush());
  EXPECT_TRUE(budget->IsFlushDue());
  table.Remove(30 * kKiB + 1);
  EXPECT_FALSE(budget->ShouldFlush());
  TableCharge frozen(member.its_share);
  ASSERT_TRUE(frozen.Add(budget->TablesLimit() - 40 * kKiB, BudgetClaim::kUsual));
  frozen.Freeze();
  EXPECT_TRUE(budget->ShouldFlush()) << "all is used, and half of it takes writes";
  table.Remove(2);
  EXPECT_FALSE(budget->ShouldFlush());
  budget->SetLimit(0);
  EXPECT_FALSE(budget->ShouldFlush());
}

TEST(WriteBudgetTest, WritesStallAtTheLimitOnlyIfAllowed) {
  const auto budget = BudgetOf(160 * kKiB);
  const FakeMember member(budget);
  TableCharge table(member.its_share);
  ASSERT_TRUE(table.Add(150 * kKiB, BudgetClaim::kUsual));
  EXPECT_FALSE(budget->ShouldStall());
  budget->SetAllowStall(true);
  EXPECT_TRUE(budget->ShouldStall());
  EXPECT_TRUE(budget->StallsAll());
  table.Flushed();
  EXPECT_TRUE(budget->ShouldStall());
  EXPECT_FALSE(budget->StallsAll()) << "no flush can lower it";
}

TEST(WriteBudgetTest, TheLargestMemtableIsFlushedFirst) {
  const auto budget = BudgetOf(800 * kKiB);
  FakeMember member(budget);
  ASSERT_TRUE(member.Add(1, 100 * kKiB));
  ASSERT_TRUE(member.Add(2, 350 * kKiB));
  ASSERT_TRUE(member.Add(3, 200 * kKiB));
  budget->FlushIfDue();
  EXPECT_TRUE(member.Frozen().empty()) << "none is due";
  ASSERT_TRUE(member.Add(3, 60 * kKiB));
  budget->MakeRoom(&member);
  EXPECT_EQ(member.Frozen(), std::vector<std::uint32_t>{2});
  budget->MakeRoom(&member);
  EXPECT_EQ(member.Frozen().size(), 1u) << "a flush is under way";
}

TEST(WriteBudgetTest, SmallMemtablesAreFlushedTogether) {
  const auto budget = BudgetOf(800 * kKiB * 16 / 15 + kKiB);
  FakeMember member(budget);
  for (std::uint32_t family = 0; family < 400; ++family) ASSERT_TRUE(member.Add(family, 2 * kKiB));
  EXPECT_FALSE(member.Add(400, 2 * kKiB));
  budget->FlushIfDue();
  EXPECT_EQ(member.Frozen().size(), 101u) << "a quarter of the memtables' limit";
}

// One database writes; the other one's memtable is smaller, and grows old.
std::size_t MemoryOfIdleMember() {
  const auto budget = BudgetOf(800 * kKiB);
  FakeMember idle(budget);
  FakeMember busy(budget);
  EXPECT_TRUE(idle.Add(1, 300 * kKiB));
  for (int i = 0; i < 1000; ++i) {
    while (!busy.Add(1, 10 * kKiB)) {
      budget->MakeRoom(&busy);
      idle.FlushAll();
      busy.FlushAll();
    }
  }
  return idle.tables.size() * 300 * kKiB;
}

TEST(WriteBudgetTest, IdleDatabaseReleasesItsMemory) {
  EXPECT_EQ(MemoryOfIdleMember(), 0u);
  const MutantScope mutant(Mutant::kIdleTablesStay);
  EXPECT_GT(MemoryOfIdleMember(), 0u);
}

TEST(WriteBudgetTest, ClosedMemberIsNotFlushed) {
  const auto budget = BudgetOf(800 * kKiB);
  FakeMember stays(budget);
  ASSERT_TRUE(stays.Add(1, 10 * kKiB));
  {
    FakeMember leaves(budget);
    ASSERT_TRUE(leaves.Add(1, 700 * kKiB));
  }
  EXPECT_EQ(budget->used(), 10 * kKiB);
  budget->MakeRoom(&stays);
  EXPECT_EQ(stays.Frozen().size(), 1u);
}

// A database that cannot flush, after a failed flush or a fatal error, holds most of the limit. Returns how many chunks
// a healthy database takes between its flushes: it has an eighth of the limit, and the stuck one makes no flush due.
int ChunksOfAFlushBesideAStuckDatabase() {
  const auto budget = BudgetOf(800 * kKiB);
  FakeMember stuck(budget);
  FakeMember healthy(budget);
  EXPECT_TRUE(stuck.Add(1, 360 * kKiB));
  EXPECT_TRUE(stuck.Add(2, 380 * kKiB));
  stuck.Freeze({2, nullptr, 0, 0});
  stuck.its_share->SetFailing(true);
  constexpr int kChunks = 1000;
  int flushes = 0;
  for (int i = 0; i < kChunks; ++i) {
    while (!healthy.Add(1, 2 * kKiB)) {
      budget->MakeRoom(&healthy);
      flushes += static_cast<int>(healthy.Frozen().size());
      healthy.FlushAll();
    }
    EXPECT_LE(budget->tables(), (740 + 100) * kKiB);
  }
  EXPECT_EQ(stuck.Frozen().size(), 1u);
  return kChunks / flushes;
}

TEST(WriteBudgetTest, AStuckDatabaseCausesNoTinyFlushes) {
  EXPECT_GE(ChunksOfAFlushBesideAStuckDatabase(), 40);
  const MutantScope mutant(Mutant::kStuckTablesCount);
  EXPECT_LE(ChunksOfAFlushBesideAStuckDatabase(), 10);
}

TEST(WriteBudgetTest, StuckDatabaseGetsNoMemoryBeyondTheLimit) {
  const auto budget = BudgetOf(160 * kKiB);
  FakeMember stuck(budget);
  stuck.its_share->SetFailing(true);
  ASSERT_TRUE(stuck.Add(1, 150 * kKiB));
  EXPECT_FALSE(stuck.Add(1, 1)) << "the eighth is for those that can flush";
  FakeMember healthy(budget);
  EXPECT_TRUE(healthy.Add(1, 20 * kKiB));
  EXPECT_EQ(budget->unflushed(), 20 * kKiB);
  stuck.its_share->SetFailing(false);
  EXPECT_EQ(budget->unflushed(), 170 * kKiB);
  EXPECT_EQ(budget->active(), 170 * kKiB);
  EXPECT_FALSE(healthy.Add(1, 1));
  EXPECT_TRUE(budget->IsFlushDue());
}

// Others try a failed flush again, when they have written as much as the limit.
TEST(WriteBudgetTest, FailedFlushIsRetriedAfterLimitBytesAreWritten) {
  const auto budget = BudgetOf(800 * kKiB);
  FakeMember stuck(budget);
  FakeMember healthy(budget);
  ASSERT_TRUE(stuck.Add(1, 700 * kKiB));
  stuck.its_share->SetFailing(true);
  for (int i = 0; i < 85; ++i) {
    while (!healthy.Add(1, 10 * kKiB)) {
      budget->MakeRoom(&healthy);
      healthy.FlushAll();
      ASSERT_EQ(stuck.retries, i < 80 ? 0 : 1);
    }
  }
  EXPECT_EQ(stuck.retries, 1);
}

// Small writes take what is freed, and a large one never finds enough. Returns how many small ones pass it.
int WritesThatOvertake() {
  const auto budget = BudgetOf(160 * kKiB);
  FakeMember member(budget);
  EXPECT_TRUE(member.Add(1, 150 * kKiB));
  EXPECT_FALSE(member.Add(2, 60 * kKiB));
  WriteBudget::Place large(budget.get());
  EXPECT_TRUE(large.IsFirst());
  WriteBudget::Place next(budget.get());
  EXPECT_FALSE(next.IsFirst());
  member.tables.clear();
  EXPECT_TRUE(member.Add(1, 100 * kKiB) || !MutantIs(Mutant::kWritersOvertake));
  int overtook = 0;
  TableCharge table(member.its_share);
  while (overtook < 10 && table.Add(10 * kKiB, next.claim())) ++overtook;
  EXPECT_EQ(next.claim(), BudgetClaim::kUsual);
  return overtook;
}

TEST(WriteBudgetTest, WaitingWritersAreServedInOrder) {
  EXPECT_EQ(WritesThatOvertake(), 0);
  const MutantScope mutant(Mutant::kWritersOvertake);
  EXPECT_GT(WritesThatOvertake(), 0);
}

// The first in line may exceed the limit if no flush can make room: the others wait until it has its memory.
bool TwoAreFirst() {
  const auto budget = BudgetOf(160 * kKiB);
  WriteBudget::Place first(budget.get());
  WriteBudget::Place second(budget.get());
  return first.IsFirst() && second.IsFirst();
}

TEST(WriteBudgetTest, OnlyOneWriterIsFirstInLine) {
  EXPECT_FALSE(TwoAreFirst());
  const MutantScope mutant(Mutant::kAllAreFirst);
  EXPECT_TRUE(TwoAreFirst());
}

TEST(WriteBudgetTest, NextWriterIsFirstWhenFirstLeaves) {
  const auto budget = BudgetOf(160 * kKiB);
  FakeMember member(budget);
  auto first = std::make_unique<WriteBudget::Place>(budget.get());
  EXPECT_TRUE(first->IsFirst());
  WriteBudget::Place second(budget.get());
  EXPECT_FALSE(second.IsFirst());
  EXPECT_FALSE(member.Add(1, kKiB)) << "there is room, but others were first";
  TableCharge table(member.its_share);
  EXPECT_TRUE(table.Add(kKiB, first->claim()));
  const std::uint64_t seen = budget->changes();
  first.reset();
  EXPECT_NE(budget->changes(), seen) << "wakes the second one";
  EXPECT_TRUE(second.IsFirst());
  EXPECT_TRUE(table.Add(kKiB, second.claim()));
}

// Another database is flushing. This one has enough to flush, and does so. Returns how many memtables it freezes.
std::size_t FrozenBesideAnothersFlush(std::size_t bytes) {
  const auto budget = BudgetOf(1600 * kKiB);
  FakeMember other(budget);
  FakeMember self(budget);
  EXPECT_TRUE(other.Add(1, 900 * kKiB));
  other.Freeze({1, nullptr, 0, 0});
  EXPECT_TRUE(self.Add(1, bytes));
  budget->MakeRoom(&self);
  budget->MakeRoom(&self);
  return self.Frozen().size();
}

TEST(WriteBudgetTest, WriterDoesNotWaitForFlushOfAnotherDatabase) {
  EXPECT_EQ(FrozenBesideAnothersFlush(100 * kKiB), 1u);
  EXPECT_EQ(FrozenBesideAnothersFlush(20 * kKiB), 0u) << "too little to be worth a flush";
  const MutantScope mutant(Mutant::kWaitsForOthersFlush);
  EXPECT_EQ(FrozenBesideAnothersFlush(100 * kKiB), 0u);
}

// Snapshots of one database may hold half of the limit. Together, the snapshots of all databases may hold no more than
// that.
std::size_t HeldBySnapshotsOfThree() {
  const auto budget = BudgetOf(600 * kKiB);
  FakeMember members[] = {FakeMember(budget), FakeMember(budget), FakeMember(budget)};
  std::vector<std::unique_ptr<TableCharge>> held[3];
  std::size_t most = 0;
  for (int round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < 3; ++i) {
      held[i].push_back(std::make_unique<TableCharge>(members[i].its_share));
      EXPECT_TRUE(held[i].back()->Add(10 * kKiB, BudgetClaim::kExceeds));
      held[i].back()->Flushed();
      if (held[i].size() * 10 * kKiB > budget->SnapshotBytesMax()) held[i].clear();  // moved to private runs
      most = std::max(most, budget->tables());
    }
  }
  return most;
}

TEST(WriteBudgetTest, SnapshotsOfAllDatabasesHoldHalfTogether) {
  EXPECT_LE(HeldBySnapshotsOfThree(), 330 * kKiB);
  const MutantScope mutant(Mutant::kEachDatabasePinsHalf);
  EXPECT_GT(HeldBySnapshotsOfThree(), 600 * kKiB);
}

// A charge checks and counts in one step, so threads that ask at the same time never pass the limit together.
TEST(WriteBudgetTest, ThreadsNeverPassTheLimitTogether) {
  constexpr std::size_t kLimit = 160 * kKiB;
  const auto budget = BudgetOf(kLimit);
  const FilterCharge filters(budget, kLimit);  // only the eighth is left
  const FakeMember member(budget);
  std::atomic<std::size_t> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20'000; ++round) {
        TableCharge table(member.its_share);
        while (table.Add(7 * kKiB, BudgetClaim::kUsual)) {
          const std::size_t seen = budget->tables();
          std::size_t before = most.load();
          while (before < seen && !most.compare_exchange_weak(before, seen)) {
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most.load(), kLimit / 8);
}

// A memtable with one key takes little, and all that it takes is charged.
TEST(WriteBudgetTest, MemtableWithOneKeyTakesLittleMemory) {
  const auto budget = BudgetOf(std::size_t{1} << 30);
  {
    MemTable table(BytewiseComparator(), std::make_shared<BudgetShare>(budget));
    EXPECT_EQ(budget->used(), 0u);
    ASSERT_TRUE(table.Reserve(1, 100).ok());
    table.Add(1, "key", Entry::Inline("value"));
    EXPECT_LE(budget->used(), 2 * kKiB);
    for (SequenceNumber i = 2; i < 20'000; ++i) {
      ASSERT_TRUE(table.Reserve(1, 100).ok());
      table.Add(i, "key" + std::to_string(i), Entry::Inline("value"));
      ASSERT_GE(budget->used(), table.memory_bytes());
    }
    EXPECT_EQ(budget->used(), table.charge().bytes());
    EXPECT_LE(budget->used(), 4 * table.memory_bytes());
  }
  EXPECT_EQ(budget->used(), 0u);
}

// Chunks are a small part of the budget, so that memtables can use it up. Once it is used up, no chunk is taken.
TEST(WriteBudgetTest, ChunksFitTheBudget) {
  const auto budget = BudgetOf(std::size_t{1} << 20);
  EXPECT_EQ(budget->ChunkBytesMax(), 16 * kKiB);
  MemTable table(BytewiseComparator(), std::make_shared<BudgetShare>(budget));
  SequenceNumber seq = 0;
  while (table.Reserve(1, 100, 0, BudgetClaim::kUsual).ok()) {
    ++seq;
    table.Add(seq, "key" + std::to_string(seq), Entry::Inline("value"));
  }
  EXPECT_TRUE(table.Reserve(1, 100, 0, BudgetClaim::kUsual).IsBusy());
  EXPECT_LE(budget->used(), budget->limit());
  EXPECT_GE(budget->used() + 32 * kKiB, budget->TablesLimit());
  EXPECT_TRUE(table.Reserve(1, 100).ok());
  EXPECT_EQ(BudgetOf(std::size_t{1} << 40)->ChunkBytesMax(), std::size_t{2} << 20);
  EXPECT_EQ(BudgetOf(1)->ChunkBytesMax(), 2 * kKiB);
}

}  // namespace
}  // namespace cambium
