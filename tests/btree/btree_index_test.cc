// The Index contract as kept by the B+-tree: steps and masks, runs added between a sweep and its commit, which files
// are continued, and the state after an error.
#include "btree/btree_index.h"

#include <gtest/gtest.h>

#include <utility>

#include "manifest/file_names.h"
#include "tree_family.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

// Makes a tree of `count` keys, and three runs that update, delete and add keys.
void MakeTreeAndRuns(TreeFamily& family, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) family.Put(NumberKey(i * 4), 300);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  AddThreeRuns(family, count);
}

TEST(BTreeIndexTest, EveryStepOfASweepShowsTheSameState) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 3000);
  int steps = 0;
  std::string last_cursor;
  do {
    ASSERT_TRUE(family.Step(4096).ok());
    ++steps;
    ExpectGood(family);
    if (family.state().sweep.has_value()) {
      EXPECT_EQ(family.layers().runs().size(), 3u);
      EXPECT_GT(family.state().sweep->cursor, last_cursor);
      last_cursor = family.state().sweep->cursor;
    }
  } while (family.state().sweep.has_value());
  EXPECT_GT(steps, 5);
  EXPECT_TRUE(family.layers().runs().empty());
}

// Reopens after each step, with a flush in between: the swept set stays the same, the cursor moves forward, new runs
// stay on top. Mutants: a resumed sweep that starts again with all runs; a sweep that leaves out an older run.
Status SweepInStepsWithFlushesAndReopening() {
  TreeFamily family({});
  MakeTreeAndRuns(family, 600);
  for (int step = 0; step < 60; ++step) {
    CAMBIUM_RETURN_IF_ERROR(family.Step(3000));
    CAMBIUM_RETURN_IF_ERROR(family.Check());
    const std::uint64_t base = static_cast<std::uint64_t>(step) * 37 % 500;
    for (std::uint64_t i = 0; i < 20; ++i) family.Put(NumberKey((base + i * 3) * 4), 500);
    for (std::uint64_t i = 0; i < 5; ++i) family.Delete(NumberKey((base + i * 7) * 4));
    CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
    CAMBIUM_RETURN_IF_ERROR(family.Check());
    if (step % 3 == 0) CAMBIUM_RETURN_IF_ERROR(family.Reopen());
    CAMBIUM_RETURN_IF_ERROR(family.Check());
  }
  CAMBIUM_RETURN_IF_ERROR(family.SweepAll());
  return family.Check();
}

TEST(BTreeIndexTest, ResumedSweepKeepsItsCursorAndItsRuns) {
  const Status s = SweepInStepsWithFlushesAndReopening();
  EXPECT_TRUE(s.ok()) << s.ToString();
  MutantScope mutant(Mutant::kForgetSweepCursor);
  EXPECT_FALSE(SweepInStepsWithFlushesAndReopening().ok());
}

TEST(BTreeIndexTest, SweepLeavesNoOlderRunOut) {
  const auto sweep_once = [] {
    TreeFamily family({});
    MakeTreeAndRuns(family, 200);
    CAMBIUM_RETURN_IF_ERROR(family.Step(~std::uint64_t{0}));
    return family.Check();
  };
  const Status s = sweep_once();
  EXPECT_TRUE(s.ok()) << s.ToString();
  MutantScope mutant(Mutant::kSweepNewestRunsFirst);
  EXPECT_FALSE(sweep_once().ok());
}

// A forgotten cursor is detected even without new runs, because the accounts then count entries twice that were already
// merged.
TEST(BTreeIndexTest, MutantForgetSweepCursorIsCaughtByTheAccounts) {
  const auto two_steps = [] {
    TreeFamily family({});
    MakeTreeAndRuns(family, 600);
    CAMBIUM_RETURN_IF_ERROR(family.Step(3000));
    CAMBIUM_RETURN_IF_ERROR(family.SweepAll());
    return family.Check();
  };
  const Status s = two_steps();
  EXPECT_TRUE(s.ok()) << s.ToString();
  MutantScope mutant(Mutant::kForgetSweepCursor);
  EXPECT_FALSE(two_steps().ok());
}

// Sweeps whose room has space for one run: each takes the oldest run, in steps, and is resumed after an Open. The
// newest run has a range delete, and keys of an older run.
TEST(BTreeIndexTest, SweepTakesTheOldestRunsThatHaveRoom) {
  constexpr std::uint64_t kRunKeys = 4'000;  // more than the 256 KiB that each sweep may add
  const auto make = [](TreeFamily& family) {
    for (std::uint64_t i = 0; i < 1'000; ++i) family.PutInline(NumberKey(i * 1'000), std::string(90, 't'));
    ASSERT_TRUE(family.FlushIntoTree().ok());
    for (std::uint64_t run = 0; run < 3; ++run) {
      for (std::uint64_t i = 0; i < kRunKeys; ++i) family.PutInline(NumberKey(i * 3 + run), std::string(90, 'r'));
      if (run == 2) family.DeleteRange(NumberKey(100), NumberKey(9'000));
      ASSERT_TRUE(family.FlushRun().ok());
    }
    family.index().SetRoom({.standing = 1, .step = 1});
  };
  TreeFamily family({});
  make(family);
  for (std::size_t left = 3; left > 0; --left) {
    ASSERT_EQ(family.layers().runs().size(), left);
    const std::uint64_t oldest = family.layers().runs().back()->number();
    bool has_reopened = false;
    do {
      ASSERT_TRUE(family.Step(64 * 1024).ok());
      ExpectGood(family);
      if (!family.state().sweep.has_value()) continue;
      EXPECT_EQ(family.state().sweep->runs, std::vector<std::uint64_t>{oldest});
      if (std::exchange(has_reopened, true)) continue;
      ASSERT_TRUE(family.Reopen().ok());
      family.index().SetRoom({.standing = 1, .step = 1});
    } while (family.state().sweep.has_value());
    EXPECT_TRUE(has_reopened) << "the sweep had one step";
  }
  TreeFamily all({});
  make(all);
  const MutantScope mutant(Mutant::kSweepsTakeAllRuns);
  ASSERT_TRUE(all.Step(64 * 1024).ok());
  ASSERT_TRUE(all.state().sweep.has_value());
  EXPECT_EQ(all.state().sweep->runs.size(), 3u);
}

// Runs whose entries replace others take no second room: one sweep takes them all.
TEST(BTreeIndexTest, SweepTakesAllRunsThatReplaceEntries) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 3'000);
  family.index().SetRoom({.standing = 1, .step = 1});
  for (const auto& run : family.layers().runs()) run->NoteReplacedShare(1);
  ASSERT_TRUE(family.Step(4096).ok());
  ASSERT_TRUE(family.state().sweep.has_value());
  EXPECT_EQ(family.state().sweep->runs.size(), 3u);
}

TEST(BTreeIndexTest, RunAddedDuringASweepStaysOnTop) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 500);
  auto outcome = family.Compact(~std::uint64_t{0});
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  family.Put(NumberKey(8), 999);
  family.Delete(NumberKey(12));
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.Commit(outcome->get(), false).ok());
  EXPECT_EQ(family.layers().runs().size(), 1u);
  ExpectGood(family);
}

// Log GC may add a run of relocated addresses while a memtable is merged into the tree. The addresses are older than
// the memtable's entries, but the run would lie above the tree and hide them. So the merge is aborted, and the memtable
// becomes a run.
TEST(BTreeIndexTest, MergedMemtableIsAbortedIfARunWasAddedMeanwhile) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 500);
  family.Put(NumberKey(8), 999);
  auto outcome = family.CompactMemtable();
  ASSERT_TRUE(outcome.ok());
  EntryMap moved = family.NewMap();
  moved.emplace(NumberKey(8), family.NewSeparated(NumberKey(8), 300));
  ASSERT_TRUE(family.AddRun(moved).ok());
  EXPECT_TRUE(family.Commit(outcome->get(), true).IsAborted());
  ASSERT_TRUE(family.FlushRun().ok());
  ExpectGood(family);
  PageRef keep;
  Entry entry;
  const Result<bool> found = family.layers().Find(NumberKey(8), &keep, &entry);
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ(entry.address.size(), 1000u);
}

TEST(BTreeIndexTest, MemtableIsNotMergedDuringASweep) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 500);
  ASSERT_TRUE(family.Step(1000).ok());
  ASSERT_TRUE(family.state().sweep.has_value());
  family.Put(NumberKey(8), 999);
  EXPECT_TRUE(family.CompactMemtable().status().IsInvalidArgument());
  ASSERT_TRUE(family.Flush().ok());  // PickFlush chooses a run
  EXPECT_EQ(family.layers().runs().size(), 4u);
  EXPECT_TRUE(family.index().IsCompactionDue(family.layers(), false));
  ASSERT_TRUE(family.SweepAll().ok());
  ExpectGood(family);
}

TEST(BTreeIndexTest, SecondSweepOfTheSameLayersIsAborted) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 500);
  auto first = family.Compact(~std::uint64_t{0});
  auto second = family.Compact(~std::uint64_t{0});
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(family.Commit(first->get(), false).ok());
  EXPECT_TRUE(family.Commit(second->get(), false).IsAborted());
  ExpectGood(family);
}

// A source out of order would silently lose keys. Mutant: the order is not checked.
TEST(BTreeIndexTest, SweepOfKeysOutOfOrderIsCorruption) {
  const auto merge = [] {
    TreeFamily family({});
    EntryMap backward(KeyLess{ReverseBytewiseComparator()});
    for (std::uint64_t i = 0; i < 10; ++i) backward.emplace(NumberKey(i), family.NewSeparated(NumberKey(i), 300));
    const std::unique_ptr<EntryCursor> cursor = NewMapCursor(&backward);
    return family.index().Compact({family.shared_layers(), cursor.get()}).status();
  };
  EXPECT_TRUE(merge().IsCorruption()) << merge().ToString();
  MutantScope mutant(Mutant::kSkipOrderCheck);
  EXPECT_TRUE(merge().ok());
}

TEST(BTreeIndexTest, SmallSweepsShareAFileUntilItIsFullOrSealed) {
  TreeFamilyOptions options;
  options.segment_bytes_max = 1u << 20;
  options.filter_bits_per_key = 0;  // so that branches have one page, and everything fits into the file
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < 1000; ++i) family.Put(NumberKey(i), 300);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  const std::uint64_t created = family.files_created();
  for (std::uint64_t i = 0; i < 10; ++i) {
    family.Put(NumberKey(i * 90), 400);
    ASSERT_TRUE(family.FlushIntoTree().ok());
  }
  EXPECT_EQ(family.files_created(), created);
  family.index().SealFiles();
  family.Put(NumberKey(1), 400);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  EXPECT_EQ(family.files_created(), created + 1);
  ASSERT_TRUE(family.Reopen().ok());
  family.Put(NumberKey(1), 400);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  EXPECT_EQ(family.files_created(), created + 2) << "files from before the last Open are not continued";
  ExpectGood(family);
}

TEST(BTreeIndexTest, FileWithASecondLinkIsNotWrittenTo) {
  TreeFamily family({});
  for (std::uint64_t i = 0; i < 100; ++i) family.Put(NumberKey(i), 300);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  const std::uint64_t number = family.state().index_segments.back().first;
  const std::string path = FilePath("/db", FileKind::kIndex, number);
  ASSERT_TRUE(family.fs().CreateDirectory("/copy").ok());
  ASSERT_TRUE(family.fs().Link(path, "/copy/linked").ok());
  std::string before;
  ASSERT_TRUE(family.fs().probe().ReadContents(path, &before).ok());
  family.Put(NumberKey(1), 400);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  std::string after;
  ASSERT_TRUE(family.fs().probe().ReadContents(path, &after).ok());
  EXPECT_EQ(before, after);
  ExpectGood(family);
}

TEST(BTreeIndexTest, FileOfAnAbandonedSweepIsNotContinued) {
  TreeFamily family({});
  for (std::uint64_t i = 0; i < 100; ++i) family.Put(NumberKey(i), 300);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  const std::uint64_t created = family.files_created();
  family.Put(NumberKey(1), 400);
  { const auto outcome = family.CompactMemtable(); ASSERT_TRUE(outcome.ok()); }
  EXPECT_EQ(family.files_created(), created) << "it continued the open segment";
  ASSERT_TRUE(family.FlushIntoTree().ok());
  EXPECT_EQ(family.files_created(), created + 1) << "the segment now has an uncommitted tail";
  ExpectGood(family);
}

// Everything that a sweep has written is durable before the caller may commit it.
TEST(BTreeIndexTest, CompactSyncsBeforeItReturns) {
  TreeFamilyOptions options;
  options.segment_bytes_max = 16 * 1024;
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < 3000; ++i) family.Put(NumberKey(i), 300);
  const auto outcome = family.CompactMemtable();
  ASSERT_TRUE(outcome.ok());
  std::size_t segments = 0;
  for (const auto& file : family.fs().probe().ListFiles()) {
    ++segments;
    EXPECT_TRUE(family.fs().probe().IsDataDurable(file.path, file.size)) << file.path;
  }
  EXPECT_GT(segments, 3u);
}

// Fails the n-th call of each kind that a sweep makes, until a sweep succeeds. Each failed sweep has changed nothing.
TEST(BTreeIndexTest, FailedFileCallAbortsTheSweepWithoutEffect) {
  for (const SimOpKind kind : {SimOpKind::kRead, SimOpKind::kWrite, SimOpKind::kSync, SimOpKind::kCreate,
                               SimOpKind::kAllocate, SimOpKind::kGetInfo}) {
    TreeFamilyOptions options;
    options.pool_bytes = 16 * 1024;  // so that most pages have to be read
    options.segment_bytes_max = 16 * 1024;
    options.write_bytes = 4096;
    TreeFamily family(options);
    MakeTreeAndRuns(family, 3000);
    ASSERT_TRUE(family.Step(3000).ok());
    const FamilyState before = family.state();
    int failed = 0;
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE(std::string(SimOpName(kind)) + " " + std::to_string(n));
      const auto outcome = CompactWithFault(family, 40'000, kind, n);
      if (outcome.ok()) break;
      EXPECT_TRUE(outcome.status().IsIOError()) << outcome.status().ToString();
      ++failed;
      ASSERT_TRUE(family.state() == before);
      if (n % 7 == 1) ExpectGood(family);
    }
    EXPECT_GT(failed, kind == SimOpKind::kGetInfo ? 0 : 1) << SimOpName(kind);
    ExpectGood(family);
    ASSERT_TRUE(family.SweepAll().ok());
    ExpectGood(family);
  }
}

TEST(BTreeIndexTest, FullDiskIsReportedBeforeTheSync) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 400);
  family.fs().SetQuota(family.fs().probe().allocated_bytes() + 8192);
  const auto outcome = family.Compact(~std::uint64_t{0});
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(outcome.status().IsNoSpace()) << outcome.status().ToString();
  ExpectGood(family);
}

TEST(BTreeIndexTest, OpenRejectsFilesThatDifferFromTheState) {
  TreeFamily family({});
  MakeTreeAndRuns(family, 400);
  const std::uint64_t number = family.state().index_segments.begin()->first;
  const std::string path = FilePath("/db", FileKind::kIndex, number);
  std::string bytes;
  ASSERT_TRUE(family.fs().probe().ReadContents(path, &bytes).ok());
  ASSERT_TRUE(family.fs().tampering().Truncate(path, bytes.size() - 1).ok());
  EXPECT_TRUE(family.Reopen().IsCorruption());
  ASSERT_TRUE(family.fs().tampering().WriteContents(path, bytes).ok());
  EXPECT_TRUE(family.Reopen().ok());
  FileHeader other;
  other.kind = FileKind::kIndex;
  other.number = number;
  other.page_size = 512;
  other.file_id[9] = 77;
  ASSERT_TRUE(family.fs().tampering().Overwrite(path, 0, EncodeFileHeader(other)).ok());
  EXPECT_TRUE(family.Reopen().IsCorruption());
}

}  // namespace
}  // namespace cambium::testing
