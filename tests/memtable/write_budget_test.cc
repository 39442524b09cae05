#include "memtable/write_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
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
  explicit FakeMember(std::shared_ptr<WriteBudget> its_budget) : budget(std::move(its_budget)) {
    budget->Register(this);
  }
  ~FakeMember() override { budget->Unregister(this); }

  // False if the budget refuses it.
  bool Add(std::uint32_t family, std::size_t bytes) {
    for (Table& table : tables) {
      if (table.family == family && !table.is_frozen) return table.charge->Add(bytes, false);
    }
    tables.push_back({family, std::make_unique<TableCharge>(budget)});
    return tables.back().charge->Add(bytes, false);
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
  bool IsFlushing() override { return !Frozen().empty(); }
  std::shared_ptr<Executor> executor() override { return std::make_shared<ManualExecutor>(); }

  const std::shared_ptr<WriteBudget> budget;
  std::vector<Table> tables;
};

TEST(WriteBudgetTest, ChargesAreCountedByState) {
  const auto budget = BudgetOf(100 * kKiB);
  auto table = std::make_unique<TableCharge>(budget);
  ASSERT_TRUE(table->Add(40 * kKiB, false));
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
  ASSERT_TRUE(table->Add(5 * kKiB, false));
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

TEST(WriteBudgetTest, WhatDoesNotFitIsRefused) {
  const auto budget = BudgetOf(160 * kKiB);
  TableCharge table(budget);
  ASSERT_TRUE(table.Add(140 * kKiB, false));
  EXPECT_FALSE(table.Add(11 * kKiB, false));
  EXPECT_EQ(budget->used(), 140 * kKiB);
  EXPECT_TRUE(table.Add(10 * kKiB, false)) << "a 16th is kept for filters";
  EXPECT_FALSE(table.Add(1, false));
  EXPECT_TRUE(table.Add(1, true)) << "unless the caller says so";
  const MutantScope mutant(Mutant::kWritesPassBudget);
  EXPECT_TRUE(table.Add(1, false));
}

// A compaction writes new filters before it drops the old ones.
TEST(WriteBudgetTest, RoomIsKeptForAsManyFilters) {
  const auto budget = BudgetOf(160 * kKiB);
  const FilterCharge filters(budget, 30 * kKiB);
  EXPECT_EQ(budget->TablesLimit(), 100 * kKiB);
  TableCharge table(budget);
  ASSERT_TRUE(table.Add(100 * kKiB, false));
  EXPECT_FALSE(table.Add(1, false));
  const FilterCharge compacted(budget, 30 * kKiB);
  EXPECT_EQ(budget->used(), budget->limit());
}

// However much filters and readers hold, memtables get an eighth: without it each of their chunks would need a flush.
TEST(WriteBudgetTest, AnEighthIsKeptForMemtables) {
  const auto budget = BudgetOf(80 * kKiB);
  const FilterCharge filters(budget, 500 * kKiB);
  TableCharge table(budget);
  EXPECT_TRUE(table.Add(10 * kKiB, false));
  EXPECT_FALSE(table.Add(1, false));
  table.Freeze();
  EXPECT_FALSE(table.Add(1, false)) << "a flush can free it";
  table.Flushed();
  TableCharge next(budget);
  EXPECT_TRUE(next.Add(10 * kKiB, false));
}

TEST(WriteBudgetTest, AFlushIsDueAsInRocksDB) {
  const auto budget = BudgetOf(80 * kKiB * 16 / 15);
  ASSERT_EQ(budget->TablesLimit() / kKiB, 80u);
  TableCharge table(budget);
  ASSERT_TRUE(table.Add(70 * kKiB, false));
  EXPECT_FALSE(budget->ShouldFlush()) << "7/8";
  EXPECT_FALSE(budget->IsFlushDue());
  ASSERT_TRUE(table.Add(1, false));
  EXPECT_TRUE(budget->ShouldFlush());
  EXPECT_TRUE(budget->IsFlushDue());
  table.Remove(30 * kKiB + 1);
  EXPECT_FALSE(budget->ShouldFlush());
  TableCharge frozen(budget);
  ASSERT_TRUE(frozen.Add(budget->TablesLimit() - 40 * kKiB, false));
  frozen.Freeze();
  EXPECT_TRUE(budget->ShouldFlush()) << "all is used, and half of it takes writes";
  table.Remove(2);
  EXPECT_FALSE(budget->ShouldFlush());
  budget->SetLimit(0);
  EXPECT_FALSE(budget->ShouldFlush());
}

TEST(WriteBudgetTest, WritesStallAtTheLimitOnlyIfAllowed) {
  const auto budget = BudgetOf(160 * kKiB);
  TableCharge table(budget);
  ASSERT_TRUE(table.Add(150 * kKiB, false));
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
  budget->FlushSome(false);
  EXPECT_TRUE(member.Frozen().empty()) << "none is due";
  ASSERT_TRUE(member.Add(3, 60 * kKiB));
  budget->FlushSome(true);
  EXPECT_EQ(member.Frozen(), std::vector<std::uint32_t>{2});
  budget->FlushSome(true);
  EXPECT_EQ(member.Frozen().size(), 1u) << "a flush is under way";
}

TEST(WriteBudgetTest, SmallMemtablesAreFlushedTogether) {
  const auto budget = BudgetOf(800 * kKiB * 16 / 15 + kKiB);
  FakeMember member(budget);
  for (std::uint32_t family = 0; family < 400; ++family) ASSERT_TRUE(member.Add(family, 2 * kKiB));
  EXPECT_FALSE(member.Add(400, 2 * kKiB));
  budget->FlushSome(false);
  EXPECT_EQ(member.Frozen().size(), 101u) << "a quarter of what memtables may take";
}

// One database writes; the other one's memtable is smaller, and grows old.
std::size_t MemoryOfIdleMember() {
  const auto budget = BudgetOf(800 * kKiB);
  FakeMember idle(budget);
  FakeMember busy(budget);
  EXPECT_TRUE(idle.Add(1, 300 * kKiB));
  for (int i = 0; i < 1000; ++i) {
    while (!busy.Add(1, 10 * kKiB)) {
      budget->FlushSome(true);
      idle.FlushAll();
      busy.FlushAll();
    }
  }
  return idle.tables.size() * 300 * kKiB;
}

TEST(WriteBudgetTest, AnIdleDatabaseGivesItsMemoryUp) {
  EXPECT_EQ(MemoryOfIdleMember(), 0u);
  const MutantScope mutant(Mutant::kIdleTablesStay);
  EXPECT_GT(MemoryOfIdleMember(), 0u);
}

TEST(WriteBudgetTest, AMemberThatHasLeftIsNotAsked) {
  const auto budget = BudgetOf(800 * kKiB);
  FakeMember stays(budget);
  ASSERT_TRUE(stays.Add(1, 10 * kKiB));
  {
    FakeMember leaves(budget);
    ASSERT_TRUE(leaves.Add(1, 700 * kKiB));
  }
  EXPECT_EQ(budget->used(), 10 * kKiB);
  budget->FlushSome(true);
  EXPECT_EQ(stays.Frozen().size(), 1u);
}

// A memtable with one key takes little, and all that it takes is charged.
TEST(WriteBudgetTest, AMemtableWithOneKeyTakesLittle) {
  const auto budget = BudgetOf(std::size_t{1} << 30);
  {
    MemTable table(BytewiseComparator(), budget);
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

// Chunks are a small part of a small budget, so that it can be used up, and of one that is used up none is taken.
TEST(WriteBudgetTest, ChunksFitTheBudget) {
  const auto budget = BudgetOf(std::size_t{1} << 20);
  EXPECT_EQ(budget->ChunkBytesMax(), 16 * kKiB);
  MemTable table(BytewiseComparator(), budget);
  SequenceNumber seq = 0;
  while (table.Reserve(1, 100, 0, /*may_exceed=*/false).ok()) {
    ++seq;
    table.Add(seq, "key" + std::to_string(seq), Entry::Inline("value"));
  }
  EXPECT_TRUE(table.Reserve(1, 100, 0, false).IsBusy());
  EXPECT_LE(budget->used(), budget->limit());
  EXPECT_GE(budget->used() + 32 * kKiB, budget->TablesLimit());
  EXPECT_TRUE(table.Reserve(1, 100).ok());
  EXPECT_EQ(BudgetOf(std::size_t{1} << 40)->ChunkBytesMax(), std::size_t{2} << 20);
  EXPECT_EQ(BudgetOf(1)->ChunkBytesMax(), 2 * kKiB);
}

}  // namespace
}  // namespace cambium
