// Turns of an engine over a std::map, in processes of their own: how a turn ends, and what it returns.
#include "run/turn.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bench/engines/map_engine.h"
#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

constexpr int kUnderstood = 20;  // lookups before the first that fails

Status NotUnderstood() { return Status::NotSupported("entry of kind 9, which is of a later version"); }

std::unique_ptr<Engine> MakeMap(const EngineConfig&) { return std::make_unique<MapEngine>(); }
std::unique_ptr<Engine> MakeUnderstandingNothing(const EngineConfig&) {
  auto engine = std::make_unique<MapEngine>();
  engine->lies.read = NotUnderstood;
  return engine;
}
std::unique_ptr<Engine> MakeUnderstandingLess(const EngineConfig&) {
  auto engine = std::make_unique<MapEngine>();
  engine->lies.read = [reads = 0]() mutable { return reads++ < kUnderstood ? Status() : NotUnderstood(); };
  return engine;
}

std::unique_ptr<Engine> MakeWithoutTransactions(const EngineConfig&) {
  auto engine = std::make_unique<MapEngine>();
  engine->lies.has_transactions = false;
  return engine;
}

std::unique_ptr<Engine> MakeTooLarge(const EngineConfig&) {
  auto engine = std::make_unique<MapEngine>();
  engine->lies.in_settle = [settled = 0]() mutable {
    if (settled++ == 1) throw std::bad_alloc();
  };
  return engine;
}

// The outcome of a turn: how it ended, which benchmarks have a result, whether the databases' directory remains.
struct Outcome {
  TurnEnd end;
  std::vector<std::string> benchmarks;
  bool has_directory = false;
};

Outcome TakeTurn(const EngineEntry& entry, const std::vector<std::string>& benchmarks) {
  const testing::TempDirectory directory;
  BenchFlags flags;
  flags.num = 100;
  flags.benchmarks = benchmarks;
  Outcome outcome;
  outcome.end = RunTurn(flags, entry, directory.path(), 0,
                        [&outcome](const Result& result) { outcome.benchmarks.push_back(result.benchmark); });
  outcome.has_directory = std::filesystem::exists(directory.path());
  return outcome;
}

using Names = std::vector<std::string>;

// Regression: Cambium returns NotSupported for a page that it does not understand. The bench took this to mean that the
// engine lacks the operation, so it skipped the benchmark, and the run succeeded.
TEST(TurnTest, StoreThatCannotReadItsOwnBytesFails) {
  for (const auto make : {MakeUnderstandingNothing, MakeUnderstandingLess}) {
    const Outcome outcome = TakeTurn({"map", "", make, ""}, {"fillseq", "readrandom", "readseq"});
    EXPECT_EQ(outcome.end, TurnEnd::kFailed);
    EXPECT_EQ(outcome.benchmarks, Names{"fillseq"});
  }
}

// Regression: the exception unwound the stack that the child inherits from its parent. This removed the databases of
// all turns.
TEST(TurnTest, ChildWithoutMemoryKeepsTheParentsDirectory) {
  const Outcome outcome = TakeTurn({"map", "", MakeTooLarge, ""}, {"fillseq", "overwrite"});
  EXPECT_EQ(outcome.end, TurnEnd::kFailed);
  EXPECT_EQ(outcome.benchmarks, Names{"fillseq"});
  EXPECT_TRUE(outcome.has_directory);
}

TEST(TurnTest, MissingMaintenanceIsSkipped) {
  const Outcome outcome = TakeTurn({"map", "", MakeMap, ""}, {"fillseq", "compact", "readrandom"});
  EXPECT_EQ(outcome.end, TurnEnd::kDone);
  EXPECT_EQ(outcome.benchmarks, (Names{"fillseq", "readrandom"}));
}

TEST(TurnTest, StoreWithoutTransactionsSkipsThem) {
  const Names names = {"fillseq", "transaction", "readrandom"};
  Outcome outcome = TakeTurn({"map", "", MakeWithoutTransactions, ""}, names);
  EXPECT_EQ(outcome.end, TurnEnd::kDone);
  EXPECT_EQ(outcome.benchmarks, (Names{"fillseq", "readrandom"}));
  outcome = TakeTurn({"map", "", MakeMap, ""}, names);
  EXPECT_EQ(outcome.end, TurnEnd::kDone);
  EXPECT_EQ(outcome.benchmarks, names);
}

TEST(TurnTest, NonStoreMayLackReads) {
  const Outcome outcome = TakeTurn({"files", "", MakeUnderstandingNothing, "", false}, {"fillseq", "readrandom"});
  EXPECT_EQ(outcome.end, TurnEnd::kDone);
  EXPECT_EQ(outcome.benchmarks, Names{"fillseq"});
}

}  // namespace
}  // namespace cambium::bench
