// The workload `transaction` over a std::map: what a transaction does, how conflicts are counted, and that lost updates
// are noticed.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "bench/workloads/workload_on_map.h"
#include "data/zipf.h"

namespace cambium::bench {
namespace {

class TransactionTest : public WorkloadOnMap {
 protected:
  TransactionTest() : WorkloadOnMap(200) {
    flags_.reads = 500;
    flags_.threads = 3;
  }

  void MustRun(const std::string& name) {
    const Status status = Run(name);
    ASSERT_TRUE(status.ok()) << name << ": " << status.ToString();
  }
};

TEST_F(TransactionTest, UpdatesOfAllThreadsAreThere) {
  MustRun("fillseq");
  const std::uint64_t before = engine_.commits;
  for (int i = 0; i < 2; ++i) {
    MustRun("transaction");
    EXPECT_EQ(result_.ops, 1500u);
    EXPECT_EQ(result_.user_write_bytes, 1500u * 4 * 116);
    EXPECT_EQ(result_.user_bytes, 2 * 1500u * 4 * 116) << "what was read counts too";
    EXPECT_TRUE(engine_.settled);
    ASSERT_TRUE(AbortsPerCommit(result_).has_value());
    MustRun("verify");
  }
  EXPECT_EQ(engine_.commits - before, 2 * 1500u);
  EXPECT_EQ(engine_.map.size(), 200u);
}

TEST_F(TransactionTest, ConflictsAreRepeatedAndCounted) {
  flags_.threads = 1;
  MustRun("fillseq");
  engine_.lies.conflict = [commits = 0]() mutable { return ++commits % 5 == 0; };
  MustRun("transaction");
  EXPECT_EQ(result_.ops, 500u);
  EXPECT_EQ(result_.aborts, 124u) << "of 624 attempts";
  EXPECT_NEAR(*AbortsPerCommit(result_), 0.248, 1e-9);
  EXPECT_NE(result_.message.find("; 0.248 aborts per commit"), std::string::npos) << result_.message;
  EXPECT_EQ(result_.nanos.count(), 500u) << "a latency covers the attempts of one transaction";
  MustRun("verify");
  MustRun("updaterandom");
  EXPECT_FALSE(AbortsPerCommit(result_).has_value());
}

TEST_F(TransactionTest, LostUpdateIsFound) {
  MustRun("fillseq");
  engine_.lies.forgets = [commits = 0]() mutable { return ++commits == 700; };
  const Status status = Run("transaction");
  ASSERT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("have written 6000 keys, but the counts in the values add up to 5996"),
            std::string::npos)
      << status.ToString();
}

TEST_F(TransactionTest, WrongValuesAndFailuresEndTheRun) {
  MustRun("fillseq");
  engine_.lies.value = [](std::string* value) { value->back() = static_cast<char>(value->back() ^ 1); };
  EXPECT_TRUE(Run("transaction").IsCorruption());
  engine_.lies = {};
  engine_.lies.lost = [](const std::string& key) { return key[7] % 2 == 1; };
  EXPECT_TRUE(Run("transaction").IsCorruption());
  engine_.lies = {};
  engine_.lies.write = [] { return Status::NoSpace("full"); };
  EXPECT_TRUE(Run("transaction").IsNoSpace());
  engine_.lies = {};
  MustRun("transaction");
}

TEST_F(TransactionTest, KeysOfATransactionDiffer) {
  flags_.num = 4;
  flags_.reads = 7;
  for (const bool is_empty : {true, false}) {
    if (!is_empty) MustRun("fillseq");
    MustRun("transaction");
    ASSERT_EQ(engine_.map.size(), 4u);
    for (const auto& [key, value] : engine_.map) {
      EXPECT_EQ(*VersionInValue(value) & 0xffffffffffffu, 21u) << "each transaction writes all keys";
    }
    MustRun("verify");
  }
}

TEST_F(TransactionTest, SkewIsZipfs) {
  flags_.threads = 1;
  flags_.transaction.keys = 1;
  flags_.transaction.zipf = 0.99;
  flags_.reads = 20'000;
  MustRun("fillseq");
  std::map<std::uint64_t, std::uint64_t> counts;
  engine_.lies.value = [&](const std::string* value) { ++counts[IdInValue(*value)]; };
  MustRun("transaction");
  std::uint64_t warmest = 0;
  for (const auto& [id, count] : counts) warmest = std::max(warmest, count);
  EXPECT_NEAR(static_cast<double>(warmest) / 20'000, Zipf(200, 0.99).ShareOfFirst(), 0.02);
  EXPECT_GT(counts.size(), 190u) << "cold keys are drawn too";
}

// A value of an earlier run may have the version that this run would write.
TEST_F(TransactionTest, NothingIsComparedInADatabaseOfAnotherRun) {
  MustRun("fillseq");
  MustRun("transaction");
  keys_.Reset(false);
  ordinal_ = 1;
  MustRun("transaction");
  EXPECT_EQ(result_.ops, 1500u);
}

}  // namespace
}  // namespace cambium::bench
