// Small memtables of several families are flushed by one job, with one commit.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testing/family_store.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "upkeep/commit_watch.h"
#include "upkeep/threaded_families.h"

namespace cambium::testing {
namespace {

constexpr int kFamilies = 50;

// Families with a key each, in memory and below it.
struct Many : FamilyStore {
  Many() {
    options.create_missing_column_families = true;
    options.write_buffer_size = 1u << 20;
    options.level0_file_num_compaction_trigger = 10;
    options.level0_slowdown_writes_trigger = 20;
    options.level0_stop_writes_trigger = 30;
    MustOpenWith(FamilyNames(kFamilies));
    Write("old");
    executor->RunAll();
    Write("new");
  }
  // Puts a value into each family and freezes its memtable.
  void Write(const std::string& value) {
    for (ColumnFamilyHandle* const handle : handles) {
      PutIn(handle, "key", value);
      FlushOptions flush;
      flush.wait = false;
      ASSERT_TRUE(db->Flush(flush, handle).ok());
    }
  }
  void ExpectNew(int except = -1) {
    for (int i = 0; i < static_cast<int>(handles.size()); ++i) {
      if (i == except) continue;
      EXPECT_EQ(GetFrom(handles[static_cast<std::size_t>(i)], "key"), "new") << i;
    }
  }
  [[nodiscard]] std::size_t Unflushed() const {
    std::size_t unflushed = 0;
    for (ColumnFamilyHandle* const handle : handles) {
      std::uint64_t frozen = 0;
      EXPECT_TRUE(db->GetIntProperty(handle, "cambium.num-immutable-mem-table", &frozen));
      unflushed += frozen;
    }
    return unflushed;
  }
};

TEST(FlushTogetherTest, ManyFamiliesShareACommit) {
  Many store;
  ASSERT_EQ(store.Unflushed(), std::size_t{kFamilies} + 1);
  int commits = 0;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    const bool is_manifest = op.path.find("/MANIFEST-") != std::string_view::npos;
    commits += is_manifest && op.kind == SimOpKind::kSync && op.phase == SimPhase::kAfter ? 1 : 0;
  });
  store.executor->RunAll();
  EXPECT_EQ(store.Unflushed(), 0u);
  EXPECT_LE(commits, 4) << "one of the memtables, and some of log segments that are not needed any more";
  store.ExpectNew();
  EXPECT_EQ(store.Verify(), "");
  store.KillAndOpenWith(FamilyNames(kFamilies));
  store.ExpectNew();
}

// Each sync after a written file commits the file system's journal. So all files are written before the first sync.
TEST(FlushTogetherTest, FilesAreWrittenThenSyncedThenNamed) {
  const auto commit = []() -> CommitWatch::Counts {
    Many store;
    CommitWatch watch(store.fs.get());
    store.executor->RunOneInstead();
    EXPECT_LE(store.Unflushed(), 1u);
    return watch.counts();
  };
  const CommitWatch::Counts right = commit();
  EXPECT_EQ(right.named_unsynced, 0u);
  EXPECT_EQ(right.syncs_between, 0);
  const MutantScope defect(Mutant::kSyncOneOfTogether);
  EXPECT_GT(commit().named_unsynced, 10u);
}

// The nth operation of this kind on an output finds no space. Only the flush of that family may fail, and a later one
// succeeds.
void ExpectOthersFlushedAfterFault(SimOpKind kind, std::uint64_t nth) {
  SCOPED_TRACE(nth);
  Many store;
  store.fs->AddFault(NoSpaceForOutput(kind, nth));
  store.executor->RunAll();
  EXPECT_LE(store.Unflushed(), 1u);
  store.ExpectNew();
  store.fs->ClearFaults();
  for (ColumnFamilyHandle* const handle : store.handles) store.FlushOf(handle);
  EXPECT_EQ(store.Unflushed(), 0u);
  EXPECT_EQ(store.Verify(), "");
  store.ExpectNew();
}

TEST(FlushTogetherTest, AFileThatFindsNoSpaceAtItsSyncIsLeftOut) {
  for (std::uint64_t nth = 1; nth <= 30; nth += 3) ExpectOthersFlushedAfterFault(SimOpKind::kSync, nth);
}

// Each of the first 30 files cannot be written.
TEST(FlushTogetherTest, AFlushThatFailsLeavesTheOthersAlone) {
  for (std::uint64_t nth = 1; nth <= 30; ++nth) ExpectOthersFlushedAfterFault(SimOpKind::kWrite, nth);
}

TEST(FlushTogetherTest, AFailedCommitFailsAllFlushesAndTheyAreRetried) {
  Many store;
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.find("/MANIFEST-") != std::string::npos; };
  store.fs->AddFault(fault);
  store.executor->RunAll();
  for (ColumnFamilyHandle* const handle : store.handles) store.FlushOf(handle);
  EXPECT_EQ(store.Unflushed(), 0u);
  store.ExpectNew();
  EXPECT_EQ(store.Verify(), "");
  store.KillAndOpenWith(FamilyNames(kFamilies));
  store.ExpectNew();
}

// A family is dropped while the files are written.
TEST(FlushTogetherTest, AFamilyThatIsDroppedIsLeftOut) {
  Many store;
  bool is_dropped = false;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    if (is_dropped || op.kind != SimOpKind::kSync || op.phase != SimPhase::kAfter) return;
    if (!op.path.ends_with(".run") && !op.path.ends_with(".idx")) return;
    is_dropped = true;
    const Status s = store.db->DropColumnFamily(store.handles[20]);
    EXPECT_TRUE(s.ok()) << s.ToString();
  });
  store.executor->RunAll();
  ASSERT_TRUE(is_dropped);
  store.ExpectNew(20);
  delete store.handles[20];
  store.handles.erase(store.handles.begin() + 20);
  EXPECT_EQ(store.Unflushed(), 0u);
  store.RunUntilIdle();
  EXPECT_EQ(store.Verify(), "");
}

// While the files of a flush are written, log GC puts a run with relocated values on top of the family's layers.
// Nothing below that run may be newer, so a merge into the tree cannot be committed any more.
TEST(FlushTogetherTest, TreeMergeOvertakenByLogGcBecomesARun) {
  FamilyStore store;
  store.options.create_missing_column_families = true;
  store.options.min_blob_size = 64;
  store.options.blob_file_size = 16u << 10;
  store.options.max_space_amplification = 0;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.options.sweep_ratio = 1000;  // memtables go into the tree
  store.MustOpenWith({"other"});
  ColumnFamilyHandle* const family = store.handles[1];
  const auto put = [&](int i, char value) { store.PutIn(family, NumberedKey(i), std::string(1'000, value)); };
  for (int i = 0; i < 100; ++i) put(i, 'o');
  store.FlushOf(family);
  store.RunUntilIdle();
  for (int i = 0; i < 100; i += 2) put(i, 'n');
  store.FlushOf(family);  // half of each old segment is garbage now; the log GC that is due has not run
  put(1, 'n');
  ASSERT_TRUE(store.db->Flush({.wait = false}, family).ok());
  std::size_t runs_by_gc = 0;
  bool is_in_flush = false;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    const bool is_page_file = op.path.ends_with(".idx") || op.path.ends_with(".run");
    if (is_in_flush || op.kind != SimOpKind::kSync || op.phase != SimPhase::kAfter || !is_page_file) return;
    is_in_flush = true;
    const std::size_t before = store.FilesOf(".run").size();
    while (store.executor->RunOneInstead() && store.executor->pending() > 0) {
    }
    runs_by_gc = store.FilesOf(".run").size() - std::min(before, store.FilesOf(".run").size());
  });
  store.executor->RunAll();
  EXPECT_TRUE(is_in_flush);
  EXPECT_GT(runs_by_gc, 0u) << "log GC has committed nothing in the meantime";
  EXPECT_EQ(store.Property("background-errors"), 0u);
  EXPECT_EQ(store.GetFrom(family, NumberedKey(1)), std::string(1'000, 'n'));
  store.RunUntilIdle();
  EXPECT_EQ(store.Verify(), "");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(store.GetFrom(family, NumberedKey(i)), std::string(1'000, i % 2 == 0 || i == 1 ? 'n' : 'o'));
  }
}

// Flush waits for a family whose memtable another family's job flushes.
TEST(FlushTogetherTest, WaitingCallsReturn) {
  Many store;
  store.FlushOf(store.handles[30]);
  for (ColumnFamilyHandle* const handle : store.handles) store.FlushOf(handle);
  EXPECT_EQ(store.Unflushed(), 0u);
  ASSERT_TRUE(store.db->WaitForCompact().ok());
}

TEST(FlushTogetherTest, ManyThreadsFlushManyFamilies) {
  ThreadedFamilies store(kFamilies);
  constexpr int kRounds = 12;
  store.Run(kRounds, [&](ColumnFamilyHandle* handle, std::size_t, int round) {
    return store.db->Put({}, handle, "key", std::to_string(round)).ok() ? 0 : 1;
  });
  for (ColumnFamilyHandle* const handle : store.handles) store.FlushOf(handle);
  for (ColumnFamilyHandle* const handle : store.handles) {
    EXPECT_EQ(store.GetFrom(handle, "key"), std::to_string(kRounds - 1));
  }
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
