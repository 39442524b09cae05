// When the log rotates to a spare segment, a writer waits neither for a commit nor for the sync of the full segment.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cambium/db.h"
#include "cambium/executor.h"
#include "io/sim/sim_file_system.h"
#include "testing/small_options.h"
#include "threads/held_operation.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kValueSize = 1000;
constexpr std::uint64_t kSegment = 32u << 10;

// Only segments fill up: the memtable has room for everything.
class RotationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_ = SmallOptions();
    options_.blob_file_size = kSegment;
    options_.write_buffer_size = 64u << 20;
    options_.max_total_wal_size = 64u << 20;
    options_.file_system = fs_;
    options_.info_log = NullLogger();
    ASSERT_TRUE(DB::Open(options_, "/db", &db_).ok());
  }
  void TearDown() override { EXPECT_TRUE(db_->Close().ok()); }

  void Fill(std::uint64_t bytes) {
    for (const std::uint64_t end = written_ + bytes; written_ < end; written_ += kValueSize) {
      ASSERT_TRUE(db_->Put({}, "key" + std::to_string(written_), std::string(kValueSize, 'v')).ok());
    }
  }
  // Returns whether Fill ends while `held` holds its operation. If it does not, releases the operation.
  bool FillsDuring(HeldOperation* held, std::uint64_t bytes) {
    auto filled = std::async(std::launch::async, [this, bytes] { Fill(bytes); });
    if (filled.wait_for(std::chrono::seconds(20)) == std::future_status::ready) return true;
    held->Release();
    return false;
  }
  [[nodiscard]] std::vector<std::string> Segments() const {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->List("/db", &names).ok());
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
    std::ranges::sort(names);
    return names;
  }

  const std::shared_ptr<SimFileSystem> fs_ = std::make_shared<SimFileSystem>();
  Options options_;
  std::unique_ptr<DB> db_;
  std::uint64_t written_ = 0;
};

TEST_F(RotationTest, WriterDoesNotWaitForCommitIfSpareSegmentExists) {
  Fill(kSegment * 3 / 4);
  ASSERT_TRUE(db_->WaitForCompact().ok());
  ASSERT_EQ(Segments().size(), 2u);
  HeldOperation held(fs_, [](const SimOp& op) {
    return op.kind == SimOpKind::kSync && op.path.find("MANIFEST") != std::string::npos;
  });
  held.Arm();
  auto family = std::async(std::launch::async, [this] {
    ColumnFamilyHandle* made = nullptr;
    const Status s = db_->CreateColumnFamily(options_, "made meanwhile", &made);
    delete made;
    return s;
  });
  held.AwaitHeld();
  const std::uint64_t before = written_;
  EXPECT_TRUE(FillsDuring(&held, kSegment / 2));
  EXPECT_LT(before, kSegment);
  EXPECT_GT(written_, kSegment);
  held.Release();
  EXPECT_TRUE(family.get().ok());
}

TEST_F(RotationTest, SpareSegmentIsCreatedBeforeFullOneIsSynced) {
  Fill(kSegment * 3 / 4);
  ASSERT_TRUE(db_->WaitForCompact().ok());
  const std::vector<std::string> first = Segments();
  ASSERT_EQ(first.size(), 2u);
  HeldOperation held(fs_, [&](const SimOp& op) { return op.kind == SimOpKind::kSync && op.path.ends_with(first[0]); });
  held.Arm();
  Fill(kSegment / 2);
  held.AwaitHeld();
  EXPECT_EQ(Segments().size(), 3u);
  EXPECT_TRUE(FillsDuring(&held, kSegment)) << "a writer waits for the sync of a segment";
  held.Release();
}

// An executor that runs out of memory for every task while is_full is set.
class FullExecutor final : public Executor {
 public:
  void Schedule(TaskPriority priority, std::function<void()> task) override {
    Refuse();
    pool_->Schedule(priority, std::move(task));
  }
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override {
    Refuse();
    pool_->ScheduleAfter(micros, priority, std::move(task));
  }
  bool RunOneInstead() override { return pool_->RunOneInstead(); }

  std::atomic<bool> is_full{false};
  std::atomic<int> refused{0};

 private:
  void Refuse() {
    if (!is_full.load()) return;
    ++refused;
    throw std::bad_alloc();
  }
  const std::unique_ptr<Executor> pool_ = Executor::NewThreadPool(2);
};

// Regression: such a write failed although its record was in the log, and its sequence number was used a second time.
TEST_F(RotationTest, OutOfMemoryForTheSealFailsNoWrite) {
  ASSERT_TRUE(db_->Close().ok());
  const auto executor = std::make_shared<FullExecutor>();
  options_.executor = executor;
  ASSERT_TRUE(DB::Open(options_, "/db", &db_).ok());
  executor->is_full.store(true);
  Fill(3 * kSegment);
  EXPECT_GE(executor->refused.load(), 3);
  executor->is_full.store(false);
  Fill(kSegment);
  ASSERT_TRUE(db_->WaitForCompact().ok()) << "a job that was never scheduled counts as scheduled";
  ASSERT_TRUE(db_->Close().ok());
  ASSERT_TRUE(DB::Open(options_, "/db", &db_).ok());
  std::string value;
  for (std::uint64_t i = 0; i < written_; i += kValueSize) {
    EXPECT_TRUE(db_->Get({}, "key" + std::to_string(i), &value).ok()) << i;
  }
}

// A database that stays small has one segment and no spare one.
TEST_F(RotationTest, SmallDatabaseHasNoSpareSegment) {
  for (int i = 0; i < 5; ++i) {
    Fill(kSegment / 16);
    ASSERT_TRUE(db_->Close().ok());
    ASSERT_TRUE(DB::Open(options_, "/db", &db_).ok());
  }
  Fill(kSegment / 16);
  ASSERT_TRUE(db_->WaitForCompact().ok());
  EXPECT_EQ(Segments().size(), 6u) << "one for each Open";
}

}  // namespace
}  // namespace cambium::testing
