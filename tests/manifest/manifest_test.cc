// The writer: the cost of a commit, when a file rolls, and its behaviour after each kind of failure.
#include "manifest/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <set>
#include <thread>

#include "io/sim/sim_file_system.h"
#include "manifest/edit_generator.h"
#include "manifest/file_names.h"
#include "testing/mutant_scope.h"

namespace cambium {
namespace {

using testing::EditGenerator;
using testing::MutantScope;

const std::string kDirectory = "/db";

class ManifestTest : public ::testing::Test {
 protected:
  ManifestTest() {
    EXPECT_TRUE(fs_.CreateDirectory(kDirectory).ok());
    EXPECT_TRUE(fs_.SyncDirectory("/").ok());
    state_.database_id.fill(0xdb);
    state_.epoch = 1;
    state_.next_file_number = 2;
  }

  static FileHeader Identity() {
    FileHeader identity;
    identity.file_id.fill(0x77);
    return identity;
  }
  Result<std::unique_ptr<Manifest>> Create(std::uint64_t number, std::uint64_t roll_bytes = kManifestRollBytes) {
    return Manifest::Create(fs_, kDirectory, Identity(), number, state_, roll_bytes);
  }
  std::unique_ptr<Manifest> MustCreate(std::uint64_t number, std::uint64_t roll_bytes = kManifestRollBytes) {
    auto manifest = Create(number, roll_bytes);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    return std::move(manifest).value();
  }
  static Edit EditTo(SequenceNumber sequence) {
    Edit edit;
    edit.last_sequence = sequence;
    return edit;
  }
  void FailNext(SimOpKind kind, SimFault fault = {}) {
    fault.kind = kind;
    fs_.AddFault(std::move(fault));
  }
  SequenceNumber SequenceOnDisk() {
    const Result<ManifestRead> read = ReadManifest(fs_, kDirectory);
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    return read.ok() ? read->state.last_sequence : 0;
  }
  std::vector<std::uint64_t> NumbersOnDisk() {
    std::vector<std::uint64_t> numbers;
    for (const NumberedFile& file : ListNumberedFiles(fs_, kDirectory).value()) numbers.push_back(file.number);
    return numbers;
  }

  SimFileSystem fs_;
  ManifestState state_;
  std::uint64_t manifest_number_ = 0;  // the last one that a test took
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(ManifestTest, CommitIsOneWriteAndOneSync) {
  const auto manifest = MustCreate(1);
  const std::uint64_t calls = fs_.calls();
  const std::uint64_t writes = fs_.calls(SimOpKind::kWrite);
  const std::uint64_t syncs = fs_.calls(SimOpKind::kSync);
  ASSERT_TRUE(manifest->Commit(EditTo(5), 0).ok());
  EXPECT_EQ(fs_.calls() - calls, 2u);
  EXPECT_EQ(fs_.calls(SimOpKind::kWrite) - writes, 1u);
  EXPECT_EQ(fs_.calls(SimOpKind::kSync) - syncs, 1u);
  EXPECT_EQ(manifest->state().last_sequence, 5u);
  EXPECT_EQ(SequenceOnDisk(), 5u);
}

TEST_F(ManifestTest, CreateStartsANewFileAndRemovesTheOldOne) {
  ASSERT_TRUE(fs_.tampering().WriteContents("/db/000003.run", "x").ok());
  {
    const auto manifest = MustCreate(1);
    ASSERT_TRUE(manifest->Commit(EditTo(5), 0).ok());
  }
  state_ = ReadManifest(fs_, kDirectory)->state;
  const auto manifest = MustCreate(4);
  EXPECT_EQ(NumbersOnDisk(), (Numbers{4, 3}));  // files of other kinds are kept
  EXPECT_EQ(SequenceOnDisk(), 5u);
  EXPECT_EQ(manifest->number(), 4u);
}

TEST_F(ManifestTest, NextFileNumberIsAboveManifestNumber) {
  const auto manifest = MustCreate(40, 0);
  EXPECT_EQ(manifest->state().next_file_number, 41u);
  while (!manifest->WillRoll({})) ASSERT_TRUE(manifest->Commit(EditTo(1), 0).ok());
  ASSERT_TRUE(manifest->Commit(EditTo(2), 90).ok());
  EXPECT_EQ(manifest->number(), 90u);
  EXPECT_EQ(manifest->state().next_file_number, 91u);
  EXPECT_EQ(ReadManifest(fs_, kDirectory)->state, manifest->state());
}

TEST_F(ManifestTest, NumberNotAboveEveryOtherManifestIsRejected) {
  ASSERT_TRUE(fs_.tampering().WriteContents(FilePath(kDirectory, FileKind::kManifest, 8), "torn").ok());
  const std::uint64_t operations = fs_.operations();
  EXPECT_TRUE(Create(8).status().IsInvalidArgument());
  EXPECT_TRUE(Create(7).status().IsInvalidArgument());
  EXPECT_TRUE(Create(0).status().IsInvalidArgument());
  EXPECT_TRUE(Create(kFileNumberMax).status().IsInvalidArgument());
  EXPECT_EQ(fs_.operations(), operations);
  EXPECT_TRUE(Create(9).ok());
}

TEST_F(ManifestTest, StateThatCouldNotBeReadBackIsRejected) {
  state_.replay = {1000, 0};
  const std::uint64_t operations = fs_.operations();
  EXPECT_TRUE(Create(1).status().IsCorruption());
  state_.replay = {};
  state_.database_id = {};
  EXPECT_TRUE(Create(1).status().IsInvalidArgument());
  EXPECT_EQ(fs_.operations(), operations);
}

TEST_F(ManifestTest, EditThatDoesNotFitIsNotWritten) {
  const auto manifest = MustCreate(1);
  ASSERT_TRUE(manifest->Commit(EditTo(5), 0).ok());
  const std::uint64_t calls = fs_.calls();
  EXPECT_TRUE(manifest->Commit(EditTo(4), 0).IsCorruption());
  Edit identity;
  identity.database_id = state_.database_id;
  EXPECT_TRUE(manifest->Commit(identity, 0).IsInvalidArgument());
  EXPECT_EQ(fs_.calls(), calls);
  EXPECT_TRUE(manifest->Commit(EditTo(6), 0).ok());  // later commits still work
  EXPECT_EQ(SequenceOnDisk(), 6u);
}

TEST_F(ManifestTest, LargeFileRolls) {
  const auto manifest = MustCreate(1, 1000);
  std::uint64_t next = 2;
  std::uint64_t rolls = 0;
  for (SequenceNumber sequence = 1; sequence <= 200; ++sequence) {
    const bool will_roll = manifest->WillRoll({});
    const std::uint64_t number = manifest->number();
    ASSERT_TRUE(manifest->Commit(EditTo(sequence), next).ok());
    EXPECT_EQ(manifest->number(), will_roll ? next : number);
    if (will_roll) {
      ++next;
      ++rolls;
      EXPECT_EQ(NumbersOnDisk(), (Numbers{manifest->number()}));
    }
    ASSERT_EQ(SequenceOnDisk(), sequence);
    EXPECT_LT(manifest->file_size(), 2000u);
  }
  EXPECT_GT(rolls, 5u);
}

// Sizes of the MANIFEST of a tiny database, while edits of four times kManifestRollBytes are committed.
struct MostBytes {
  std::uint64_t file = 0;      // the largest size of the file
  std::uint64_t record = 0;    // the largest record of an edit
  std::uint64_t snapshot = 0;  // the size of the state at the end
};

MostBytes CommitManyEdits(Manifest* manifest) {
  MostBytes most;
  std::uint64_t committed = 0;
  for (SequenceNumber sequence = 1; committed < 4 * kManifestRollBytes; ++sequence) {
    const std::uint64_t number = manifest->number();
    const std::uint64_t before = manifest->file_size();
    Edit edit;
    edit.last_sequence = sequence;
    const Status s = manifest->Commit(edit, number + 1);
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (!s.ok()) break;
    most.file = std::max(most.file, manifest->file_size());
    if (manifest->number() != number) continue;  // it has rolled
    const std::uint64_t record = manifest->file_size() - before;
    most.record = std::max(most.record, record);
    committed += record;
  }
  most.snapshot = Manifest::SizeOfNew(manifest->state(), manifest->number());
  return most;
}

// ADR 54: the ceiling counts the MANIFEST, so it must not be larger than a small database.
TEST_F(ManifestTest, FileOfASmallDatabaseStaysSmall) {
  const auto exceeds = [](const MostBytes& most) {
    std::printf("at most %llu bytes, with a snapshot of %llu and edits of %llu\n",
                static_cast<unsigned long long>(most.file), static_cast<unsigned long long>(most.snapshot),
                static_cast<unsigned long long>(most.record));
    return most.file > kManifestRollBytes + 2 * most.snapshot + most.record;
  };
  EXPECT_FALSE(exceeds(CommitManyEdits(MustCreate(1).get())));
  const MutantScope mutant(Mutant::kManifestRollsAtFourMiB);
  EXPECT_TRUE(exceeds(CommitManyEdits(MustCreate(1000).get())));
}

TEST_F(ManifestTest, EveryFileHasItsOwnIdAndSeed) {
  const auto manifest = MustCreate(1, 0);
  std::set<Id128> ids;
  std::set<std::uint64_t> seeds;
  for (std::uint64_t number = 2; number < 12; ++number) {
    const FileHeader header = ReadManifest(fs_, kDirectory)->header;
    EXPECT_EQ(header.database_id, state_.database_id);
    EXPECT_TRUE(ids.insert(header.file_id).second);
    EXPECT_TRUE(seeds.insert(header.Seed()).second);
    while (!manifest->WillRoll({})) ASSERT_TRUE(manifest->Commit(Edit(), 0).ok());
    ASSERT_TRUE(manifest->Commit(Edit(), number).ok());
  }
}

// A part of the failed record may be on disk, so the file is dead.
TEST_F(ManifestTest, NextCommitAfterAFailedWriteRolls) {
  for (const std::uint64_t landed : {0u, 1u, 30u, 47u, 1000u}) {
    SCOPED_TRACE(landed);
    const auto manifest = MustCreate(manifest_number_ += 10);
    ASSERT_TRUE(manifest->Commit(EditTo(1), 0).ok());
    SimFault fault;
    fault.short_bytes = landed;
    fault.status = Status::NoSpace("full");
    FailNext(SimOpKind::kWrite, fault);
    EXPECT_TRUE(manifest->Commit(EditTo(2), 0).IsNoSpace());
    EXPECT_EQ(manifest->state().last_sequence, 1u);
    EXPECT_TRUE(manifest->WillRoll({}));
    ASSERT_TRUE(manifest->Commit(EditTo(3), manifest_number_ + 1).ok());
    EXPECT_EQ(manifest->number(), manifest_number_ + 1);
    EXPECT_EQ(SequenceOnDisk(), 3u);
    ASSERT_TRUE(manifest->Commit(EditTo(4), 0).ok());
    EXPECT_EQ(manifest->number(), manifest_number_ + 1);
    EXPECT_EQ(SequenceOnDisk(), 4u);
    EXPECT_EQ(NumbersOnDisk(), (Numbers{manifest->number()}));
    fs_.ClearFaults();
  }
}

#ifdef CAMBIUM_TEST_HOOKS
TEST_F(ManifestTest, MutantAppendAfterFailureLosesTheNextCommit) {
  const auto manifest = MustCreate(1);
  ASSERT_TRUE(manifest->Commit(EditTo(1), 0).ok());
  FailNext(SimOpKind::kWrite);
  const MutantScope mutant(Mutant::kManifestAppendAfterFailure);
  EXPECT_FALSE(manifest->Commit(EditTo(2), 2).ok());
  ASSERT_TRUE(manifest->Commit(EditTo(3), 2).ok());
  const Result<ManifestRead> read = ReadManifest(fs_, kDirectory);
  EXPECT_FALSE(read.ok() && read->state.last_sequence == 3);
}
#endif

// A failed roll may have left a file that a reader would choose, also after a crash that undoes its removal. So the
// writer must not continue in the old one.
TEST_F(ManifestTest, FailedRollLeavesBothFilesDead) {
  const auto manifest = MustCreate(1, 0);
  SequenceNumber sequence = 0;
  while (!manifest->WillRoll({})) ASSERT_TRUE(manifest->Commit(EditTo(++sequence), 0).ok());
  std::string before;
  ASSERT_TRUE(fs_.probe().ReadContents(FilePath(kDirectory, FileKind::kManifest, 1), &before).ok());
  FailNext(SimOpKind::kWrite);
  EXPECT_FALSE(manifest->Commit(EditTo(100), 2).ok());
  FailNext(SimOpKind::kWrite);
  EXPECT_FALSE(manifest->Commit(EditTo(101), 3).ok());
  EXPECT_EQ(manifest->state().last_sequence, sequence);
  EXPECT_EQ(SequenceOnDisk(), sequence);
  std::string after;
  ASSERT_TRUE(fs_.probe().ReadContents(FilePath(kDirectory, FileKind::kManifest, 1), &after).ok());
  EXPECT_EQ(after, before);
  EXPECT_EQ(NumbersOnDisk(), (Numbers{1})) << "what a failed roll has written is removed";
  ASSERT_TRUE(manifest->Commit(EditTo(103), 4).ok());
  EXPECT_EQ(SequenceOnDisk(), 103u);
  EXPECT_EQ(NumbersOnDisk(), (Numbers{4}));
}

#ifdef CAMBIUM_TEST_HOOKS
// Rule D9: the write of the new file reports an error, but all of it is on disk. A writer that continued in the old
// file would commit to a file that is never read again.
TEST_F(ManifestTest, CommitAfterAFailedRollIsNotLost) {
  const auto commit_is_lost = [&] {
    const auto manifest = MustCreate(manifest_number_ += 10, 0);
    SequenceNumber acknowledged = 0;
    while (!manifest->WillRoll({})) EXPECT_TRUE(manifest->Commit(EditTo(++acknowledged), 0).ok());
    SimFault whole;
    whole.short_bytes = 1u << 20;
    FailNext(SimOpKind::kWrite, whole);
    FailNext(SimOpKind::kUnlink);
    if (manifest->Commit(EditTo(100), manifest_number_ + 1).ok()) acknowledged = 100;
    FailNext(SimOpKind::kCreate);
    if (manifest->Commit(EditTo(101), manifest_number_ + 2).ok()) acknowledged = 101;
    fs_.ClearFaults();
    return SequenceOnDisk() < acknowledged;
  };
  EXPECT_FALSE(commit_is_lost());
  const MutantScope mutant(Mutant::kReuseManifestAfterFailedRoll);
  EXPECT_TRUE(commit_is_lost());
}
#endif

// If the new file of a roll cannot be created, for example because there are no descriptors, nothing was written. Then
// an old file that is too large, but not dead, still takes commits.
TEST_F(ManifestTest, LargeFileTakesCommitsIfNoNewOneCanBeCreated) {
  const auto manifest = MustCreate(1, 0);
  while (!manifest->WillRoll({})) ASSERT_TRUE(manifest->Commit(EditTo(1), 0).ok());
  FailNext(SimOpKind::kCreate);
  ASSERT_TRUE(manifest->Commit(EditTo(2), 2).ok());
  EXPECT_EQ(manifest->number(), 1u);
  EXPECT_TRUE(manifest->WillRoll({}));
  EXPECT_EQ(SequenceOnDisk(), 2u);
  FailNext(SimOpKind::kList);
  ASSERT_TRUE(manifest->Commit(EditTo(3), 3).ok());
  EXPECT_EQ(manifest->number(), 1u);
  ASSERT_TRUE(manifest->Commit(EditTo(4), 4).ok());
  EXPECT_EQ(manifest->number(), 4u);
  EXPECT_EQ(SequenceOnDisk(), 4u);
}

// On a full disk a roll fails before the first byte of the new file, which is removed. The old file takes the edit if
// it has room for it. So many commits leave one file, and do not use up the space that is freed in between.
TEST_F(ManifestTest, FailedRollsLeaveNoFiles) {
  const auto files_after = [&](SimOpKind kind, bool takes_edits) {
    const auto manifest = MustCreate(manifest_number_ += 100, 0);
    while (!manifest->WillRoll({})) EXPECT_TRUE(manifest->Commit(EditTo(1), 0).ok());
    for (std::uint64_t i = 1; i <= 20; ++i) {
      SimFault fault;
      fault.short_bytes = 50;
      fault.status = Status::NoSpace("full");
      FailNext(kind, fault);
      EXPECT_EQ(manifest->Commit(EditTo(1 + i), manifest_number_ + i).ok(), takes_edits);
      EXPECT_EQ(SequenceOnDisk(), takes_edits ? 1 + i : 1);
      fs_.ClearFaults();
    }
    return NumbersOnDisk().size();
  };
  EXPECT_EQ(files_after(SimOpKind::kAllocate, true), 1u);
  EXPECT_EQ(files_after(SimOpKind::kWrite, false), 1u);
  const MutantScope mutant(Mutant::kKeepFailedManifest);
  EXPECT_GT(files_after(SimOpKind::kWrite, false), 1u);
}

// If an edit needs a block that the disk does not have, it fails before it is written, and the file takes later edits.
TEST_F(ManifestTest, EditWithoutSpaceDoesNotEndTheFile) {
  const auto manifest = MustCreate(1);
  SimFault fault;
  fault.status = Status::NoSpace("full");
  FailNext(SimOpKind::kAllocate, fault);
  SequenceNumber taken = 0;
  while (manifest->Commit(EditTo(taken + 1), 0).ok()) ++taken;
  EXPECT_GT(taken, 10u);
  EXPECT_FALSE(manifest->WillRoll({}));
  EXPECT_EQ(manifest->state().last_sequence, taken);
  ASSERT_TRUE(manifest->Commit(EditTo(taken + 1), 0).ok());
  EXPECT_EQ(manifest->number(), 1u);
  EXPECT_EQ(SequenceOnDisk(), taken + 1);
}

// A dead file takes no commits, even if no new file can be created.
TEST_F(ManifestTest, DeadFileTakesNoCommits) {
  const auto manifest = MustCreate(1);
  FailNext(SimOpKind::kWrite);
  EXPECT_FALSE(manifest->Commit(EditTo(1), 0).ok());
  FailNext(SimOpKind::kCreate);
  EXPECT_FALSE(manifest->Commit(EditTo(2), 2).ok());
  EXPECT_EQ(manifest->state().last_sequence, 0u);
  ASSERT_TRUE(manifest->Commit(EditTo(3), 3).ok());
  EXPECT_EQ(SequenceOnDisk(), 3u);
}

// For any errno, the first error is returned again, and the disk is not touched any more.
TEST_F(ManifestTest, FailedSyncIsFatal) {
  for (const Status& status : {Status::IOError("EIO"), Status::NoSpace("ENOSPC")}) {
    for (const SimOpKind kind : {SimOpKind::kSync, SimOpKind::kSyncDirectory}) {
      SCOPED_TRACE(SimOpName(kind));
      const auto manifest = MustCreate(manifest_number_ += 10, 0);
      while (!manifest->WillRoll({})) ASSERT_TRUE(manifest->Commit(EditTo(1), 0).ok());
      SimFault fault;
      fault.status = status;
      FailNext(kind, fault);
      const Status first = manifest->Commit(EditTo(2), manifest_number_ + 1);
      EXPECT_TRUE(first.IsIOError());
      EXPECT_EQ(first.severity(), Status::Severity::kFatal);
      EXPECT_EQ(manifest->state().last_sequence, 1u);
      const std::uint64_t calls = fs_.calls();
      const Status second = manifest->Commit(EditTo(3), manifest_number_ + 2);
      EXPECT_EQ(second.ToString(), first.ToString());
      EXPECT_EQ(second.severity(), Status::Severity::kFatal);
      EXPECT_EQ(fs_.calls(), calls);
      EXPECT_EQ(NumbersOnDisk(), (Numbers{manifest_number_, manifest_number_ + 1}));  // nothing was removed
      fs_.ClearFaults();
    }
  }
}

// A sync that throws for lack of memory may have failed: its error must not be lost with its message.
TEST_F(ManifestTest, OutOfMemoryInSyncIsFatal) {
  for (const SimOpKind kind : {SimOpKind::kSync, SimOpKind::kSyncDirectory}) {
    SCOPED_TRACE(SimOpName(kind));
    const auto manifest = MustCreate(manifest_number_ += 10, 0);
    while (!manifest->WillRoll({})) ASSERT_TRUE(manifest->Commit(EditTo(1), 0).ok());
    const int hook = fs_.AddHook([kind](const SimOp& op) {
      if (op.kind == kind && op.phase == SimPhase::kBefore) throw std::bad_alloc();
    });
    Status first;
    EXPECT_NO_THROW(first = manifest->Commit(EditTo(2), manifest_number_ + 1));
    fs_.RemoveHook(hook);
    EXPECT_EQ(first.severity(), Status::Severity::kFatal);
    const std::uint64_t calls = fs_.calls();
    const Status second = manifest->Commit(EditTo(3), manifest_number_ + 2);
    EXPECT_EQ(second.ToString(), first.ToString());
    EXPECT_EQ(second.severity(), Status::Severity::kFatal);
    EXPECT_EQ(fs_.calls(), calls);
    EXPECT_EQ(NumbersOnDisk(), (Numbers{manifest_number_, manifest_number_ + 1}));
  }
}

// The same for a write that throws: it may have reached the disk in part, so the next commit rolls.
TEST_F(ManifestTest, OutOfMemoryInWriteLeavesNoNewFile) {
  const auto manifest = MustCreate(1, 0);
  while (!manifest->WillRoll({})) ASSERT_TRUE(manifest->Commit(EditTo(1), 0).ok());
  const int hook = fs_.AddHook([](const SimOp& op) {
    if (op.kind == SimOpKind::kWrite && op.phase == SimPhase::kBefore) throw std::bad_alloc();
  });
  EXPECT_THROW(static_cast<void>(manifest->Commit(EditTo(2), 2)), std::bad_alloc);
  fs_.RemoveHook(hook);
  EXPECT_EQ(NumbersOnDisk(), Numbers{1});
  EXPECT_TRUE(manifest->HasWritten());
  ASSERT_TRUE(manifest->Commit(EditTo(3), 3).ok());
  EXPECT_EQ(NumbersOnDisk(), Numbers{3});
  EXPECT_EQ(SequenceOnDisk(), 3u);
}

TEST_F(ManifestTest, FailedCreateKeepsTheOlderFile) {
  { MustCreate(1); }
  for (const SimOpKind kind :
       {SimOpKind::kList, SimOpKind::kCreate, SimOpKind::kWrite, SimOpKind::kSync, SimOpKind::kSyncDirectory}) {
    FailNext(kind);
    manifest_number_ += 10;
    const Status status = Create(manifest_number_).status();
    EXPECT_TRUE(status.IsIOError()) << SimOpName(kind);
    EXPECT_EQ(status.severity() == Status::Severity::kFatal,
              kind == SimOpKind::kSync || kind == SimOpKind::kSyncDirectory);
    EXPECT_EQ(NumbersOnDisk()[0], 1u);
    fs_.ClearFaults();
  }
  EXPECT_TRUE(Create(1000).ok());
  EXPECT_EQ(NumbersOnDisk(), (Numbers{1000}));
}

TEST_F(ManifestTest, OlderFileThatCannotBeRemovedIsNotCurrent) {
  { MustCreate(1); }
  FailNext(SimOpKind::kUnlink);
  state_.last_sequence = 9;
  EXPECT_TRUE(Create(2).ok());
  EXPECT_EQ(NumbersOnDisk(), (Numbers{1, 2}));
  EXPECT_EQ(SequenceOnDisk(), 9u);
}

// Commits of several threads are serialised, and all are applied whole.
TEST_F(ManifestTest, ThreadsMayCommitConcurrently) {
  const auto manifest = MustCreate(1);
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&manifest, thread] {
      for (std::uint32_t i = 0; i < 50; ++i) {
        Edit edit;
        SegmentInfo segment;
        segment.number = 10 + thread * 1000 + i;
        segment.slot = Slot{static_cast<std::uint32_t>(thread * 1000) + i};
        edit.set_segments = {segment};
        edit.next_file_number = 10'000;
        EXPECT_TRUE(manifest->Commit(edit, 0).ok());
        EXPECT_FALSE(manifest->WillRoll({}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(manifest->state().segments.size(), 200u);
  EXPECT_EQ(ReadManifest(fs_, kDirectory)->state, manifest->state());
}

}  // namespace
}  // namespace cambium
