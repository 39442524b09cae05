// Each rule of the order checker is obeyed once and broken once.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/sim/order_checker.h"
#include "io/sim_test_util.h"

namespace cambium {
namespace {

TEST(OrderCheckerTest, ChangeBelowASealedLengthIsReported) {
  SimFileSystem fs;
  OrderChecker checker(&fs);
  const auto file = MustCreateDurable(&fs, "/a", "0123456789");
  checker.Seal("/a", 8);
  ASSERT_TRUE(file->Write(8, "xy").ok());
  ASSERT_TRUE(file->Truncate(8).ok());
  ASSERT_TRUE(file->PunchHole(0, 4).ok());
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_TRUE(checker.violations().empty());
  ASSERT_TRUE(fs.Rename("/a", "/b").ok());
  ASSERT_TRUE(file->Write(7, "x").ok());
  ASSERT_TRUE(file->Truncate(7).ok());
  ASSERT_EQ(checker.violations().size(), 2u);
  EXPECT_EQ(checker.violations()[0], "operation 9: write /a:7+1: below the sealed length 8");
}

TEST(OrderCheckerTest, ChangeOfAFileWithASecondNameIsReported) {
  SimFileSystem fs;
  OrderChecker checker(&fs);
  const auto file = MustCreateDurable(&fs, "/a", "abc");
  ASSERT_TRUE(fs.Link("/a", "/b").ok());
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_TRUE(checker.violations().empty());
  ASSERT_TRUE(file->Write(3, "d").ok());
  ASSERT_TRUE(file->PunchHole(0, 1).ok());
  ASSERT_TRUE(file->Truncate(0).ok());
  EXPECT_EQ(checker.violations().size(), 3u);
  ASSERT_TRUE(fs.Unlink("/b").ok());
  ASSERT_TRUE(file->Write(0, "d").ok());
  EXPECT_EQ(checker.violations().size(), 3u);
  ASSERT_TRUE(fs.Link("/a", "/c").ok());  // while it has unsynced data
  EXPECT_EQ(checker.violations().size(), 4u);
}

TEST(OrderCheckerTest, UseOfAFileAfterAFailedSyncIsReported) {
  SimFileSystem fs;
  OrderChecker checker(&fs);
  const auto file = MustCreateDurable(&fs, "/a", "abc");
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  fs.AddFault(fault);
  EXPECT_FALSE(file->SyncData().ok());
  ASSERT_TRUE(fs.Unlink("/a").ok());
  EXPECT_TRUE(checker.violations().empty());
  ASSERT_TRUE(file->SyncData().ok());
  ASSERT_TRUE(file->Write(3, "d").ok());
  EXPECT_EQ(checker.violations().size(), 2u);
}

TEST(OrderCheckerTest, UnlinkOrReplacementOfANeededFileIsReported) {
  SimFileSystem fs;
  OrderChecker checker(&fs);
  MustCreateDurable(&fs, "/needed", "abc").reset();
  MustCreateDurable(&fs, "/other", "abc").reset();
  MustCreateDurable(&fs, "/third", "abc").reset();
  checker.ForbidUnlink([](const std::string& path) { return path == "/needed"; });
  ASSERT_TRUE(fs.Unlink("/third").ok());
  EXPECT_TRUE(checker.violations().empty());
  ASSERT_TRUE(fs.Rename("/other", "/needed").ok());
  ASSERT_TRUE(fs.Unlink("/needed").ok());
  EXPECT_EQ(checker.violations().size(), 2u);
}

TEST(OrderCheckerTest, OverlappingConcurrentWritesAreReported) {
  SimFileSystem fs;
  OrderChecker checker(&fs);
  const auto file = MustCreateDurable(&fs, "/a", "");
  bool inside = false;
  fs.AddHook([&](const SimOp& op) {
    if (op.phase != SimPhase::kBefore || op.kind != SimOpKind::kWrite || inside) return;
    inside = true;
    EXPECT_TRUE(file->Write(op.offset + 4, "1234").ok());
    inside = false;
  });
  ASSERT_TRUE(file->Write(0, "abcd").ok());
  EXPECT_TRUE(checker.violations().empty());
  ASSERT_TRUE(file->Write(0, "abcde").ok());
  EXPECT_EQ(checker.violations().size(), 1u);
}

// A rule as an engine's test would add it: no MANIFEST record while a file that it names is not durable.
TEST(OrderCheckerTest, EngineRulesMayAskTheFileSystem) {
  SimFileSystem fs;
  OrderChecker checker(&fs);
  int calls = 0;
  checker.OnViolation([&](const std::string&) { ++calls; });
  checker.AddRule([&](const SimOp& op) -> std::optional<std::string> {
    if (op.kind == SimOpKind::kWrite && op.path == "/MANIFEST" && !fs.probe().IsFullyDurable("/run", 3))
      return "run not durable";
    return std::nullopt;
  });
  const auto manifest = MustOpen(&fs, "/MANIFEST", OpenMode::kCreateNew);
  const auto run = MustOpen(&fs, "/run", OpenMode::kCreateNew);
  ASSERT_TRUE(run->Write(0, "abc").ok());
  ASSERT_TRUE(manifest->Write(0, "run").ok());
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(run->SyncData().ok());
  ASSERT_TRUE(manifest->Write(0, "run").ok());
  EXPECT_EQ(calls, 2);
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  ASSERT_TRUE(manifest->Write(0, "run").ok());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(checker.violations().size(), 2u);
}

}  // namespace
}  // namespace cambium
