#include "io/thread_syncs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "testing/files/partial_file.h"
#include "testing/temp_directory.h"
#include "util/mutex.h"

namespace cambium::testing {
namespace {

// Counts its syncs.
class SyncedFile final : public PartialFile {
 public:
  explicit SyncedFile(Status result = Status::OK()) : PartialFile("synced"), result_(std::move(result)) {}
  Status SyncData() override {
    ++syncs_;
    return result_;
  }
  [[nodiscard]] int syncs() const { return syncs_; }

 private:
  std::atomic<int> syncs_{0};
  const Status result_;
};

class ThrowingFile final : public PartialFile {
 public:
  ThrowingFile() : PartialFile("throwing") {}
  Status SyncData() override { throw std::bad_alloc(); }
};

// The number of syncs in progress, and the highest ever.
struct InProgress {
  Mutex mutex;
  CondVar changed;
  std::size_t now CAMBIUM_GUARDED_BY(mutex) = 0;
  std::size_t most CAMBIUM_GUARDED_BY(mutex) = 0;
};

// A sync ends once `awaited` syncs have been in progress at the same time, or after half a minute.
class MeetingFile final : public PartialFile {
 public:
  MeetingFile(InProgress* syncs, std::size_t awaited) : PartialFile("meeting"), syncs_(*syncs), awaited_(awaited) {}
  Status SyncData() override {
    const MutexLock lock(syncs_.mutex);
    syncs_.most = std::max(syncs_.most, ++syncs_.now);
    syncs_.changed.NotifyAll();
    for (int i = 0; i < 300 && syncs_.most < awaited_; ++i) {
      syncs_.changed.WaitFor(syncs_.mutex, 100'000);
    }
    --syncs_.now;
    return Status::OK();
  }

 private:
  InProgress& syncs_;
  const std::size_t awaited_;
};

template <typename F>
std::vector<File*> PointersTo(const std::vector<std::unique_ptr<F>>& files) {
  std::vector<File*> pointers;
  for (const auto& file : files) pointers.push_back(file.get());
  return pointers;
}

TEST(ThreadSyncsTest, EachFileIsSyncedOnceAndHasItsResult) {
  for (const std::size_t count : {0, 1, 2, 7, 8, 9, 500}) {
    SCOPED_TRACE(count);
    std::vector<std::unique_ptr<SyncedFile>> files;
    for (std::size_t i = 0; i < count; ++i) {
      files.push_back(std::make_unique<SyncedFile>(i % 3 == 1 ? Status::NoSpace(std::to_string(i)) : Status::OK()));
    }
    std::vector<Status> results(count);
    SyncInThreads(PointersTo(files), results);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(files[i]->syncs(), 1);
      EXPECT_EQ(results[i].ToString(), i % 3 == 1 ? Status::NoSpace(std::to_string(i)).ToString() : "OK");
    }
  }
}

TEST(ThreadSyncsTest, SyncsRunAtTheSameTime) {
  InProgress syncs;
  std::vector<std::unique_ptr<MeetingFile>> files;
  for (std::size_t i = 0; i < 3 * kSyncThreadsMax; ++i) {
    files.push_back(std::make_unique<MeetingFile>(&syncs, kSyncThreadsMax));
  }
  std::vector<Status> results(files.size());
  SyncInThreads(PointersTo(files), results);
  const MutexLock lock(syncs.mutex);
  EXPECT_EQ(syncs.most, kSyncThreadsMax);
}

TEST(ThreadSyncsTest, AnExceptionReachesTheCallerAndNoFileCountsAsSynced) {
  ThrowingFile throwing;
  std::vector<std::unique_ptr<SyncedFile>> files;
  std::vector<File*> pointers;
  for (int i = 0; i < 20; ++i) {
    files.push_back(std::make_unique<SyncedFile>());
    pointers.push_back(i == 5 ? static_cast<File*>(&throwing) : files.back().get());
  }
  std::vector<Status> results(pointers.size());
  EXPECT_THROW(SyncInThreads(pointers, results), std::bad_alloc);
  for (std::size_t i = 0; i < pointers.size(); ++i) EXPECT_EQ(results[i].ok(), files[i]->syncs() == 1) << i;
  EXPECT_TRUE(results[5].IsAborted()) << results[5].ToString();
}

// Real files, which the system's file system syncs.
TEST(ThreadSyncsTest, FilesOfTheSystemAreSynced) {
  const TempDirectory directory;
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  std::vector<std::unique_ptr<File>> files(30);
  for (std::size_t i = 0; i < files.size(); ++i) {
    ASSERT_TRUE(fs->Open(directory.File(std::to_string(i)), OpenMode::kCreateNew, {}, &files[i]).ok());
    ASSERT_TRUE(files[i]->Write(0, "contents").ok());
  }
  std::vector<Status> results(files.size(), Status::Aborted(""));
  fs->SyncTogether(PointersTo(files), results);
  for (const Status& result : results) EXPECT_EQ(result.ToString(), "OK");
}

}  // namespace
}  // namespace cambium::testing
