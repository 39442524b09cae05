// All read paths to a value on a real file system: a mapping, a read that does not wait, io_uring, threads. The values
// are all in memory, none of them, or some.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cambium/db.h"
#include "io/guarded_copy.h"
#include "io/uring_read_queue.h"
#include "testing/files/counting_file_system.h"
#include "testing/files/page_cache.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/small_options.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing::value_paths_test {
namespace {

constexpr int kKeys = 400;

std::string KeyOf(int i) {
  std::string digits = std::to_string(i);
  return "key" + std::string(5 - digits.size(), '0') + digits;
}
// Some are inline, some span pages, one in 50 is a large value.
std::string ValueOf(int i, std::uint64_t version = 0) {
  Prng prng(static_cast<std::uint64_t>(i) * 1000 + version);
  const std::size_t size = i % 50 == 49 ? 20'000 : i % 7 == 0 ? 30 : prng.Between(100, 7000);
  return KeyOf(i) + "/" + std::to_string(version) + "/" + std::string(size, static_cast<char>('a' + i % 26));
}

class ValuePathsTest : public ::testing::Test {
 public:
  ValuePathsTest() {
    options_ = SmallOptions();
    options_.large_value_size = 16u << 10;
    options_.blob_file_size = 128u << 10;
    options_.file_system = fs_;
    options_.info_log = NullLogger();
  }
  void Open(bool allow_mmap_reads) {
    options_.allow_mmap_reads = allow_mmap_reads;
    const Status s = DB::Open(options_, path_, &db_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Close() {
    ASSERT_TRUE(db_->Close().ok());
    db_.reset();
  }
  void Load() {
    Open(false);
    Prng prng(3);
    std::vector<int> order;
    for (int i = 0; i < kKeys; ++i) order.push_back(i);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[prng.Uniform(i)]);
    for (const int i : order) ASSERT_TRUE(db_->Put({}, KeyOf(i), ValueOf(i)).ok());
    ASSERT_TRUE(db_->WaitForCompact().ok());
    Close();
  }

  // ---- Each of these reads everything and compares it ----

  void ReadByGet(const ReadOptions& read) {
    for (int i = 0; i < kKeys; ++i) {
      std::string value;
      const Status s = db_->Get(read, KeyOf(i * 7 % kKeys), &value);
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_EQ(value, ValueOf(i * 7 % kKeys));
    }
  }
  void ReadByMultiGet(const ReadOptions& read) {
    for (int from = 0; from < kKeys; from += 50) {
      std::vector<std::string> keys;
      for (int i = 0; i < 50; ++i) keys.push_back(KeyOf((from + i) * 7 % kKeys));
      std::vector<std::string> values;
      const std::vector<Status> statuses = db_->MultiGet(read, {keys.begin(), keys.end()}, &values);
      for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(statuses[static_cast<std::size_t>(i)].ok()) << statuses[static_cast<std::size_t>(i)].ToString();
        ASSERT_EQ(values[static_cast<std::size_t>(i)], ValueOf((from + i) * 7 % kKeys));
      }
    }
  }
  void ReadForward(const ReadOptions& read) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++seen) ASSERT_EQ(it->value(), Slice(ValueOf(seen))) << seen;
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(seen, kKeys);
  }
  void ReadBackward(const ReadOptions& read) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    int left = kKeys;
    for (it->SeekToLast(); it->Valid(); it->Prev()) ASSERT_EQ(it->value(), Slice(ValueOf(--left)));
    ASSERT_EQ(left, 0);
  }
  void ReadByShortScans(const ReadOptions& read) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    for (int from = 0; from + 20 <= kKeys; from += 20) {
      it->Seek(KeyOf(from));
      for (int i = 0; i < 20; ++i, it->Next()) ASSERT_EQ(it->value(), Slice(ValueOf(from + i)));
    }
  }

  TempDirectory directory_;
  const std::string path_ = directory_.File("db");
  const std::shared_ptr<CountingFileSystem> fs_ = std::make_shared<CountingFileSystem>();
  Options options_;
  std::unique_ptr<DB> db_;
};

enum class Memory { kHot, kCold, kMixed };

class AllValuePathsTest : public ValuePathsTest {
 protected:
  using Reader = void (ValuePathsTest::*)(const ReadOptions&);

  // Opens the database, and reads everything with the values in memory or not. Counts which path the reads took.
  void ReadAll(bool mapped, bool async_io, Memory memory, Reader reader) {
    ReadOptions read;
    read.async_io = async_io;
    read.pin_mapped_values = async_io;
    Open(mapped);
    bool is_hot = false;
    if (memory == Memory::kHot) is_hot = CacheLogPages(path_);
    if (memory == Memory::kHot) ReadByGet(read);  // the engine considers a mapping at every eighth read
    bool is_cold = false;  // the kernel may keep a page that is in use
    if (memory == Memory::kCold) is_cold = ForgetLogPages(path_);
    if (memory == Memory::kMixed) is_cold = ForgetLogPages(path_, Forget::kEveryOther);
    cold_ += is_cold ? 1 : 0;
    fs_->TakeReads();
    fs_->TakeTogether();
    (this->*reader)(read);
    if (HasFatalFailure()) return;
    const auto reads = fs_->TakeReads();
    const std::uint64_t by_this_path = reads[async_io ? 1 : 0];
    EXPECT_EQ(reads[async_io ? 0 : 1], 0u);
    hot_ += is_hot ? 1 : 0;
    if (reader == &ValuePathsTest::ReadByGet) {
      EXPECT_EQ(by_this_path, 0u);
    } else if (is_hot) {
      queued_hot_ += by_this_path;
    } else if (is_cold && reader == &ValuePathsTest::ReadByMultiGet) {
      ++cold_multigets_;
      queued_multigets_ += by_this_path > 4 ? 1 : 0;
      together_max_ = std::max(together_max_, fs_->TakeTogether());
    }
    queued_[async_io ? 1 : 0] += by_this_path;
    if (is_hot) {
      EXPECT_EQ(LogIsMapped(path_), mapped);
    }
    Close();
  }

  int cold_ = 0;
  int hot_ = 0;
  std::array<std::uint64_t, 2> queued_{};
  std::uint64_t queued_hot_ = 0;
  std::uint64_t together_max_ = 0;
  int cold_multigets_ = 0;
  int queued_multigets_ = 0;
};

TEST_F(AllValuePathsTest, AllPathsReturnTheSameValues) {
  Load();
  if (!ForgetLogPages(path_)) std::printf("SKIPPED cold values: this file system does not evict its pages\n");
  if (!IoUringWorks()) std::printf("SKIPPED io_uring: refused here; threads serve its queues\n");
  const bool can_forget = ForgetLogPages(path_);
  const std::vector<Reader> readers = {&ValuePathsTest::ReadByGet, &ValuePathsTest::ReadByMultiGet,
                                       &ValuePathsTest::ReadForward, &ValuePathsTest::ReadBackward,
                                       &ValuePathsTest::ReadByShortScans};
  for (const bool mapped : {false, true}) {
    for (const bool async_io : {false, true}) {
      for (const Memory memory : {Memory::kHot, Memory::kCold, Memory::kMixed}) {
        for (std::size_t reader = 0; reader < readers.size(); ++reader) {
          SCOPED_TRACE(::testing::Message() << "mapped " << mapped << ", async_io " << async_io << ", memory "
                                            << static_cast<int>(memory) << ", reader " << reader);
          ASSERT_NO_FATAL_FAILURE(ReadAll(mapped, async_io, memory, readers[reader]));
        }
      }
    }
  }
  if (can_forget) {
    EXPECT_GT(cold_, 20) << "of 40";
    EXPECT_GT(hot_, 5) << "of 20";
    // Almost no read of a hot value goes to a queue. A few may: the kernel may evict a page at any time, and may report
    // that a read of a resident page would wait.
    EXPECT_LE(100 * queued_hot_, static_cast<std::uint64_t>(hot_) * kKeys);
    EXPECT_GT(queued_[0], 100u);
    EXPECT_GT(queued_[1], 100u);
    EXPECT_GE(together_max_, 8u) << "of 50 in a MultiGet";
    // A read that does not wait still starts the I/O, and on some machines this I/O ends at once.
    EXPECT_GT(cold_multigets_, 3);
    EXPECT_GE(2 * queued_multigets_, cold_multigets_);
  }
}

// Threads pin values and hand them to each other, while all values are overwritten and log GC drops their segments.
TEST_F(ValuePathsTest, PinnedValuesPassFromThreadToThread) {
  options_.blob_garbage_collection_age_cutoff = 1;
  options_.max_space_amplification = 1.5;
  Load();
  Open(true);
  ReadOptions pinning;
  pinning.pin_mapped_values = true;
  std::mutex mutex;
  std::vector<PinnableSlice> held;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> pinned{0};
  const auto read = [&](std::uint64_t seed) {
    Prng prng(seed);
    while (!stop.load()) {
      const int i = static_cast<int>(prng.Uniform(kKeys));
      PinnableSlice value;
      const Status s = db_->Get(pinning, KeyOf(i), &value);
      if (!s.ok() || !value.starts_with(KeyOf(i) + "/")) ADD_FAILURE() << s.ToString();
      if (value.IsPinned()) pinned.fetch_add(1);
      const std::lock_guard lock(mutex);
      held.push_back(std::move(value));
      if (held.size() < 20) continue;
      std::swap(held[prng.Uniform(held.size())], held.back());
      if (held.back().size() < 30) ADD_FAILURE() << "a value is gone";
      held.pop_back();
    }
  };
  std::vector<std::thread> readers;
  for (const std::uint64_t seed : {1, 2, 3}) readers.emplace_back(read, seed);
  for (std::uint64_t version = 1; version <= (kUnderSanitizer ? 4 : 12); ++version) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db_->Put({}, KeyOf(i), ValueOf(i, version)).ok());
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  if (LogIsMapped(path_)) {
    EXPECT_GT(pinned.load(), 0u);
  }
  for (const PinnableSlice& value : held) EXPECT_TRUE(value.starts_with("key"));
  held.clear();
  Close();
}

// Reads of values that were written one after the other look like a stream to the kernel. It must not read far ahead.
TEST_F(ValuePathsTest, GetReadsLittleMoreThanItsValue) {
  options_.blob_file_size = 16u << 20;
  Open(false);
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db_->Put({}, KeyOf(i), ValueOf(i)).ok());
  ASSERT_TRUE(db_->WaitForCompact().ok());
  Close();
  Open(false);
  if (!ForgetLogPages(path_)) GTEST_SKIP() << "SKIPPED: this file system does not evict its pages, so nothing is read";
  std::uint64_t asked = 2 * 4096;  // the first and the last page: the values are adjacent
  for (int i = 0; i < 40; ++i) {
    std::string value;
    ASSERT_TRUE(db_->Get({}, KeyOf(i), &value).ok());
    asked += value.size() + 64;
  }
  EXPECT_LE(CachedLogBytes(path_), asked + (64u << 10)) << "the kernel reads 128 KiB ahead, or more";
  EXPECT_GT(CachedLogBytes(path_), 0u);
  Close();
}

class EvictedPagesTest : public ValuePathsTest, public ::testing::WithParamInterface<bool> {
 protected:
  // Each of these reads from key `from` on, and returns whether the values are some that the keys had.
  bool GetIsRight(const ReadOptions& read, int from) {
    std::string value;
    return db_->Get(read, KeyOf(from), &value).ok() && IsOf(from, value);
  }
  bool MultiGetIsRight(const ReadOptions& read, int from) {
    std::vector<std::string> keys;
    for (int i = 0; i < kKeysOfACall; ++i) keys.push_back(KeyOf(from + i));
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(read, {keys.begin(), keys.end()}, &values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!statuses[i].ok() || !IsOf(from + static_cast<int>(i), values[i])) return false;
    }
    return true;
  }
  bool ScanIsRight(const ReadOptions& read, int from) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->Seek(KeyOf(from));
    for (int i = 0; i < kKeysOfACall; ++i, it->Next()) {
      if (!it->Valid() || it->key() != Slice(KeyOf(from + i)) || !IsOf(from + i, it->value())) return false;
    }
    return true;
  }
  // Reads in all three ways. Returns the number of reads that were wrong.
  int ReadAtRandom(std::uint64_t seed) {
    Prng prng(seed);
    int wrong = 0;
    const std::uint64_t rounds = ScaledCount(300);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      ReadOptions read;
      read.async_io = prng.OneIn(2);
      const int from = static_cast<int>(prng.Uniform(kKeys - kKeysOfACall));
      const bool is_right = round % 3 == 0   ? GetIsRight(read, from)
                            : round % 3 == 1 ? MultiGetIsRight(read, from)
                                             : ScanIsRight(read, from);
      wrong += is_right ? 0 : 1;
    }
    return wrong;
  }

 private:
  static constexpr int kKeysOfACall = 20;
  static bool IsOf(int i, Slice value) {
    const std::string front = KeyOf(i) + "/";
    return value.starts_with(front) && value.data()[value.size() - 1] == static_cast<char>('a' + i % 26);
  }
};

// While one thread overwrites values and another evicts pages, every read must return a value that its key had.
TEST_P(EvictedPagesTest, ThreadsReadWhilePagesAreEvicted) {
  Load();
  Open(GetParam());
  const bool can_forget = ForgetLogPages(path_);
  fs_->TakeReads();
  const std::uint64_t seed = SeedFromEnvironment(11);
  std::atomic<int> readers_left{3};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  std::uint64_t forgotten = 0;
  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      wrong += ReadAtRandom(seed + t);
      --readers_left;
    });
  }
  threads.emplace_back([&] {
    while (readers_left.load() > 0) forgotten += ForgetLogPages(path_) ? 1 : 0;
  });
  Prng prng(seed);
  for (std::uint64_t version = 1; readers_left.load() > 0; ++version) {
    const int i = static_cast<int>(prng.Uniform(kKeys));
    WriteOptions write;
    write.sync = version % 8 == 0;
    EXPECT_TRUE(db_->Put(write, KeyOf(i), ValueOf(i, version)).ok());
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  const auto reads = fs_->TakeReads();
  std::printf("%llu times all pages were gone, %llu reads by threads, %llu by io_uring\n",
              static_cast<unsigned long long>(forgotten), static_cast<unsigned long long>(reads[0]),
              static_cast<unsigned long long>(reads[1]));
  if (!IoUringWorks()) std::printf("SKIPPED io_uring: refused here; threads serve its queues\n");
  if (can_forget) {
    EXPECT_GT(reads[0], 20u);
    EXPECT_GT(reads[1], 20u);
  } else {
    std::printf("SKIPPED cold values: this file system does not evict its pages\n");
  }
  Close();
}

INSTANTIATE_TEST_SUITE_P(Mapped, EvictedPagesTest, ::testing::Bool());

class TruncatedSegmentsTest : public ValuePathsTest {
 protected:
  // Cuts every other segment after its first page.
  void TruncateSegments() {
    std::vector<std::string> names;
    ASSERT_TRUE(fs_->List(path_, &names).ok());
    int cut = 0;
    for (const std::string& name : names) {
      if (!name.ends_with(".log")) continue;
      std::unique_ptr<File> file;
      ASSERT_TRUE(fs_->Open(path_ + "/" + name, OpenMode::kReadWrite, {}, &file).ok());
      if (cut++ % 2 == 0) {
        ASSERT_TRUE(file->Truncate(4096).ok());
      }
    }
    ASSERT_GE(cut, 2);
  }
  // Expects the error of a value that was cut off, and counts those of a copy from a mapping that met a missing page. A
  // read of the file returns Corruption instead, because it finds no record there.
  void ExpectHonest(const Status& s) {
    EXPECT_TRUE(s.IsCorruption() || s.IsIOError()) << s.ToString();
    if (s.IsIOError() && s.ToString().find("read mapped") != std::string::npos) ++of_mapping_;
  }
  int TakeErrorsOfMapping() { return std::exchange(of_mapping_, 0); }

  int ErrorsOfGet() {
    int errors = 0;
    for (int i = 0; i < kKeys; ++i) {
      std::string value;
      const Status s = db_->Get({}, KeyOf(i), &value);
      if (s.ok()) {
        EXPECT_EQ(value, ValueOf(i));
      } else {
        ++errors;
        ExpectHonest(s);
        EXPECT_NE(s.ToString().find(".log"), std::string::npos) << s.ToString();
      }
    }
    return errors;
  }
  int ErrorsOfMultiGet() {
    int errors = 0;
    std::vector<std::string> keys;
    for (int i = 0; i < kKeys; ++i) keys.push_back(KeyOf(i));
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet({}, {keys.begin(), keys.end()}, &values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].ok()) {
        EXPECT_EQ(values[i], ValueOf(static_cast<int>(i)));
      } else {
        ++errors;
        ExpectHonest(statuses[i]);
      }
    }
    return errors;
  }
  // A scan ends at a value that cannot be read, and a seek goes on after it.
  void Scan() {
    const std::unique_ptr<Iterator> it(db_->NewIterator({}));
    it->SeekToFirst();
    for (int i = 0; i < kKeys; ++i) {
      if (it->Valid()) {
        ASSERT_EQ(it->key(), Slice(KeyOf(i)));
        EXPECT_EQ(it->value(), Slice(ValueOf(i)));
        it->Next();
      } else {
        ExpectHonest(it->status());
        it->Seek(KeyOf(i + 1));
      }
    }
  }

 private:
  int of_mapping_ = 0;
};

// Truncating a file that a process has mapped raises SIGBUS in that process. Reads must return errors instead.
TEST_F(TruncatedSegmentsTest, TruncatedMappedSegmentIsAnErrorNotASignal) {
  Load();
  Open(true);
  for (int round = 0; round < 3; ++round) ReadByGet({});
  ASSERT_TRUE(LogIsMapped(path_));
  ASSERT_NO_FATAL_FAILURE(TruncateSegments());
#if defined(__x86_64__)
  EXPECT_TRUE(CopyGuardHolds()) << "no copy would be tried";
#endif
  const int errors = ErrorsOfGet();
  EXPECT_GT(errors, kKeys / 10);
  EXPECT_GT(TakeErrorsOfMapping(), 0);
  EXPECT_EQ(ErrorsOfMultiGet(), errors);
  EXPECT_GT(TakeErrorsOfMapping(), 0);
  ASSERT_NO_FATAL_FAILURE(Scan());
  EXPECT_GT(TakeErrorsOfMapping(), 0);
  static_cast<void>(db_->Close());
}

}  // namespace
}  // namespace cambium::testing::value_paths_test
