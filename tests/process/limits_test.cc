// The system limits descriptors, file sizes, permissions or space. Calls must fail with a status that says why, and
// every acknowledged write must be found after the limit is gone.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "process/check.h"
#include "process/child.h"
#include "process/mounts.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "util/mutant.h"

namespace cambium::testing {
namespace {

constexpr uid_t kNobody = 65534;

class ProcessLimitsTest : public ::testing::Test {
 protected:
  ProcessLimitsTest() {
    plan_.directory = directory_.File("db");
    plan_.rounds = 40;
    plan_.attempts = 5;
  }

  struct Outcome {
    int code = 0;
    std::uint64_t acked = 0;
    std::uint64_t failed = 0;
    bool open_failed = false;
    bool fatal = false;
    bool close_failed = false;
    std::string text;  // of the first failure
    [[nodiscard]] bool clean() const { return failed == 0 && !open_failed && !fatal && !close_failed; }
  };

  void Note(const Message& message, Outcome* outcome) {
    using Kind = Message::Kind;
    history_.See(message);
    EXPECT_NE(message.kind, Kind::kWrong) << message.text;
    outcome->acked += message.kind == Kind::kAcked || message.kind == Kind::kSynced ? 1 : 0;
    outcome->failed += message.kind == Kind::kFailed ? 1 : 0;
    outcome->open_failed = outcome->open_failed || message.kind == Kind::kOpenFailed;
    outcome->fatal = outcome->fatal || message.kind == Kind::kFatal;
    outcome->close_failed = outcome->close_failed || message.kind == Kind::kCloseFailed;
    if (outcome->text.empty()) outcome->text = message.text;
  }

  // Runs the writing process until it ends.
  [[nodiscard]] Outcome OneLife() {
    Outcome outcome;
    plan_.seed = ++seed_;
    history_.BeginLife(&plan_);
    Child child("write", plan_);
    static_cast<void>(child.Listen(120'000'000, [&](const Message& m) {
      Note(m, &outcome);
      return false;
    }));
    outcome.code = child.Wait();
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 3) << outcome.code << " " << outcome.text;
    return outcome;
  }
  // Runs it without limits: earlier limits must have no effect any more.
  void OneCleanLife() {
    plan_.open_files_max = plan_.file_size_max = plan_.user = 0;
    const Outcome outcome = OneLife();
    EXPECT_TRUE(outcome.clean()) << outcome.text;
    EXPECT_EQ(outcome.acked > 0, true);
    ASSERT_EQ(CheckDatabase(plan_, false, true, &history_), "");
  }

  std::uint64_t seed_ = SeedFromEnvironment(0x11111);
  TempDirectory directory_;
  Plan plan_;
  History history_;
};

TEST_F(ProcessLimitsTest, TooFewDescriptorsFailCleanly) {
  if (kUnderSanitizer) {
    GTEST_SKIP() << "SKIPPED: UBSan opens a pipe to check whether an object's memory can be read, and without descriptors "
                    "it reports every virtual call as invalid; runs in builds without sanitizers";
  }
  int failed = 0;
  int worked = 0;
  for (std::uint64_t limit = 10; limit <= 60; limit += ScaleFromEnvironment() > 1 ? 1 : 3) {
    SCOPED_TRACE(std::to_string(limit) + " descriptors");
    plan_.open_files_max = limit;
    const Outcome outcome = OneLife();
    ++(outcome.clean() ? worked : failed);
    if (!outcome.clean()) {
      EXPECT_NE(outcome.text.find("Too many open files"), std::string::npos) << outcome.text;
    }
    ASSERT_EQ(CheckDatabase(plan_, false, limit % 2 == 0, &history_), "") << outcome.text;
  }
  std::printf("%d of the limits were too low, %d were high enough\n", failed, worked);
  EXPECT_GT(failed, 0);
  OneCleanLife();
}

// A write beyond the limit is first short, and then fails with EFBIG.
TEST_F(ProcessLimitsTest, FilesThatMayNotGrowFailCleanly) {
  int failed = 0;
  for (const std::uint64_t limit : {1000, 4096, 8192, 10'000, 20'000, 30'001, 50'000, 65'000, 100'000}) {
    SCOPED_TRACE("files of " + std::to_string(limit) + " bytes");
    plan_.file_size_max = limit;
    const Outcome outcome = OneLife();
    if (!outcome.clean()) {
      ++failed;
      EXPECT_NE(outcome.text.find("File too large"), std::string::npos) << outcome.text;
    }
    ASSERT_EQ(CheckDatabase(plan_, false, limit % 2 == 0, &history_), "") << outcome.text;
  }
  EXPECT_GT(failed, 2);
  OneCleanLife();
}

// A reader of another user needs the owner's leave to read LOCK.
TEST_F(ProcessLimitsTest, ReadOnlyDirectoryOpensForReadingOnly) {
  OneCleanLife();
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(plan_.directory, std::filesystem::perms(0555));
  if (::geteuid() == 0) {
    plan_.user = kNobody;
  }
  const Outcome outcome = OneLife();
  EXPECT_TRUE(outcome.open_failed);
  EXPECT_NE(outcome.text.find("Permission denied"), std::string::npos) << outcome.text;

  const auto read = [this](std::string* text) {
    Child reader("hold-for-reading", plan_);
    const bool is_open = reader.Listen(60'000'000, [&](const Message& m) {
      *text = m.text;
      return m.kind == Message::Kind::kOpened;
    });
    reader.Kill([](const Message&) {});
    return is_open;
  };
  std::string text;
  if (plan_.user != 0) {
    EXPECT_FALSE(read(&text));
    EXPECT_NE(text.find("LOCK: Permission denied"), std::string::npos) << text;
    std::filesystem::permissions(plan_.directory + "/LOCK", std::filesystem::perms(0644));
  }
  EXPECT_TRUE(read(&text)) << text;
  std::filesystem::permissions(plan_.directory, std::filesystem::perms(0755));
  OneCleanLife();
}

class ProcessFullDiskTest : public ProcessLimitsTest {
 protected:
  void SetUp() override {
    if (const std::string why = EnterPrivateMounts(); !why.empty()) GTEST_SKIP() << "SKIPPED: " << why;
    mounted_ = std::make_unique<Mount>("tmpfs", directory_.File("mount"), "tmpfs", "size=8m");
    if (!mounted_->error().empty()) GTEST_SKIP() << "SKIPPED: " << mounted_->error();
    plan_.directory = directory_.File("mount/db");
    CreateNewDatabase();
  }

  // After each fill some data remains. After many of them, removing the ballast would not free enough space, so tests
  // start with a new database.
  void CreateNewDatabase() {
    std::filesystem::remove_all(plan_.directory);
    history_ = {};
    plan_.mutant = 0;
    plan_.rounds = 40;
    plan_.attempts = 5;
    OneCleanLife();
    plan_.rounds = 0;
    plan_.attempts = 0;
  }

  // Leaves `left` bytes free, lets a process write until the disk is full, frees the space, and kills the process after
  // it has resumed. Returns the result of CheckDatabase.
  [[nodiscard]] std::string FillUpAndResume(std::uint64_t left) {
    const std::string ballast = directory_.File("mount/ballast");
    std::uint64_t free = 0;
    EXPECT_TRUE(FileSystem::Default()->FreeSpace(plan_.directory, &free).ok());
    std::ofstream(ballast) << std::string(free - std::min(free, left), 'x') << std::flush;
    plan_.seed = ++seed_;
    history_.BeginLife(&plan_);
    Outcome outcome;
    {
      Child child("write", plan_);
      EXPECT_TRUE(child.Listen(60'000'000, [&](const Message& m) {
        Note(m, &outcome);
        return outcome.failed == 30 || outcome.fatal || outcome.open_failed;
      }));
      // The kernel's message, or ours if the engine refused the write before the disk was full.
      EXPECT_NE(outcome.text.find("(no space)"), std::string::npos) << outcome.text;
      EXPECT_FALSE(outcome.fatal) << outcome.text;
      std::uint64_t files = 0;
      for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(plan_.directory)) ++files;
      EXPECT_LT(files, 150u) << "files of failed calls remain";
      ::unlink(ballast.c_str());
      if (!outcome.open_failed) {
        const std::uint64_t before = outcome.acked;
        EXPECT_TRUE(child.Listen(60'000'000, [&](const Message& m) {
          Note(m, &outcome);
          return outcome.acked > before + 50;
        }));
      }
      child.Kill([&](const Message& m) { Note(m, &outcome); });
    }
    return CheckDatabase(plan_, false, true, &history_);
  }

  std::unique_ptr<Mount> mounted_;
};

TEST_F(ProcessFullDiskTest, WritesResumeWhenSpaceIsFreed) {
  for (const std::uint64_t left : {400u << 10, 100u << 10, 8u << 10, 0u}) {
    SCOPED_TRACE(std::to_string(left) + " bytes left");
    ASSERT_EQ(FillUpAndResume(left), "");
  }
  plan_.rounds = 40;
  plan_.attempts = 5;
  OneCleanLife();
}

// If appends continued after the remains of a failed write, recovery would end there.
TEST_F(ProcessFullDiskTest, MutantThatAppendsAfterHalfRecordLosesBatches) {
  plan_.size = Size::kDefaultKeepsAll;  // a single segment, so that there is no rotation in between
  const auto lost = [this](Mutant mutant, std::uint64_t turns) {
    std::string found;
    for (std::uint64_t i = 0; i < 8 * turns && found.empty(); ++i) {
      if (i % 8 == 0) CreateNewDatabase();
      plan_.mutant = static_cast<std::uint64_t>(mutant);
      found = FillUpAndResume((100 + 13 * (i % 8)) << 10);
    }
    return found;
  };
  EXPECT_EQ(lost(Mutant::kNone, 1), "");
  // Whether the disk becomes full within a record is random: in one of twelve turns of eight fills, no fill did.
  EXPECT_NE(lost(Mutant::kAppendAfterHalfRecord, 5), "");
}

}  // namespace
}  // namespace cambium::testing
