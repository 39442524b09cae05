// CompactLog with concurrent steps in several threads, on a real file system.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "cambium/compact_log.h"
#include "cambium/db.h"
#include "testing/index_mode.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

TEST(CompactLogThreadsTest, ConcurrentStepsLoseNothing) {
  const TempDirectory directory;
  const std::string path = directory.File("db");
  Options options;
  options.create_if_missing = true;
  options.enable_blob_garbage_collection = false;
  options.max_space_amplification = 0;
  options.blob_file_size = 256u << 10;
  options.write_buffer_size = 64u << 10;
  options.max_background_jobs = 6;
  UseIndexOfTest(&options);
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, path, &db).ok());
  Prng prng(1);
  std::map<std::string, std::string> known;
  for (int i = 0; i < 12'000; ++i) {
    const std::string key = "key" + std::to_string(prng.Uniform(3000));
    const Status put = db->Put({}, key, known[key] = prng.Bytes(600 + prng.Uniform(900)));
    ASSERT_TRUE(put.ok()) << put.ToString();
  }
  ASSERT_TRUE(db->Close().ok());
  CompactLogReport report;
  for (const bool cluster : {false, true}) {
    CompactLogOptions how;
    how.cluster = cluster;
    const Status s = CompactLog(path, options, how, &report);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_GE(report.fact.values, 2000u);
    EXPECT_TRUE(cluster || report.fact == report.forecast.figures);
    VerifyReport verified;
    ASSERT_TRUE(VerifyDB(path, options, {.deep = true}, &verified).ok());
    ASSERT_TRUE(verified.problems.empty()) << verified.problems.front();
    ASSERT_TRUE(DB::Open(options, path, &db).ok());
    for (const auto& [key, value] : known) {
      std::string read;
      ASSERT_TRUE(db->Get({}, key, &read).ok()) << key;
      ASSERT_EQ(read, value) << key;
    }
    ASSERT_TRUE(db->Close().ok());
  }
}

}  // namespace
}  // namespace cambium::testing
