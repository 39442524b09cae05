// fork() while a database is open and all its threads work. In the child every call must be refused, and the end of the
// child must do no harm.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cambium/async.h"
#include "cambium/write_buffer_manager.h"
#include "process/check.h"
#include "testing/mutant_scope.h"
#include "testing/files/page_cache.h"
#include "testing/scale.h"
#include "testing/temp_directory.h"
#include "util/sanitizer.h"

namespace cambium::testing {
namespace {

// SIGALRM ends a child that hangs for this long.
constexpr unsigned kChildSeconds = 30;

// Runs `body` in a forked child. Returns its result (0 to 99), or 100 + the signal that killed the child. With
// `run_exit_handlers` the child ends by exit().
int InChild(const std::function<int()>& body, bool run_exit_handlers) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kChildSeconds);
    const int code = body();
    if (run_exit_handlers) ::exit(code);
    ::_exit(code);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

// Returns the number of the first call that is not refused, or 0 if all are.
int FirstCallThatWorks(DB* db) {
  std::string value;
  std::vector<std::string> values;
  WriteBatch batch;
  if (!batch.Put("child", "x").ok()) return 99;
  const auto refuses = [](const Status& s) { return s.IsNotSupported(); };
  if (!refuses(db->Put({}, "child", "x"))) return 1;
  if (!refuses(db->Write({}, &batch))) return 2;
  if (!refuses(db->Delete({}, "key"))) return 3;
  if (!refuses(db->Get({}, "key", &value))) return 4;
  if (!refuses(db->MultiGet({}, {"key"}, &values).at(0))) return 5;
  {
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    it->SeekToFirst();
    if (it->Valid() || !refuses(it->status())) return 6;
  }
  if (db->GetSnapshot() != nullptr) return 7;
  if (!refuses(db->Flush({}))) return 8;
  if (!refuses(db->SyncWAL())) return 9;
  if (!refuses(db->FlushWAL(false))) return 10;
  if (!refuses(db->CompactRange({}, nullptr, nullptr))) return 11;
  if (!refuses(db->WaitForCompact())) return 12;
  if (!refuses(db->Close())) return 13;
  std::uint64_t number = 0;
  if (db->GetIntProperty("cambium.num-runs", &number)) return 14;
  if (!refuses(db->VerifyChecksum({}))) return 15;
  if (!refuses(db->DestroyColumnFamilyHandle(db->DefaultColumnFamily()))) return 16;
  if (db->GetOptions().max_background_jobs < 1) return 17;
  if (!refuses(db->DropColumnFamily(db->DefaultColumnFamily()))) return 18;
  if (!refuses(db->SetOptions({{"write_buffer_size", "1M"}}))) return 19;
  if (!refuses(db->SetDBOptions({{"max_background_jobs", "2"}}))) return 20;
  if (!refuses(db->EndTrace())) return 21;
  if (!refuses(db->Resume())) return 22;
  std::string identity;
  if (!refuses(db->GetDbIdentity(identity))) return 23;
  return 0;
}

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_ = WorkloadOptions(Size::kTiny);
    options_.max_write_buffer_number = 2;  // so that writers wait for flushes most of the time
    options_.lock_wait_micros = 0;
    ASSERT_TRUE(DB::Open(options_, path_, &db_).ok());
    ASSERT_TRUE(db_->Put({}, "key", "value").ok());
  }
  // Starts two writers, one of them with syncs, and a reader. They run until StopThreads.
  void StartThreads() {
    for (int t = 0; t < 2; ++t) {
      threads_.emplace_back([this, t] {
        WriteOptions options;
        options.sync = t == 1;
        for (std::uint64_t i = 0; !stop_.load(); ++i) {
          const Status s = db_->Put(options, std::to_string(t) + std::to_string(i % 1000), std::string(500, 'v'));
          if (!s.ok()) ADD_FAILURE() << s.ToString();
          written_.fetch_add(1);
        }
      });
    }
    threads_.emplace_back([this] {
      while (!stop_.load()) {
        const std::unique_ptr<Iterator> it(db_->NewIterator({}));
        for (it->SeekToFirst(); it->Valid(); it->Next()) {
        }
        if (!it->status().ok()) ADD_FAILURE() << it->status().ToString();
      }
    });
  }
  void StopThreads() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Returns whether a second Open is refused.
  bool IsLocked() {
    std::unique_ptr<DB> second;
    return DB::Open(options_, path_, &second).IsLocked();
  }
  void CloseAndVerify() {
    const Status closed = db_->Close();
    EXPECT_TRUE(closed.ok()) << closed.ToString();
    db_.reset();
    EXPECT_EQ(DeepVerify(path_, options_), "");
  }

  TempDirectory directory_;
  const std::string path_ = directory_.File("db");
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> written_{0};
};

TEST_F(ForkTest, CallsInAChildAreRefused) {
  EXPECT_EQ(InChild([this] { return FirstCallThatWorks(db_.get()); }, false), 0);
  EXPECT_TRUE(IsLocked());
  CloseAndVerify();
}

// The parent may have reads in flight. A child that waited for them would take their completions from the parent.
TEST_F(ForkTest, ParentIteratorIsRefusedInAChild) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(db_->Put({}, "scan" + std::to_string(i), std::string(2000, 'v')).ok());
  ASSERT_TRUE(db_->Flush({}).ok());
  if (!ForgetLogPages(path_)) std::printf("SKIPPED reads in flight: this file system does not evict its pages\n");
  const std::unique_ptr<Iterator> it(db_->NewIterator({}));
  it->SeekToFirst();
  int seen = 0;
  // After this many steps the engine takes the scan for a long one.
  for (; seen < 40; it->Next(), ++seen) ASSERT_FALSE(it->value().empty());
  ASSERT_TRUE(it->Valid());
  const auto first_that_works = [&it] {
    const auto refuses = [&it] { return !it->Valid() && it->status().IsNotSupported(); };
    if (it->PrepareValue() || !refuses()) return 1;
    it->Seek("scan5");
    if (!refuses()) return 2;
    it->SeekForPrev("scan5");
    if (!refuses()) return 3;
    it->SeekToFirst();
    if (!refuses()) return 4;
    it->SeekToLast();
    return refuses() ? 0 : 5;
  };
  ASSERT_TRUE(InChild([&] {
                it->Next();
                return it->Valid() || !it->status().IsNotSupported() ? 1 : first_that_works();
              }, false) == 0);
  for (; it->Valid(); it->Next()) seen += it->value().empty() ? 0 : 1;
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(seen, 101);
}

// The child may destroy a slice whose bytes are in a mapping, and the parent still has its own.
TEST_F(ForkTest, PinnedValueOfTheParentMayBeDestroyedInAChild) {
  ASSERT_TRUE(db_->Put({}, "pinned", std::string(5000, 'p')).ok());
  // Values are mapped once this many bytes follow them.
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(db_->Put({}, "more" + std::to_string(i), std::string(5000, 'm')).ok());
  ASSERT_TRUE(db_->Flush({}).ok());
  ReadOptions pinning;
  pinning.pin_mapped_values = true;
  PinnableSlice value;
  // Until reads have found out that the value is in memory.
  for (int i = 0; i < 10'000 && !value.IsPinned(); ++i) ASSERT_TRUE(db_->Get(pinning, "pinned", &value).ok());
  if (kUnderSanitizer && !value.IsPinned()) GTEST_SKIP() << "SKIPPED: values are not mapped under this sanitizer";
  ASSERT_TRUE(value.IsPinned());
  EXPECT_EQ(InChild([&value] {
              const bool is_right = value == Slice(std::string(5000, 'p'));
              value.Reset();
              return is_right ? 0 : 1;
            }, false), 0);
  EXPECT_EQ(value, Slice(std::string(5000, 'p')));
  EXPECT_TRUE(db_->Close().IsAborted());
  value.Reset();
  CloseAndVerify();
}

// It is enough that the call succeeds; the effect on the parent's files is not checked.
TEST_F(ForkTest, MutantWithoutForkCheckWritesInAChild) {
  const MutantScope mutant(Mutant::kForkUnnoticed);
  EXPECT_EQ(InChild([this] { return FirstCallThatWorks(db_.get()); }, false), 1);
}

TEST_F(ForkTest, ChildrenAreRefusedWhileThreadsWork) {
  StartThreads();
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t before = written_.load();
    EXPECT_EQ(InChild([this] { return FirstCallThatWorks(db_.get()); }, false), 0);
    EXPECT_TRUE(IsLocked());
    while (written_.load() < before + 20) std::this_thread::yield();
  }
  StopThreads();
  CloseAndVerify();
}

// A child that exits or deletes its objects runs the destructor of the database, whatever the parent's threads did at
// the fork.
TEST_F(ForkTest, ChildMayDestroyItsCopy) {
  StartThreads();
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t before = written_.load();
    const bool by_exit = i % 2 == 0;
    EXPECT_EQ(InChild(
                  [this] {
                    db_.reset();
                    return 0;
                  },
                  by_exit && !kUnderSanitizer),
              0)
        << "destroyed in the child: " << i;
    EXPECT_TRUE(IsLocked());
    while (written_.load() < before + 20) std::this_thread::yield();
  }
  StopThreads();
  CloseAndVerify();
}

// The child also has copies of the parent's snapshots and iterators.
TEST_F(ForkTest, ChildMayDestroyIteratorsAndSnapshots) {
  const Snapshot* snapshot = db_->GetSnapshot();
  std::unique_ptr<Iterator> it(db_->NewIterator({}));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  StartThreads();
  while (written_.load() < 200) std::this_thread::yield();
  EXPECT_EQ(InChild(
                [&] {
                  it.reset();
                  db_->ReleaseSnapshot(snapshot);
                  db_.reset();
                  return 0;
                },
                false),
            0);
  EXPECT_TRUE(IsLocked());
  EXPECT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "value");
  it.reset();
  db_->ReleaseSnapshot(snapshot);
  StopThreads();
  CloseAndVerify();
}

// The reads in flight belong to the parent: a child that waited for them would take their results.
TEST_F(ForkTest, ChildCannotUseAsyncReader) {
  const std::string large(20'000, 'a');
  ASSERT_TRUE(db_->Put({}, "async", large).ok());
  std::unique_ptr<AsyncReader> reader;
  ASSERT_TRUE(db_->NewAsyncReader({}, &reader).ok());
  int ended = 0;
  const auto take = [&](const Status& s, Slice value) {
    ++ended;
    EXPECT_TRUE(s.ok() && value == Slice(large)) << s.ToString();
  };
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(reader->Get({}, "async", take).ok());
  reader->Submit();
  StartThreads();
  while (written_.load() < 200) std::this_thread::yield();
  EXPECT_EQ(InChild(
                [&] {
                  if (reader->Poll() != 0 || reader->in_flight() != 0 || ended != 0) return 1;
                  if (!reader->Get({}, "async", take).IsNotSupported()) return 2;
                  reader->Submit();
                  reader.reset();
                  db_.reset();
                  return ended == 0 ? 0 : 3;
                },
                false),
            0);
  EXPECT_EQ(reader->Poll(10), 10u);
  EXPECT_EQ(ended, 10);
  reader.reset();
  StopThreads();
  CloseAndVerify();
}

// Creates a database, destroys it without Close, opens it again, and reads it through the shared threads. Returns 0, or
// the number of the step that failed.
int UseDatabase(const std::string& path, const Options& options) {
  constexpr int kKeys = 120;
  std::unique_ptr<DB> db;
  for (const int step : {10, 20}) {
    if (!DB::Open(options, path, &db).ok()) return step;
    for (int i = 0; i < kKeys; ++i) {
      if (!db->Put({}, "scan" + std::to_string(i), std::string(2000, 'v')).ok()) return step + 1;
    }
    if (!db->SyncWAL().ok()) return step + 2;
    if (step == 20 && !db->WaitForCompact().ok()) return step + 3;
    static_cast<void>(ForgetLogPages(path));
    ReadOptions read;
    read.async_io = false;
    std::vector<std::string> keys;
    for (int i = 0; i < kKeys; i += 3) keys.push_back("scan" + std::to_string(i));
    std::vector<std::string> values;
    for (const Status& s : db->MultiGet(read, {keys.begin(), keys.end()}, &values)) {
      if (!s.ok()) return step + 4;
    }
    static_cast<void>(ForgetLogPages(path));
    const std::unique_ptr<Iterator> it(db->NewIterator(read));
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) seen += it->value().size() == 2000 ? 1 : 0;
    if (!it->status().ok() || seen != kKeys) return step + 5;
    // The next Open replays this last write.
    if (!db->Put({}, "scan0", std::string(2000, 'w')).ok()) return step + 6;
  }
  return db->Close().ok() ? 0 : 30;
}

constexpr bool kMayStartThreads = !kUnderThreadSanitizer;  // ThreadSanitizer ends a child that does
constexpr const char* kNoThreadsInChild =
    "SKIPPED: ThreadSanitizer ends a child that starts threads, as a database does; runs in all other builds";

// The child does not have the process-wide read threads. (Regression: it waited for them.) Nor does it have the threads
// that held a process-wide lock, or were inside an epoch, at the fork.
TEST_F(ForkTest, ChildMayUseItsOwnDatabase) {
  if (!kMayStartThreads) GTEST_SKIP() << kNoThreadsInChild;
  ASSERT_EQ(UseDatabase(directory_.File("of parent"), options_), 0);
  EXPECT_EQ(InChild([this] { return UseDatabase(directory_.File("of child"), options_); }, false), 0);
  if (kUnderSanitizer) {
    std::printf("SKIPPED with other threads: AddressSanitizer's allocator stays locked after a fork while other threads "
                "allocate (its lock, not ours); runs in all other builds\n");
    return;
  }
  StartThreads();
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = written_.load();
    EXPECT_EQ(InChild([&] { return UseDatabase(directory_.File("of child" + std::to_string(i)), options_); }, false), 0);
    while (written_.load() < before + 20) std::this_thread::yield();
  }
  StopThreads();
  CloseAndVerify();
}

// A child has copies of its parent's mutexes, which threads may hold that it does not have.
TEST_F(ForkTest, AChildCannotUseTheWriteBufferManagerOfItsParent) {
  if (!kMayStartThreads) GTEST_SKIP() << kNoThreadsInChild;
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(std::size_t{1} << 20);
  ASSERT_EQ(UseDatabase(directory_.File("of parent"), options_), 0);
  EXPECT_EQ(InChild([this] {
              std::unique_ptr<DB> db;
              if (!DB::Open(options_, directory_.File("of child"), &db).IsNotSupported()) return 1;
              options_.write_buffer_manager->SetBufferSize(7);
              if (options_.write_buffer_manager->buffer_size() != std::size_t{1} << 20) return 2;
              options_.write_buffer_manager = std::make_shared<WriteBufferManager>(std::size_t{1} << 20);
              return UseDatabase(directory_.File("of child"), options_);
            }, false),
            0);
}

// The same holds for a child of a child.
TEST_F(ForkTest, GrandchildMayUseItsOwnDatabase) {
  if (!kMayStartThreads) GTEST_SKIP() << kNoThreadsInChild;
  const auto use = [this](const char* name) { return UseDatabase(directory_.File(name), options_); };
  EXPECT_EQ(InChild([&] {
              const int own = use("one");
              return own != 0 ? own : InChild([&] { return use("two"); }, false);
            }, false),
            0);
}

}  // namespace
}  // namespace cambium::testing
