// DbThreadsTest: a database on the real file system with sizes so small that it flushes, compacts and drops segments
// all the time. Any thread of a test can report a failure; the first one is kept.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "cambium/db.h"
#include "testing/deep_verify.h"
#include "testing/seed.h"
#include "testing/small_options.h"
#include "testing/temp_directory.h"

namespace cambium::testing {

inline Options TinyOptions() {
  Options options = SmallOptions();
  options.page_cache_size = 64u << 10;
  options.max_total_wal_size = 128u << 10;
  options.large_value_size = 4u << 10;
  options.sweep_ratio = 2;
  options.info_log = NullLogger();
  return options;
}

// Keeps the first complaint of any thread. Several threads may use gtest's macros, but one failure would cause
// thousands more.
class Complaints {
 public:
  void Add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (first_.empty()) first_ = text;
    any_.store(true);
  }
  [[nodiscard]] bool any() const { return any_.load(); }
  [[nodiscard]] std::string first() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  std::string first_;  // mutex_
  std::atomic<bool> any_{false};
};

inline std::uint64_t NumberIn(const std::string& value) { return std::strtoull(value.c_str(), nullptr, 10); }

class DbThreadsTest : public ::testing::Test {
 protected:
  void Open(const Options& options) {
    options_ = options;
    const Status s = DB::Open(options_, path_, &db_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CloseAndVerify() {
    const Status s = db_->Close();
    ASSERT_TRUE(s.ok()) << s.ToString();
    db_.reset();
    EXPECT_EQ(DeepVerify(path_, options_, Orphans::kForbidden), "");
  }
  bool Ok(const Status& s, const char* where) {
    if (!s.ok()) complaints_.Add(std::string(where) + ": " + s.ToString());
    return s.ok();
  }
  [[nodiscard]] std::size_t FilesOnDisk(const std::string& ending) const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      count += entry.path().string().ends_with(ending) ? 1 : 0;
    }
    return count;
  }

  const std::uint64_t seed_ = SeedFromEnvironment(0x7412ead);
  TempDirectory directory_;
  const std::string path_ = directory_.File("db");
  Options options_;
  std::unique_ptr<DB> db_;
  Complaints complaints_;
};

}  // namespace cambium::testing
