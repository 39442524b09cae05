// A tree of small values that does not fit page_cache_size, on a real file system: its leaves are copied out of mappings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "io/guarded_copy.h"
#include "testing/small_options.h"
#include "testing/temp_directory.h"
#include "vlog/segment_map.h"

namespace cambium::testing {
namespace {

constexpr int kMappedIndexKeys = 20'000;

std::string MappedIndexKey(int i) { return "key" + std::to_string(1'000'000 + i * 7919 % kMappedIndexKeys); }
std::string MappedIndexValue(int i) { return MappedIndexKey(i) + std::string(100, static_cast<char>('a' + i % 26)); }

class MappedIndexTest : public ::testing::Test {
 public:
  MappedIndexTest() {
    options_.create_if_missing = true;
    options_.page_cache_size = 128u << 10;
    options_.info_log = NullLogger();
    EXPECT_TRUE(DB::Open(options_, path_, &db_).ok());
    for (int i = 0; i < kMappedIndexKeys; ++i) EXPECT_TRUE(db_->Put({}, MappedIndexKey(i), MappedIndexValue(i)).ok());
    EXPECT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
    SegmentMap::ResetThreadCounters();
  }

  // Gets every key, alone and in batches. Values that are found must be right, and an error must name an index file.
  // Returns the number of errors.
  int ReadAll() {
    int errors = 0;
    const auto check = [&](int i, const Status& status, Slice value) {
      if (status.ok()) {
        EXPECT_EQ(value, Slice(MappedIndexValue(i)));
        return;
      }
      ++errors;
      EXPECT_TRUE(status.IsIOError() || status.IsCorruption()) << status.ToString();
      EXPECT_NE(status.ToString().find(".idx:"), std::string::npos) << status.ToString();
    };
    for (int i = 0; i < kMappedIndexKeys; ++i) {
      std::string value;
      const Status status = db_->Get({}, MappedIndexKey(i), &value);
      check(i, status, value);
    }
    constexpr int kBatch = 200;  // more keys than are pinned at a time
    for (int first = 0; first < kMappedIndexKeys; first += kBatch) {
      std::vector<std::string> keys;
      for (int i = first; i < first + kBatch; ++i) keys.push_back(MappedIndexKey(i));
      std::vector<std::string> values;
      const std::vector<Status> statuses = db_->MultiGet({}, {keys.begin(), keys.end()}, &values);
      for (int i = 0; i < kBatch; ++i) {
        const auto at = static_cast<std::size_t>(i);
        check(first + i, statuses[at], values[at]);
      }
    }
    return errors;
  }
  [[nodiscard]] static bool IsAnIndexMapped() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.ends_with(".idx")) return true;
    }
    return false;
  }

  TempDirectory directory_;
  const std::string path_ = directory_.File("db");
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(MappedIndexTest, LeavesReadFromMappingsAreCorrect) {
  for (int round = 0; round < 2; ++round) EXPECT_EQ(ReadAll(), 0);
  EXPECT_EQ(IsAnIndexMapped(), InstallCopyGuard());
}

// Without the file's second half, the copies fault. Each is an error of the call, not a signal that ends the process.
TEST_F(MappedIndexTest, TruncatedFileErrorNamesFileAndOffset) {
  EXPECT_EQ(ReadAll(), 0);
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    if (entry.path().extension() != ".idx") continue;
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  const int errors = ReadAll();
  EXPECT_GT(errors, kMappedIndexKeys / 4);
  EXPECT_LT(errors, 2 * kMappedIndexKeys);
}

}  // namespace
}  // namespace cambium::testing
