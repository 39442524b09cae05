// SIGKILL of a real process at any moment, on a real file system. Every acknowledged batch must survive as a whole, and
// a batch that a recovery has discarded must never reappear. The page cache outlives the process, so syncs do not
// matter.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "process/check.h"
#include "process/child.h"
#include "process/workload.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class KillTest : public ::testing::TestWithParam<Size> {
 protected:
  KillTest() : seed_(SeedFromEnvironment(0x9e11 + static_cast<std::uint64_t>(GetParam()))), prng_(seed_) {
    plan_.directory = directory_.File("db");
    plan_.size = GetParam();
  }
  // Lets a process run until `moment`, then until it has acknowledged this many batches, then for `micros`, and kills it.
  void OneLife(Message::Kind moment, std::uint64_t batches, std::uint64_t micros) {
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
    const auto counts = [&](const Message& message) {
      static_cast<void>(see(message));
      const bool is_acked = message.kind == Message::Kind::kAcked || message.kind == Message::Kind::kSynced;
      return is_acked && --batches == 0;
    };
    if (batches > 0) {
      ASSERT_TRUE(child.Listen(60'000'000, counts)) << "the process ended or hung: " << child.Wait();
    }
    static_cast<void>(child.Listen(micros, [&](const Message& message) { return see(message) && false; }));
    child.Kill(see);
    EXPECT_EQ(child.Wait(), 1000 + SIGKILL);
    // Half of the time the check leaves the files as the killed process left them.
    ASSERT_EQ(CheckDatabase(plan_, false, prng_.OneIn(2), &history_), "");
  }

  const std::uint64_t seed_;
  Prng prng_;
  TempDirectory directory_;
  Plan plan_;
  History history_;
};

TEST_P(KillTest, AcknowledgedBatchesSurviveWhole) {
  const std::uint64_t kills = ScaledCount(20);
  for (std::uint64_t i = 0; i < kills; ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    // Time alone would not do: on a busy machine a process may write nothing for a quarter of a second.
    OneLife(Message::Kind::kOpened, i % 5, prng_.Skewed(18));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  std::printf("%llu rounds\n", static_cast<unsigned long long>(history_.total_rounds()));
  EXPECT_GT(history_.total_rounds(), kills) << "nothing was written between the kills";
}

// Each process spends most of its time in Open and Close.
TEST_P(KillTest, KillDuringOpenOrCloseLosesNothing) {
  plan_.open_count = 0;
  const std::uint64_t kills = ScaledCount(10);
  for (std::uint64_t i = 0; i < kills; ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    const bool opening = prng_.OneIn(2);
    plan_.rounds = prng_.Between(1, 30);
    OneLife(opening ? Message::Kind::kOpening : Message::Kind::kClosing, 0, prng_.Skewed(15));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(history_.total_rounds(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, KillTest, ::testing::Values(Size::kTiny, Size::kDefault),
                         [](const auto& instance) { return instance.param == Size::kTiny ? "Tiny" : "Default"; });

}  // namespace
}  // namespace cambium::testing
