// SIGKILL at any moment of a real process on a real file system: everything acknowledged is back, in whole batches, and
// nothing that a recovery has discarded ever returns. The page cache outlives the process, so syncs do not matter here.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "process/child.h"
#include "process/workload.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Deep, and of files that nobody has open. "" or what is wrong. An orphan is wrong where `converged`.
std::string Verify(const Plan& plan, bool converged) {
  VerifyReport report;
  const Status s = VerifyDB(plan.directory, WorkloadOptions(plan.size), {.deep = true}, &report);
  if (!s.ok()) return "verify: " + s.ToString();
  if (!report.problems.empty()) return "verify: " + report.problems.front();
  for (const std::string& note : report.notes) {
    if (converged && note.find("orphan") != std::string::npos) return "after a clean close: " + note;
  }
  return "";
}

// What must hold after a death, with the files as they were left, and after a recovery.
void CheckDatabase(const Plan& plan, History* history, bool recover) {
  if (history->was_open()) {
    ASSERT_EQ(Verify(plan, false), "");
  }
  std::unique_ptr<DB> db;
  const Options options = WorkloadOptions(plan.size);
  if (recover || !history->was_open()) {
    Status s = DB::Open(options, plan.directory, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(history->Check(db.get(), false), "");
    s = db->Close();
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(Verify(plan, true), "");
  } else {
    const Status s = DB::OpenForReadOnly(options, plan.directory, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(history->Check(db.get(), false), "");
  }
}

class KillTest : public ::testing::TestWithParam<Size> {
 protected:
  KillTest() : seed_(SeedFromEnvironment(0x9e11 + static_cast<std::uint64_t>(GetParam()))), prng_(seed_) {
    plan_.directory = directory_.File("db");
    plan_.size = GetParam();
  }
  // Lets a process run until `moment`, and `micros` longer, and kills it.
  void OneLife(Message::Kind moment, std::uint64_t micros) {
    plan_.seed = prng_.Next();
    history_.BeginLife(&plan_);
    Child child("write", plan_);
    const auto see = [&](const Message& message) {
      history_.See(message);
      EXPECT_NE(message.kind, Message::Kind::kOpenFailed) << message.text;
      EXPECT_NE(message.kind, Message::Kind::kFailed) << message.text;
      EXPECT_NE(message.kind, Message::Kind::kFatal) << message.text;
      EXPECT_NE(message.kind, Message::Kind::kCloseFailed) << message.text;
      return message.kind == moment;
    };
    ASSERT_TRUE(child.Listen(60'000'000, see)) << "the process ended or hung: " << child.Wait();
    static_cast<void>(child.Listen(micros, [&](const Message& message) { return see(message) && false; }));
    child.Kill(see);
    EXPECT_EQ(child.Wait(), 1000 + SIGKILL);
    // Half of the time the next process finds the files as this one left them.
    CheckDatabase(plan_, &history_, prng_.OneIn(2));
  }

  const std::uint64_t seed_;
  Prng prng_;
  TempDirectory directory_;
  Plan plan_;
  History history_;
};

TEST_P(KillTest, EveryAcknowledgedBatchIsBackWhole) {
  const std::uint64_t kills = ScaledCount(20);
  for (std::uint64_t i = 0; i < kills; ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    OneLife(Message::Kind::kOpened, prng_.Skewed(18));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  std::printf("%llu rounds\n", static_cast<unsigned long long>(history_.total_rounds()));
  EXPECT_GT(history_.total_rounds(), kills) << "nothing was written between the kills";
}

// Most of each life is opening and closing.
TEST_P(KillTest, OpenAndCloseMayEndAnywhere) {
  plan_.openings = 0;
  const std::uint64_t kills = ScaledCount(10);
  for (std::uint64_t i = 0; i < kills; ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    const bool opening = prng_.OneIn(2);
    plan_.rounds = prng_.Between(1, 30);
    OneLife(opening ? Message::Kind::kOpening : Message::Kind::kClosing, prng_.Skewed(15));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(history_.total_rounds(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, KillTest, ::testing::Values(Size::kTiny, Size::kDefault),
                         [](const auto& instance) { return instance.param == Size::kTiny ? "Tiny" : "Default"; });

}  // namespace
}  // namespace cambium::testing
