// Asynchronous readers in several threads, while another thread writes, flushes, compacts and collects the log.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cambium/async.h"
#include "cambium/db.h"
#include "testing/files/page_cache.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/small_options.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing::async_threads_test {
namespace {

constexpr int kKeys = 300;

std::string KeyOf(int i) { return "key" + std::to_string(1000 + i); }
// The version stands at the beginning and the end.
std::string ValueOf(int i, std::uint64_t version) {
  const std::size_t size = i % 50 == 49 ? 40'000 : i % 7 == 0 ? 20 : 200 + static_cast<std::size_t>(i) * 13 % 4000;
  const std::string mark = KeyOf(i) + "/" + std::to_string(version) + "/";
  return mark + std::string(size, static_cast<char>('a' + version % 26)) + mark;
}
// The version of a whole value of the key; fails for any other bytes.
std::uint64_t VersionOf(int i, Slice value) {
  const std::string bytes = value.ToString();
  const std::string prefix = KeyOf(i) + "/";
  EXPECT_TRUE(bytes.starts_with(prefix)) << bytes.substr(0, 40);
  const std::uint64_t version = std::strtoull(bytes.c_str() + prefix.size(), nullptr, 10);
  EXPECT_EQ(bytes, ValueOf(i, version));
  return version;
}

// Each read returns a version that was current at some moment after it began: at least the one that was published
// before its beginning, and for each key never an older one than a read that had ended before.
void ReadAll(DB* db, bool use_io_uring, std::uint64_t seed, const std::vector<std::atomic<std::uint64_t>>& published,
             const std::atomic<bool>& stop) {
  std::unique_ptr<AsyncReader> reader;
  const Status made = db->NewAsyncReader({.depth = 32, .use_io_uring = use_io_uring}, &reader);
  ASSERT_TRUE(made.ok()) << made.ToString();
  Prng prng(seed);
  int ended = 0;
  int begun = 0;
  while (!stop.load()) {
    while (reader->HasRoom()) {
      const int i = static_cast<int>(prng.Uniform(kKeys));
      const std::uint64_t least = published[static_cast<std::size_t>(i)].load();
      const Status s = reader->Get({}, KeyOf(i), [&ended, i, least](const Status& status, Slice value) {
        ++ended;
        ASSERT_TRUE(status.ok()) << status.ToString();
        ASSERT_GE(VersionOf(i, value), least);
      });
      ASSERT_TRUE(s.ok()) << s.ToString();
      ++begun;
    }
    reader->Poll(1 + prng.Uniform(8));
  }
  reader->Poll(32);
  EXPECT_EQ(ended, begun);
}

TEST(AsyncThreadsTest, OneReaderPerThreadDuringWrites) {
  const std::uint64_t seed = SeedFromEnvironment(1);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  const TempDirectory directory;
  Options options = SmallOptions();
  options.large_value_size = 16u << 10;
  options.blob_file_size = 128u << 10;
  options.enable_blob_garbage_collection = true;
  options.max_space_amplification = 2;
  options.info_log = NullLogger();
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, directory.File("db"), &db).ok());
  std::vector<std::atomic<std::uint64_t>> published(kKeys);
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db->Put({}, KeyOf(i), ValueOf(i, 0)).ok());
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&, t] { ReadAll(db.get(), t == 0, seed + static_cast<std::uint64_t>(t), published, stop); });
  }
  Prng prng(seed);
  for (std::uint64_t version = 1; version <= ScaledCount(3000); ++version) {
    const int i = static_cast<int>(prng.Uniform(kKeys));
    ASSERT_TRUE(db->Put({}, KeyOf(i), ValueOf(i, version)).ok());
    published[static_cast<std::size_t>(i)].store(version);
    if (version % 500 == 0) {
      ASSERT_TRUE(db->Flush({}).ok());
      static_cast<void>(ForgetLogPages(directory.File("db")));
    }
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  const Status closed = db->Close();
  EXPECT_TRUE(closed.ok()) << closed.ToString();
}

}  // namespace
}  // namespace cambium::testing::async_threads_test
