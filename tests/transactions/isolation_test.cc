// Isolation under load: eight threads of random transactions, while flushes, compactions, sweeps and log GC run all the
// time, with closes, kills and power cuts in between. The checker (tests/transactions/isolation) must find no anomaly;
// with a mutant that makes commits blind, it must find one.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "transactions/isolation/simulated_program.h"

namespace cambium::testing::isolation_test {
namespace {

using isolation::Kind;
using isolation::ProgramFigures;
using isolation::ProgramPlan;

void Print(const ProgramFigures& figures) {
  const auto part = [](std::uint64_t count, const char* what) { return std::to_string(count) + what; };
  const isolation::Figures& clients = figures.clients;
  const std::string text = part(clients.transactions, " transactions, ") + part(clients.commits, " commits, ") +
                           part(clients.conflicts, " conflicts (") + part(clients.try_again, " TryAgain), ") +
                           part(clients.rollbacks, " rollbacks, ") + part(clients.prepared, " prepared; ") +
                           part(figures.closes, " closes, ") + part(figures.kills, " kills, ") +
                           part(figures.cuts, " cuts (") + part(figures.recoveries_cut, " also during recovery), ") +
                           "which took " + part(figures.lost, " commits, ") + part(figures.copies, " cuts of copies");
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void RunPrograms(Kind kind, std::uint64_t first_seed) {
  const std::uint64_t seed = SeedFromEnvironment(first_seed);
  ProgramFigures figures;
  for (std::uint64_t i = 0; i < ScaledPrograms(6); ++i) {
    const ProgramPlan plan{.seed = seed + i, .kind = kind, .is_patient = i % 4 == 3};
    ASSERT_EQ(isolation::RunProgram(plan, &figures), "") << "CAMBIUM_SEED=" << plan.seed;
    if (i % 50 == 49) Print(figures);
  }
  Print(figures);
  EXPECT_GT(figures.clients.commits, figures.clients.transactions / 8);
  EXPECT_GT(figures.clients.conflicts, 0u);
}

TEST(IsolationTest, OptimisticTransactionsKeepTheirLevelsOverCrashes) { RunPrograms(Kind::kOptimistic, 1); }
TEST(IsolationTest, PessimisticTransactionsKeepTheirLevelsOverCrashes) { RunPrograms(Kind::kPessimistic, 101); }

// Runs such programs until the checker finds something. Returns it, or "". A program has what is looked for only if its
// threads meet, so there may be many; most mutants show in the first one or two.
std::string FindSomething(ProgramPlan plan, std::uint64_t first_seed) {
  plan.seed = SeedFromEnvironment(first_seed);
  ProgramFigures figures;
  for (int i = 0; i < 100; ++i, ++plan.seed) {
    std::string wrong = isolation::RunProgram(plan, &figures);
    if (wrong.empty()) continue;
    std::printf("program %d: %.300s\n", i, wrong.c_str());
    return wrong;
  }
  return "";
}
void ExpectCaught(Mutant mutant, Kind kind, std::uint64_t first_seed, bool is_patient = false) {
  EXPECT_NE(FindSomething({.kind = kind, .is_patient = is_patient, .mutant = mutant}, first_seed), "")
      << MutantName(mutant);
}

// Snapshot isolation allows write skew, and the clients meet it.
TEST(IsolationTest, SnapshotIsolationIsNotTakenForSerializable) {
  for (const Kind kind : {Kind::kOptimistic, Kind::kPessimistic}) {
    const std::string wrong = FindSomething({.kind = kind, .claims_serializable = true}, 401);
    EXPECT_NE(wrong.find(": G"), std::string::npos) << wrong;
  }
}

TEST(IsolationTest, BlindCommitsAreCaught) {
  ExpectCaught(Mutant::kHistoryForgetsFlushed, Kind::kOptimistic, 201);
  ExpectCaught(Mutant::kRecordsAreNotCompared, Kind::kOptimistic, 211, /*is_patient=*/true);
  ExpectCaught(Mutant::kCommitLooksBeforeTheLock, Kind::kOptimistic, 221);
  ExpectCaught(Mutant::kConditionIsCheckedBeforeTheLock, Kind::kOptimistic, 231);
}

TEST(IsolationTest, PhantomsAreCaught) { ExpectCaught(Mutant::kKeysIgnoreRanges, Kind::kPessimistic, 251); }

TEST(IsolationTest, PreparedTransactionsThatAreNotKeptAreCaught) {
  ExpectCaught(Mutant::kCommitKeepsThePrepared, Kind::kPessimistic, 301);
  ExpectCaught(Mutant::kRecoveryTakesNoLocks, Kind::kPessimistic, 321);
  ExpectCaught(Mutant::kDeletedPreparedUnlocks, Kind::kPessimistic, 331);
}

TEST(IsolationTest, LostAndTornCommitsAreCaught) {
  ExpectCaught(Mutant::kApplyHalfBatch, Kind::kOptimistic, 501);
  ExpectCaught(Mutant::kSyncClaimsLaterWrites, Kind::kOptimistic, 521);
}

TEST(IsolationTest, SnapshotsThatMoveAreCaught) { ExpectCaught(Mutant::kIteratorReadsLatest, Kind::kOptimistic, 601); }

}  // namespace
}  // namespace cambium::testing::isolation_test
