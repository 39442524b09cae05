// The engine raw, which only writes files and is not a store: what it writes, and that it reads nothing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engines/registry.h"
#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

std::string AllBytes(const std::string& directory) {
  std::string bytes;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream stream(file.path(), std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(stream), {});
  }
  return bytes;
}

class RawEngineTest : public ::testing::Test {
 protected:
  RawEngineTest() {
    EngineConfig config;
    config.path = path_;
    engine_ = MakeRaw(config);
  }
  cambium::testing::TempDirectory directory_;
  const std::string path_ = directory_.File("raw");
  std::unique_ptr<Engine> engine_;
};

TEST_F(RawEngineTest, AppendsKeysAndValuesAndNothingElse) {
  ASSERT_TRUE(engine_->Open(true).ok());
  for (const bool sync : {false, true}) {
    ASSERT_TRUE(engine_->BeginWrites({.sync = sync}).ok());
    const auto session = engine_->NewSession();
    ASSERT_TRUE(session->Put("key1", "value one").ok());
    ASSERT_TRUE(session->Put("key2", "").ok());
    ASSERT_TRUE(session->BatchPut("a", "1").ok());
    ASSERT_TRUE(session->BatchPut("b", "2").ok());
    EXPECT_EQ(AllBytes(path_), "key1value onekey2") << "a batch is written when it is committed";
    ASSERT_TRUE(session->CommitBatch().ok());
    ASSERT_TRUE(session->Finish().ok());
    EXPECT_EQ(AllBytes(path_), "key1value onekey2a1b2");
    ASSERT_TRUE(engine_->Destroy().ok());
  }
}

TEST_F(RawEngineTest, SessionsHaveFilesOfTheirOwn) {
  ASSERT_TRUE(engine_->Open(true).ok());
  const auto one = engine_->NewSession();
  const auto other = engine_->NewSession();
  ASSERT_TRUE(one->Put("key", "value").ok());
  ASSERT_TRUE(other->Put("key", "value").ok());
  EXPECT_EQ(AllBytes(path_).size(), 16u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_), {}), 2);
}

TEST_F(RawEngineTest, ReadsAreNotSupported) {
  ASSERT_TRUE(engine_->Open(true).ok());
  const auto session = engine_->NewSession();
  ASSERT_TRUE(session->Put("key", "value").ok());
  Slice value;
  EXPECT_EQ(session->Get("key", &value), Lookup::kError);
  EXPECT_TRUE(session->error().IsNotSupported());
  const auto cursor = session->NewCursor(Fetch::kEntries);
  EXPECT_FALSE(cursor->SeekToFirst());
  EXPECT_TRUE(cursor->status().IsNotSupported());
  EXPECT_TRUE(session->Delete("key").IsNotSupported());
}

TEST_F(RawEngineTest, DestroyKeepsForeignFiles) {
  EXPECT_TRUE(engine_->Destroy().ok()) << "there is nothing";
  ASSERT_TRUE(engine_->Open(true).ok());
  ASSERT_TRUE(engine_->NewSession()->Put("key", "value").ok());
  std::ofstream(path_ + "/letter") << "dear";
  ASSERT_TRUE(engine_->Destroy().ok());
  EXPECT_EQ(AllBytes(path_), "dear");
}

TEST_F(RawEngineTest, FileSystemErrorsAreReported) {
  EXPECT_TRUE(engine_->Open(false).IsIOError()) << "there is no such directory";
  EXPECT_TRUE(engine_->NewSession()->Put("key", "value").IsIOError());
}

}  // namespace
}  // namespace cambium::bench
