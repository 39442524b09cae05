// Several databases with one WriteBufferManager.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "upkeep/space/budget_store.h"

namespace cambium::testing {
namespace {

// Two databases in a file system each, with one executor, which runs the flushes of both.
struct Two {
  explicit Two(std::size_t limit, const std::shared_ptr<EventListener>& of_second = nullptr)
      : first(limit), second(limit, first.manager) {
    second.options.executor = first.options.executor;
    if (of_second != nullptr) second.options.listeners.push_back(of_second);
    first.MustOpen();
    second.MustOpen();
  }
  BudgetStore first;
  BudgetStore second;
};

// Returns the memory that an idle database keeps while another one is written to.
std::uint64_t MemoryOfIdleDatabase() {
  Two two(512 * kKiB);
  two.first.PutRandom(800);
  EXPECT_GT(two.first.Property("cur-size-all-mem-tables"), 64 * kKiB);
  EXPECT_LE(two.second.PutRandom(20'000), 512 * kKiB);
  const std::uint64_t kept = two.first.Property("cur-size-all-mem-tables");
  two.first.MustClose();
  two.second.MustClose();
  return kept;
}

TEST(SharedMemoryTest, IdleDatabaseReleasesItsMemory) {
  EXPECT_EQ(MemoryOfIdleDatabase(), 0u);
  const MutantScope mutant(Mutant::kIdleTablesStay);
  EXPECT_GT(MemoryOfIdleDatabase(), 64 * kKiB);
}

TEST(SharedMemoryTest, ClosedDatabaseHoldsNoMemoryAndIsNotFlushed) {
  Two two(256 * kKiB);
  two.first.PutRandom(500);
  two.second.PutRandom(100);
  two.first.MustClose();
  EXPECT_LE(two.second.PutRandom(5000), 256 * kKiB);
  two.second.MustClose();
  EXPECT_EQ(two.first.manager->memory_usage(), 0u);
  EXPECT_EQ(two.first.manager->mutable_memtable_memory_usage(), 0u);
}

// One database cannot flush. The other one may use an eighth of the limit, so its runs have that size.
enum class Trouble { kFlushFails, kFatal };

void Break(BudgetStore* store, Trouble trouble) {
  SimFault fault;
  fault.kind = trouble == Trouble::kFatal ? SimOpKind::kSync : SimOpKind::kWrite;
  fault.matches = [trouble](SimOpKind, const std::string& path) {
    return trouble == Trouble::kFatal ? path.ends_with(".log") : path.ends_with(".run") || path.ends_with(".idx");
  };
  fault.sticky = true;
  store->fs->AddFault(fault);
}

// Returns how many memtables a database freezes for 600 KB of writes while another one cannot flush.
std::size_t FlushesBeside(Trouble trouble) {
  const auto listener = std::make_shared<CountingListener>();
  Two two(512 * kKiB, listener);
  while (two.first.manager->memory_usage() < 400 * kKiB) two.first.PutRandom(1);
  Break(&two.first, trouble);
  WriteOptions write;
  write.sync = trouble == Trouble::kFatal;
  EXPECT_FALSE(two.first.db->Put(write, "k", "v").ok() && two.first.db->Flush({}).ok());
  Status s;
  for (int i = 0; s.ok() && i < 5000; ++i) s = two.first.db->Put({}, NumberedKey(i), std::string(100, 'v'));
  EXPECT_FALSE(s.ok()) << "until the limit is reached, or at once";
  listener->reasons.clear();
  const std::size_t most = two.second.PutRandom(4000);
  EXPECT_TRUE(most <= (512 + 64) * kKiB || MutantIs(Mutant::kStuckTablesCount)) << most;
  two.second.Flush();
  two.second.MustClose();
  const std::size_t flushes = listener->reasons.size();
  two.first.db.reset();
  EXPECT_EQ(two.first.manager->memory_usage(), 0u);
  return flushes;
}

TEST(SharedMemoryTest, FailedFlushDoesNotAffectOtherDatabases) {
  EXPECT_LE(FlushesBeside(Trouble::kFlushFails), 15u);
  const MutantScope mutant(Mutant::kStuckTablesCount);
  EXPECT_GT(FlushesBeside(Trouble::kFlushFails), 100u);
}

TEST(SharedMemoryTest, FatalErrorDoesNotAffectOtherDatabases) {
  EXPECT_LE(FlushesBeside(Trouble::kFatal), 15u);
  const MutantScope mutant(Mutant::kStuckTablesCount);
  EXPECT_GT(FlushesBeside(Trouble::kFatal), 25u);
}

// The database whose flush has failed takes no writes. The other one tries that flush again.
TEST(SharedMemoryTest, IdleDatabaseRecoversWhenItsFlushSucceeds) {
  Two two(512 * kKiB);
  two.first.PutRandom(1500);
  Break(&two.first, Trouble::kFlushFails);
  EXPECT_FALSE(two.first.db->Flush({}).ok());
  two.second.PutRandom(2000);
  EXPECT_GT(two.first.Property("cur-size-all-mem-tables"), 100 * kKiB);
  two.first.fs->ClearFaults();
  EXPECT_LE(two.second.PutRandom(20'000), (512 + 64) * kKiB);
  EXPECT_LE(two.first.Property("cur-size-all-mem-tables"), 10 * kKiB);
  EXPECT_LE(two.second.PutRandom(1000), 512 * kKiB);
  two.first.MustClose();
  two.second.MustClose();
}

// Two indexes, many families, values of 1 byte and of 20 KB, writes that wait and writes that do not, and databases that
// are closed and opened again: no write leaves more than the limit in memory.
TEST(SharedMemoryTest, TheLimitHoldsForAnyWrites) {
  const std::uint64_t seed = SeedFromEnvironment(0x6d);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  constexpr std::size_t kLimit = 1024 * kKiB;
  Prng prng(seed);
  BudgetStore tree(kLimit);
  BudgetStore lsm(kLimit, tree.manager);
  lsm.options.executor = tree.options.executor;
  tree.options.index_type = IndexKind::kBTree;
  lsm.options.index_type = IndexKind::kLsm;
  BudgetStore* const stores[] = {&tree, &lsm};
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) names.push_back("f" + std::to_string(i));
  for (BudgetStore* const store : stores) {
    store->options.min_blob_size = 1u << 20;
    store->MustOpenWith(names);
  }
  std::size_t most = 0;
  int refused = 0;
  constexpr std::uint64_t kFillsLimit = 12'000;  // also under a sanitizer
  for (std::uint64_t i = 0; i < std::max(kFillsLimit, ScaledCount(kFillsLimit)); ++i) {
    BudgetStore& store = *stores[prng.Uniform(2)];
    if (prng.OneIn(4000)) {
      store.Close();
      store.MustOpenWith(names);
    }
    WriteOptions write;
    write.no_slowdown = prng.OneIn(4);
    const std::size_t size = prng.OneIn(30) ? prng.Uniform(20'000) : prng.OneIn(2) ? 1 : 100;
    ColumnFamilyHandle* const family = store.handles[prng.OneIn(2) ? 0 : prng.Uniform(61)];
    const Status s = store.db->Put(write, family, std::to_string(prng.Uniform(5000)), std::string(size, 'v'));
    ASSERT_TRUE(s.ok() || (write.no_slowdown && s.IsIncomplete())) << s.ToString();
    refused += s.ok() ? 0 : 1;
    most = std::max(most, tree.manager->memory_usage());
  }
  EXPECT_LE(most, kLimit);
  EXPECT_GT(most, kLimit / 2);
  EXPECT_GT(refused, 0);
  for (BudgetStore* const store : stores) {
    EXPECT_EQ(store->Verify(), "");
    store->Close();
  }
  EXPECT_EQ(tree.manager->memory_usage(), 0u);
}

}  // namespace
}  // namespace cambium::testing
