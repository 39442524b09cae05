// Power cuts at each call of Prepare, of the Commit and the Rollback of prepared transactions, and of flushes between
// them: afterwards a transaction is prepared, committed or absent, as acknowledged.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/sim/sim_image.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "transactions/prepared_test_store.h"
#include "util/prng.h"

namespace cambium::testing::prepare_cuts_test {
namespace {

// What reads and the list of prepared transactions show: "a=1 b=2 prepared: t1".
std::string StateOf(PreparedTestStore* store) {
  return "a=" + store->GetOf("a") + " b=" + store->GetOf("b") + " prepared: " + store->PreparedNames();
}

// The disk after a cut, and the states of which one must be found there: the one before the call that was cut, and the
// one after it.
struct Cut {
  SimImage image;
  std::string before;
  std::string after;
  std::string call;
};

// Runs the script below on a new database, and takes cuts meanwhile.
class Script {
 public:
  Script(Prng* prng, Mutant mutant) : prng_(*prng), mutant_(mutant) {}

  std::vector<Cut> Run() {
    PreparedTestStore store;
    store.MustOpenTransactions();
    EXPECT_TRUE(store.transactions->Put(store.synced, "a", "0").ok());
    EXPECT_TRUE(store.transactions->Put(store.synced, "b", "0").ok());
    state_ = StateOf(&store);
    const HookScope hook(store.fs, [this, &store](const SimOp& op) {
      if (op.phase == SimPhase::kBefore) Take(store, op);
    });
    const MutantScope mutant(mutant_);

    TransactionPtr first = store.BeginNamed("first", {{"a", "1"}, {"b", "1"}});
    Step("a=0 b=0 prepared: first", [&] { return first->Prepare(); });  // makes the family
    Step(state_, [&] { return store.transactions->Flush({}); });
    Step("a=1 b=1 prepared: ", [&] { return first->Commit(); });
    TransactionPtr second = store.BeginNamed("second", {{"a", "2"}});
    EXPECT_TRUE(second->Delete("b").ok());
    Step("a=1 b=1 prepared: second", [&] { return second->Prepare(); });
    Step("a=1 b=1 prepared: ", [&] { return second->Rollback(); });
    second = store.BeginNamed("third", {{"b", "3"}});
    Step("a=1 b=1 prepared: third", [&] { return second->Prepare(); });
    Step(state_, [&] { return store.transactions->Flush({}); });
    Step("a=1 b=3 prepared: ", [&] { return second->Commit(); });
    Step(state_, [&] { return store.transactions->Flush({}); });
    return std::move(cuts_);
  }

 private:
  template <typename Call>
  void Step(std::string after, Call call) {
    after_ = std::move(after);
    const Status s = call();
    EXPECT_TRUE(s.ok()) << s.ToString();
    state_ = after_;
  }
  void Take(const PreparedTestStore& store, const SimOp& op) {
    const SimImage now = store.fs->Snapshot();
    const std::size_t units = now.Units().size();
    const std::string when = "before call " + std::to_string(op.index) + " on " + std::string(op.path);
    for (const bool keeps : {false, true}) {
      const std::string what = keeps ? ", all kept" : ", nothing unsynced kept";
      cuts_.push_back({now.CutKeeping(std::vector<bool>(units, keeps)), state_, after_, when + what});
    }
    cuts_.push_back({now.DrawCrash(prng_), state_, after_, when + ", some kept"});
  }

  Prng& prng_;
  const Mutant mutant_;
  std::string state_;  // acknowledged
  std::string after_;  // that of the call under way
  std::vector<Cut> cuts_;
};

// Ends all prepared transactions. Returns what is wrong, or "".
std::string EndAll(PreparedTestStore* store, bool commits) {
  for (const TransactionPtr& each : store->Prepared()) {
    const bool is_locked = store->transactions->Put({}, "b", "other").IsLockTimeout();
    if (!is_locked) return "a key of " + each->GetName() + " is not locked";
    const std::string wanted = each->GetName() == "first" ? "1" : each->GetName() == "third" ? "3" : "NotFound";
    const std::string had = store->GetOf("b");
    const Status s = commits ? each->Commit() : each->Rollback();
    if (!s.ok()) return s.ToString();
    if (store->GetOf("b") != (commits ? wanted : had)) return "b is " + store->GetOf("b");
  }
  if (!store->PreparedNames().empty()) return "left: " + store->PreparedNames();
  return store->transactions->Put({}, "b", "other").ok() ? "" : "a key is still locked";
}

// Opens what a cut has left. Returns what is wrong, or "".
std::string Check(const Cut& cut, bool commits) {
  PreparedTestStore store(std::make_shared<SimFileSystem>(cut.image));
  if (const Status opened = store.OpenTransactions(); !opened.ok()) return opened.ToString();
  const std::string found = StateOf(&store);
  if (found != cut.before && found != cut.after) return found + ", not " + cut.before + " or " + cut.after;
  if (std::string wrong = EndAll(&store, commits); !wrong.empty()) return wrong;
  const std::string ended = StateOf(&store);
  store.ReopenTransactions();
  return StateOf(&store) == ended ? "" : "reopened: " + StateOf(&store) + ", not " + ended;
}

// Runs the script with a mutant, and checks every cut without it. Returns what is wrong after one of them, or "".
std::string CheckCuts(Prng* prng, Mutant mutant) {
  const std::vector<Cut> cuts = Script(prng, mutant).Run();
  EXPECT_GT(cuts.size(), 100u);
  for (const Cut& cut : cuts) {
    const std::string wrong = Check(cut, prng->Uniform(2) == 0);
    if (!wrong.empty()) return cut.call + ": " + wrong;
  }
  return "";
}

void ExpectCaught(Mutant mutant, Prng* prng) { EXPECT_NE(CheckCuts(prng, mutant), "") << MutantName(mutant); }

TEST(PrepareCutsTest, ACutLeavesATransactionPreparedCommittedOrAbsentAsAcknowledged) {
  const std::uint64_t seed = SeedFromEnvironment(1);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  EXPECT_EQ(CheckCuts(&prng, Mutant::kNone), "");
  ExpectCaught(Mutant::kCommitKeepsThePrepared, &prng);
  ExpectCaught(Mutant::kPreparedIsRemovedApart, &prng);
}

}  // namespace
}  // namespace cambium::testing::prepare_cuts_test
