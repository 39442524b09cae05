// The demo's check of a killed writer accepts the batches that a real kill -9 leaves, and fails if one is missing or
// changed.
#include "demo/crash.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace cambium::demo {
namespace {

namespace fs = std::filesystem;

class DemoCrashTest : public ::testing::Test {
 protected:
  DemoCrashTest() {
    std::string name = (fs::temp_directory_path() / "cambium_crash-XXXXXX").string();
    root_ = mkdtemp(name.data());
    options_.create_if_missing = true;
    options_.lock_wait_micros = 5'000'000;
  }
  ~DemoCrashTest() override {
    db_.reset();
    fs::remove_all(root_);
  }

  // Kills a child while it writes batches, and opens its database.
  void KillAChild() {
    Crash crash;
    const Status status = WriteAndKill(options_, root_ + "/db", 0, 20'000, &crash);
    ASSERT_TRUE(status.ok()) << status.ToString();
    acknowledged_ = crash.acknowledged;
    ASSERT_GE(acknowledged_, 3u);
    ASSERT_TRUE(DB::Open(options_, root_ + "/db", &db_).ok());
  }
  Status Check() {
    std::uint64_t survivors = 0;
    return CheckBatches(db_.get(), acknowledged_, &survivors);
  }

  std::string root_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::uint64_t acknowledged_ = 0;
};

TEST_F(DemoCrashTest, BatchesOfAKilledChildAreWhole) {
  KillAChild();
  std::uint64_t survivors = 0;
  const Status status = CheckBatches(db_.get(), acknowledged_, &survivors);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_GE(survivors, acknowledged_);
  EXPECT_LE(survivors, acknowledged_ + 1) << "one batch may have been written and not yet acknowledged";
}

TEST_F(DemoCrashTest, PartialBatchIsCaught) {
  KillAChild();
  ASSERT_TRUE(db_->Delete({}, "crash/batch/000000000001/4").ok());
  EXPECT_TRUE(Check().IsCorruption());
}

TEST_F(DemoCrashTest, WrongByteIsCaught) {
  KillAChild();
  ASSERT_TRUE(db_->Put({}, "crash/batch/000000000001/4", "not what was written").ok());
  EXPECT_TRUE(Check().IsCorruption());
}

TEST_F(DemoCrashTest, LostBatchIsCaught) {
  KillAChild();
  ++acknowledged_;
  ++acknowledged_;  // as if two more had been acknowledged; one more may really be there
  EXPECT_TRUE(Check().IsCorruption());
}

TEST_F(DemoCrashTest, MissingMiddleBatchIsCaught) {
  KillAChild();
  for (char i = '0'; i < '8'; ++i) {
    ASSERT_TRUE(db_->Delete({}, std::string("crash/batch/000000000001/") + i).ok());
  }
  EXPECT_TRUE(Check().IsCorruption());
  acknowledged_ = 1;
  EXPECT_TRUE(Check().IsCorruption()) << "writes after the gap must be lost too";
}

TEST_F(DemoCrashTest, StaleSharedKeyIsCaught) {
  KillAChild();
  ASSERT_TRUE(db_->Put({}, "crash/last", "0").ok());
  EXPECT_TRUE(Check().IsCorruption());
}

}  // namespace
}  // namespace cambium::demo
