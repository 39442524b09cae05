// FilePool: files of which only some are open at a time answer as if all were.
#include "io/pooled_file_system.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/descriptor_limit.h"
#include "io/sim/sim_file_system.h"
#include "io/sim_test_util.h"
#include "testing/limit_scope.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

using testing::MutantScope;
using testing::ScaledCount;
using testing::SeedFromEnvironment;

std::string NameOf(std::size_t i) { return "/file" + std::to_string(i); }
std::string BytesOf(std::size_t i) { return "bytes of " + std::to_string(i); }

std::string ReadWhole(const File& file) {
  FileInfo info;
  Status s = file.GetInfo(&info);
  std::string bytes(info.size, '\0');
  std::size_t read = 0;
  if (s.ok()) s = file.Read(0, bytes.size(), bytes.data(), &read);
  return s.ok() ? bytes.substr(0, read) : s.ToString();
}

class FilePoolTest : public ::testing::Test {
 protected:
  // Creates `count` files with durable bytes, whose last access is their creation.
  void Create(std::size_t count) {
    for (std::size_t i = files_.size(); i < count; ++i) {
      files_.push_back(MustOpen(&pooled_, NameOf(i), OpenMode::kCreateNew));
      ASSERT_TRUE(files_[i]->Write(0, BytesOf(i)).ok());
      ASSERT_TRUE(files_[i]->SyncData().ok());
    }
  }
  [[nodiscard]] std::size_t open_files() const { return sim_->probe().open_files(); }
  void FailNextCall(SimOpKind kind) {
    SimFault fault;
    fault.kind = kind;
    sim_->AddFault(fault);
  }
  // Opens and closes enough other files to close all files that can be closed.
  void CloseTheRest() {
    for (std::size_t i = 0; i < 3 * kMaxOpen; ++i) {
      MustOpen(&pooled_, "/other", i == 0 && !has_other_ ? OpenMode::kCreateNew : OpenMode::kReadOnly);
      has_other_ = true;
      std::vector<std::unique_ptr<File>> others;
      for (std::size_t k = 0; k < kMaxOpen; ++k) others.push_back(MustOpen(&pooled_, "/other", OpenMode::kReadOnly));
    }
  }

  static constexpr std::size_t kMaxOpen = 4;
  const std::shared_ptr<SimFileSystem> sim_ = std::make_shared<SimFileSystem>();
  PooledFileSystem pooled_{sim_, kMaxOpen};
  std::vector<std::unique_ptr<File>> files_;
  bool has_other_ = false;
};

TEST_F(FilePoolTest, FilesAreClosedAndOpenedAgain) {
  Create(20);
  EXPECT_EQ(open_files(), kMaxOpen);
  const std::uint64_t seed = SeedFromEnvironment(7);
  Prng prng(seed);
  for (int i = 0; i < 300; ++i) {
    const std::size_t at = prng.Uniform(files_.size());
    EXPECT_EQ(ReadWhole(*files_[at]), BytesOf(at));
    EXPECT_LE(open_files(), kMaxOpen);
  }
  files_.clear();
  EXPECT_EQ(open_files(), 0u);
  EXPECT_EQ(pooled_.open_count(), 0u);
}

// A file that is read again and again is not the one that is closed.
TEST_F(FilePoolTest, FilesInUseStayOpen) {
  Create(20);
  EXPECT_EQ(ReadWhole(*files_[0]), BytesOf(0));
  for (std::size_t i = 1; i < 20; ++i) {
    const std::uint64_t before = sim_->calls(SimOpKind::kOpen);
    EXPECT_EQ(ReadWhole(*files_[0]), BytesOf(0));
    EXPECT_EQ(sim_->calls(SimOpKind::kOpen), before) << i;
    EXPECT_EQ(ReadWhole(*files_[i]), BytesOf(i));
  }
}

// H13: the report of a failed write-back goes to the descriptor that wrote.
TEST_F(FilePoolTest, FileWithUnsyncedBytesStaysOpen) {
  const auto open_after_a_write = [this] {
    files_.clear();
    Create(1);
    EXPECT_TRUE(files_[0]->Write(0, "changed").ok());
    CloseTheRest();
    const std::size_t open = open_files();
    files_.clear();
    EXPECT_TRUE(pooled_.Unlink(NameOf(0)).ok());
    return open;
  };
  EXPECT_EQ(open_after_a_write(), 1u);
  const MutantScope mutant(Mutant::kCloseBeforeSync);
  EXPECT_EQ(open_after_a_write(), 0u);
}

TEST_F(FilePoolTest, SyncedFileCanBeClosed) {
  Create(1);
  ASSERT_TRUE(files_[0]->Write(0, "changed").ok());
  ASSERT_TRUE(files_[0]->Sync().ok());
  ASSERT_TRUE(files_[0]->Truncate(5).ok());
  CloseTheRest();
  EXPECT_EQ(open_files(), 0u);
  EXPECT_EQ(ReadWhole(*files_[0]), "chang");
  ASSERT_TRUE(files_[0]->Write(5, "ed again").ok());
  EXPECT_EQ(ReadWhole(*files_[0]), "changed again");
}

TEST_F(FilePoolTest, FileWhoseSyncFailedStaysOpen) {
  Create(1);
  ASSERT_TRUE(files_[0]->Write(0, "changed").ok());
  FailNextCall(SimOpKind::kSync);
  EXPECT_FALSE(files_[0]->SyncData().ok());
  EXPECT_TRUE(files_[0]->SyncData().ok());
  CloseTheRest();
  EXPECT_EQ(open_files(), 1u);
}

// If nothing else can be closed, unsynced files are: the pool syncs them.
TEST_F(FilePoolTest, UnsyncedFilesDoNotUseUpTheDescriptors) {
  sim_->SetMaxOpenFiles(6);
  for (std::size_t i = 0; i < 20; ++i) {
    files_.push_back(MustOpen(&pooled_, NameOf(i), OpenMode::kCreateNew));
    ASSERT_NE(files_[i], nullptr);
    ASSERT_TRUE(files_[i]->Write(0, BytesOf(i)).ok());
    EXPECT_LE(open_files(), kMaxOpen);
  }
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(ReadWhole(*files_[i]), BytesOf(i));
}

// The bytes that the owner of the file had written may be lost, so no later write may rely on them.
TEST_F(FilePoolTest, FailedSyncByThePoolEndsAllChanges) {
  Create(2);
  ASSERT_TRUE(files_[0]->Write(0, "changed").ok());
  FailNextCall(SimOpKind::kSync);
  sim_->SetMaxOpenFiles(1);
  std::unique_ptr<File> other;
  const auto is_fatal = [](const Status& s) { return s.severity() == Status::Severity::kFatal; };
  EXPECT_TRUE(is_fatal(pooled_.Open("/other", OpenMode::kCreateNew, {}, &other)));
  EXPECT_EQ(sim_->fault_hits(), 1u);
  sim_->SetMaxOpenFiles(100);
  EXPECT_TRUE(is_fatal(files_[0]->SyncData()));
  EXPECT_TRUE(is_fatal(files_[1]->Sync()));
  EXPECT_TRUE(is_fatal(files_[1]->Write(0, "x")));
  EXPECT_TRUE(is_fatal(files_[1]->Truncate(0)));
  EXPECT_TRUE(is_fatal(pooled_.Open("/other", OpenMode::kCreateNew, {}, &other)));
  EXPECT_TRUE(is_fatal(pooled_.Unlink(NameOf(1))));
  EXPECT_TRUE(is_fatal(pooled_.Rename(NameOf(1), "/other")));
  EXPECT_EQ(ReadWhole(*files_[1]), BytesOf(1));
}

TEST_F(FilePoolTest, RemovedFileCanBeRead) {
  Create(2);
  CloseTheRest();
  ASSERT_TRUE(pooled_.Unlink(NameOf(0)).ok());
  CloseTheRest();
  EXPECT_EQ(open_files(), 1u);
  EXPECT_EQ(ReadWhole(*files_[0]), BytesOf(0));
  const MutantScope mutant(Mutant::kClosedFileLosesName);
  ASSERT_TRUE(pooled_.Unlink(NameOf(1)).ok());
  EXPECT_NE(ReadWhole(*files_[1]), BytesOf(1));
}

TEST_F(FilePoolTest, RenamedAndReplacedFilesCanBeRead) {
  Create(3);
  CloseTheRest();
  ASSERT_TRUE(pooled_.Rename(NameOf(0), NameOf(1)).ok());
  ASSERT_TRUE(pooled_.RenameToNew(NameOf(2), "/new").ok());
  CloseTheRest();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ReadWhole(*files_[i]), BytesOf(i));
  EXPECT_EQ(ReadWhole(*MustOpen(&pooled_, NameOf(1), OpenMode::kReadOnly)), BytesOf(0));
  EXPECT_EQ(ReadWhole(*MustOpen(&pooled_, "/new", OpenMode::kReadOnly)), BytesOf(2));
}

TEST_F(FilePoolTest, AnotherFileOfTheSameNameIsAnError) {
  Create(1);
  CloseTheRest();
  ASSERT_TRUE(sim_->Unlink(NameOf(0)).ok());
  EXPECT_TRUE(MustOpen(sim_.get(), NameOf(0), OpenMode::kCreateNew)->Write(0, "bytes of x").ok());
  EXPECT_EQ(ReadWhole(*files_[0]), "IO error: open /file0 again: it is another file now");
  const MutantScope mutant(Mutant::kReopenedFileUnchecked);
  EXPECT_EQ(ReadWhole(*files_[0]), "bytes of x");
}

// The file exists by then. If Open returned an error, the caller would not expect it to exist.
TEST_F(FilePoolTest, FileThatCannotBeIdentifiedStaysOpen) {
  FailNextCall(SimOpKind::kGetInfo);
  files_.push_back(MustOpen(&pooled_, NameOf(0), OpenMode::kCreateNew));
  EXPECT_EQ(sim_->fault_hits(), 1u);
  CloseTheRest();
  EXPECT_EQ(open_files(), 1u);
}

TEST_F(FilePoolTest, MissingDescriptorsCloseFiles) {
  Create(kMaxOpen);
  sim_->SetMaxOpenFiles(2);
  ASSERT_NE(MustOpen(&pooled_, "/one more", OpenMode::kCreateNew), nullptr);
  EXPECT_LE(open_files(), 2u);
  for (std::size_t i = 0; i < kMaxOpen; ++i) EXPECT_EQ(ReadWhole(*files_[i]), BytesOf(i));
}

TEST_F(FilePoolTest, ErrorsOfOpeningAgainAreReturned) {
  Create(1);
  CloseTheRest();
  sim_->SetMaxOpenFiles(0);
  char byte = 0;
  std::size_t read = 0;
  EXPECT_TRUE(files_[0]->Read(0, 1, &byte, &read).IsDenied());
  EXPECT_TRUE(files_[0]->Write(0, "x").IsDenied());
  EXPECT_TRUE(files_[0]->SyncData().ok());  // it was synced before it was closed, so there is nothing to do
  EXPECT_TRUE(files_[0]->Truncate(0).IsDenied());
  EXPECT_TRUE(files_[0]->SyncData().IsDenied());
  EXPECT_TRUE(pooled_.Unlink(NameOf(0)).IsDenied());  // nothing was done
  sim_->SetMaxOpenFiles(100);
  EXPECT_EQ(ReadWhole(*files_[0]), BytesOf(0));
}

TEST_F(FilePoolTest, MappedFilesStayOpenAndAreHalfAtMost) {
  Create(20);
  std::vector<std::unique_ptr<MappedRegion>> regions(3);
  ASSERT_TRUE(files_[0]->Map(0, 5, &regions[0]).ok());
  ASSERT_TRUE(files_[1]->Map(0, 5, &regions[1]).ok());
  EXPECT_TRUE(files_[2]->Map(0, 5, &regions[2]).IsNotSupported());
  CloseTheRest();
  EXPECT_EQ(std::string(regions[0]->data(), 5), "bytes");
  regions[0].reset();
  EXPECT_TRUE(files_[2]->Map(0, 5, &regions[2]).ok());
}

// A mapping keeps the descriptor, so closing its file would free nothing.
TEST_F(FilePoolTest, MappedFilesCountAsOpen) {
  Create(1);
  std::unique_ptr<MappedRegion> region;
  ASSERT_TRUE(files_[0]->Map(0, 5, &region).ok());
  CloseTheRest();
  EXPECT_EQ(pooled_.open_count(), 1u);
  EXPECT_EQ(ReadWhole(*files_[0]), BytesOf(0));
  region.reset();
  CloseTheRest();
  EXPECT_EQ(pooled_.open_count(), 0u);
}

TEST_F(FilePoolTest, QueueReadsClosedFiles) {
  Create(20);
  const std::unique_ptr<ReadQueue> queue = pooled_.NewReadQueue(20, true);
  std::vector<std::string> bytes(20, std::string(8, ' '));
  std::vector<ReadRequest> requests(20);
  std::vector<ReadRequest*> pointers;
  for (std::size_t i = 0; i < 20; ++i) {
    requests[i].file = files_[i].get();
    requests[i].size = 8;
    requests[i].out = bytes[i].data();
    pointers.push_back(&requests[i]);
  }
  ASSERT_TRUE(queue->Submit(pointers).ok());
  std::vector<ReadRequest*> done;
  while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
  EXPECT_EQ(done.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(bytes[i], BytesOf(i).substr(0, 8));
    EXPECT_EQ(requests[i].file, files_[i].get());
  }
  CloseTheRest();
  EXPECT_EQ(open_files(), 0u);
}

TEST_F(FilePoolTest, QueueSubmitsNothingIfAFileCannotBeOpened) {
  Create(2);
  CloseTheRest();
  sim_->SetMaxOpenFiles(1);
  const std::unique_ptr<ReadQueue> queue = pooled_.NewReadQueue(4, true);
  char bytes[2];
  ReadRequest requests[2];
  ReadRequest* pointers[2] = {&requests[0], &requests[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    requests[i].file = files_[i].get();
    requests[i].size = 1;
    requests[i].out = &bytes[i];
  }
  EXPECT_TRUE(queue->Submit(pointers).IsDenied());
  EXPECT_EQ(queue->in_flight(), 0u);
  EXPECT_EQ(requests[0].file, files_[0].get());
  CloseTheRest();
  EXPECT_EQ(ReadWhole(*files_[1]), BytesOf(1));
}

TEST_F(FilePoolTest, ThreadsReadWriteAndRemove) {
  Create(12);
  std::atomic<int> wrong{0};
  const auto read = [&](std::uint64_t seed) {
    Prng prng(seed);
    for (std::uint64_t i = 0; i < ScaledCount(20'000); ++i) {
      const std::size_t at = prng.Uniform(8);
      if (ReadWhole(*files_[at]) != BytesOf(at)) ++wrong;
    }
  };
  const auto write = [&] {
    for (std::uint64_t i = 0; i < ScaledCount(3000); ++i) {
      const std::size_t at = 8 + i % 4;
      if (!files_[at]->Write(0, BytesOf(at)).ok()) ++wrong;
      if (i % 5 == 0 && !files_[at]->SyncData().ok()) ++wrong;  // else the pool may have to
    }
  };
  const auto come_and_go = [&] {
    for (std::uint64_t i = 0; i < ScaledCount(1000); ++i) {
      std::unique_ptr<File> file = MustOpen(&pooled_, "/short", OpenMode::kCreateNew);
      if (!file->Write(0, "short").ok()) ++wrong;
      if (i % 2 == 0) file.reset();
      if (!pooled_.Unlink("/short").ok() || (file != nullptr && ReadWhole(*file) != "short")) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(read, SeedFromEnvironment(1));
  threads.emplace_back(read, SeedFromEnvironment(2));
  threads.emplace_back(write);
  threads.emplace_back(come_and_go);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(DescriptorLimitTest, SoftLimitIsRaisedToTheHardOne) {
  const testing::LimitScope limit(RLIMIT_NOFILE, 100);
  const std::size_t raised = RaiseDescriptorLimit();
  rlimit now;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, now.rlim_max);
  EXPECT_EQ(raised, std::min<rlim_t>(now.rlim_cur, 1u << 30));
  EXPECT_GE(raised, 100u);
}

}  // namespace
}  // namespace cambium
