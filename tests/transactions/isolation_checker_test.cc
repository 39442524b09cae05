// The checker of isolation, on histories made by hand: it finds each anomaly, under its name, and accepts what the
// levels allow.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "transactions/isolation/checker.h"

namespace cambium::testing::isolation_checker_test {
namespace {

using namespace isolation;

// A transaction that is concurrent with all others, unless At says when it was. Versions are TRANSACTION.WRITE.
class Tx {
 public:
  explicit Tx(std::uint64_t id, Level level = Level::kSerializable) {
    record_.id = id;
    record_.thread = static_cast<std::uint32_t>(id);
    record_.level = level;
    record_.sees_snapshot = level == Level::kSnapshot;
    record_.begin_call = 1;
    record_.begin_return = 1000;
    record_.commit_call = 2;
    record_.commit_return = 1001;
    record_.outcome = Outcome::kCommitted;
  }
  Tx& Read(const std::string& key, const std::string& value) { return Add(Op::Kind::kRead, key, value); }
  Tx& Write(const std::string& key, const std::string& value) { return Add(Op::Kind::kWrite, key, value); }
  Tx& Delete(const std::string& key, const std::string& version) { return Add(Op::Kind::kDelete, key, version); }
  // Reads a list and appends to it.
  Tx& Append(const std::string& key, const std::string& before, const std::string& after) {
    return Read(key, before).Write(key, after);
  }
  // The operations from the i-th on were undone.
  Tx& Undo(std::size_t i) {
    for (; i < record_.ops.size(); ++i) record_.ops[i].is_undone = true;
    record_.ops.push_back({Op::Kind::kUndo, "", {}, false});
    return *this;
  }
  Tx& At(Time begin_call, Time begin_return, Time commit_call, Time commit_return) {
    record_.begin_call = begin_call;
    record_.begin_return = begin_return;
    record_.commit_call = commit_call;
    record_.commit_return = commit_return;
    return *this;
  }
  Tx& In(std::uint32_t thread) {
    record_.thread = thread;
    return *this;
  }
  Tx& Ends(Outcome outcome) {
    record_.outcome = outcome;
    if (outcome != Outcome::kCommitted) record_.commit_return = kNever;
    return *this;
  }
  Tx& Synced() {
    record_.is_synced = true;
    return *this;
  }
  Tx& Prepared(Time call, Time returned, bool is_synced) {
    record_.prepare_call = call;
    record_.prepare_return = returned;
    record_.is_prepare_synced = is_synced;
    record_.commit_call = kNever;
    return Ends(Outcome::kPrepared);
  }
  [[nodiscard]] const TxRecord& record() const { return record_; }

 private:
  Tx& Add(Op::Kind kind, const std::string& key, const std::string& value) {
    Op op{kind, key, {}, false};
    EXPECT_TRUE(ParseValue(value, &op.value)) << value;
    record_.ops.push_back(std::move(op));
    return *this;
  }
  TxRecord record_;
};

using Values = std::vector<std::pair<std::string, std::string>>;

State Contents(const Values& values, std::set<std::uint64_t> receipts = {}) {
  State state;
  for (const auto& [key, value] : values) EXPECT_TRUE(ParseValue(value, &state.values[key])) << value;
  state.receipts = std::move(receipts);
  return state;
}

History HistoryOf(const std::vector<Tx>& all, const Values& base = {}) {
  History history;
  history.base = Contents(base);
  for (const Tx& each : all) history.transactions.push_back(each.record());
  return history;
}

// The name of the anomaly, or "".
std::string Find(const std::vector<Tx>& all, const Values& base = {}) {
  const std::string anomaly = FindAnomaly(HistoryOf(all, base));
  return anomaly.substr(0, anomaly.find_first_of(",:\n"));
}

constexpr Level kSi = Level::kSnapshot;

// ---- Clean histories ----

TEST(IsolationCheckerTest, SerialHistoriesAreClean) {
  EXPECT_EQ(Find({}), "");
  EXPECT_EQ(Find({Tx(1).Append("l1", "-", "[1.0]").Write("r1", "1.1"),
                  Tx(2).Append("l1", "[1.0]", "[1.0,2.0]").Read("r1", "1.1"),
                  Tx(3).Read("l1", "[1.0,2.0]").Read("r1", "1.1").Write("r1", "3.0"), Tx(4).Read("r1", "3.0")}),
            "");
}

TEST(IsolationCheckerTest, WhatWasThereBeforeTheLifeMayBeRead) {
  EXPECT_EQ(Find({Tx(7).Append("l1", "[1.0]", "[1.0,7.0]").Read("r1", "2.0"), Tx(8).Read("l1", "[1.0]")},
                 {{"l1", "[1.0]"}, {"r1", "2.0"}}),
            "");
}

TEST(IsolationCheckerTest, OwnWritesAreSeen) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Read("r1", "1.0").Write("r1", "1.1").Read("r1", "1.1"),
                  Tx(2).Read("r1", "1.1"), Tx(3).Append("l1", "-", "[3.0]").Append("l1", "[3.0]", "[3.0,3.1]")}),
            "");
}

TEST(IsolationCheckerTest, UndoneWritesAreSeenUntilTheyAreUndone) {
  EXPECT_EQ(Find({Tx(1).Read("r1", "-").Write("r1", "1.0").Read("r1", "1.0").Undo(1).Read("r1", "-")}), "");
  EXPECT_EQ(Find({Tx(1).Read("r1", "-").Write("r1", "1.0").Undo(1).Read("r1", "1.0")}), "internal inconsistency");
}

// ---- Anomalies of a single read ----

TEST(IsolationCheckerTest, AbortedReadsAreFound) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Ends(Outcome::kAborted), Tx(2).Read("r1", "1.0")}), "G1a");
  EXPECT_EQ(Find({Tx(1).Append("l1", "-", "[1.0]").Ends(Outcome::kAborted), Tx(2).Read("l1", "[1.0]")}), "G1a");
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Undo(0).Write("r2", "1.1"), Tx(2).Read("r1", "1.0")}), "G1a");
  // A prepared transaction is not committed.
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Prepared(5, 6, true), Tx(2).Read("r1", "1.0")}), "G1a");
}

TEST(IsolationCheckerTest, IntermediateReadsAreFound) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Write("r1", "1.1"), Tx(2).Read("r1", "1.0")}), "G1b");
  EXPECT_EQ(Find({Tx(1).Append("l1", "-", "[1.0]").Append("l1", "[1.0]", "[1.0,1.1]"), Tx(2).Read("l1", "[1.0]")}),
            "G1b");
}

TEST(IsolationCheckerTest, ReadsOfWhatNobodyHasWrittenAreFound) {
  EXPECT_EQ(Find({Tx(2).Read("r1", "1.0")}), "read of what nobody has written");
  EXPECT_EQ(Find({Tx(1).Write("r2", "1.0"), Tx(2).Read("r1", "1.0")}), "read of what nobody has written");
  EXPECT_EQ(Find({Tx(2).Read("r1", "-")}, {{"r1", "1.0"}}), "read of nothing at r1");
  EXPECT_EQ(Find({Tx(9).Read("l1", "[1.0]")}, {{"l1", "[1.0,2.0]"}}), "read of an old or unknown state");
}

TEST(IsolationCheckerTest, InternalInconsistencyIsFound) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Read("r1", "-")}), "internal inconsistency");
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0"), Tx(2, kSi).Read("r1", "-").Read("r1", "1.0")}), "internal inconsistency");
  EXPECT_EQ(Find({Tx(1).Delete("m1", "1.0").Read("m1", "9.0")}, {{"m1", "9.0"}}), "internal inconsistency");
}

// ---- Anomalies of two writes ----

TEST(IsolationCheckerTest, LostUpdatesAreFound) {
  const std::vector<Tx> registers = {Tx(1).Read("r1", "-").Write("r1", "1.0"),
                                     Tx(2).Read("r1", "-").Write("r1", "2.0")};
  EXPECT_EQ(Find(registers), "lost update");
  EXPECT_EQ(Find({Tx(1, kSi).Append("l1", "-", "[1.0]"), Tx(2, kSi).Append("l1", "-", "[2.0]")}), "lost update");
  EXPECT_EQ(
      Find({Tx(1).Read("m1", "9.0").Delete("m1", "1.0"), Tx(2).Read("m1", "9.0").Write("m1", "2.0")}, {{"m1", "9.0"}}),
      "lost update");
}

TEST(IsolationCheckerTest, ListsThatContradictEachOtherAreFound) {
  EXPECT_EQ(Find({Tx(1).Append("l1", "-", "[1.0]"), Tx(2).Write("l1", "[1.0,2.0]"), Tx(3).Write("l1", "[1.0,3.0]"),
                  Tx(4).Read("l1", "[1.0,2.0]"), Tx(5).Read("l1", "[1.0,3.0]")}),
            "lists that contradict each other at l1");
}

// ---- Cycles ----

TEST(IsolationCheckerTest, CyclesOfWritesAreFound) {
  const std::vector<Tx> all = {Tx(1).Write("l1", "[1.0]").Write("l2", "[2.1,1.1]"),
                               Tx(2).Write("l1", "[1.0,2.0]").Write("l2", "[2.1]")};
  EXPECT_EQ(Find(all), "G0");
}

TEST(IsolationCheckerTest, CyclesOfReadsAreFound) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Read("r2", "2.0"), Tx(2).Write("r2", "2.0").Read("r1", "1.0")}), "G1c");
  EXPECT_EQ(
      Find({Tx(1, kSi).Write("l1", "[1.0]").Read("l2", "[2.0]"), Tx(2, kSi).Write("l2", "[2.0]").Read("l1", "[1.0]")}),
      "G1c");
}

// It reads one key before and one key after another transaction.
TEST(IsolationCheckerTest, ReadSkewIsFoundAtBothLevels) {
  for (const Level level : {Level::kSnapshot, Level::kSerializable}) {
    EXPECT_EQ(
        Find({Tx(1, level).Write("r1", "1.0").Write("r2", "1.1"), Tx(2, level).Read("r1", "1.0").Read("r2", "-")}),
        "G-single");
    EXPECT_EQ(Find({Tx(1, level).Append("l1", "-", "[1.0]").Append("l2", "-", "[1.1]"),
                    Tx(2, level).Read("l1", "-").Read("l2", "[1.1]")}),
              "G-single");
  }
}

// A transaction that rolls back has read at its snapshot all the same.
TEST(IsolationCheckerTest, ReadSkewOfARolledBackSnapshotIsFound) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Write("r2", "1.1"),
                  Tx(2, kSi).Read("r1", "1.0").Read("r2", "-").Ends(Outcome::kAborted)}),
            "G-single");
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Write("r2", "1.1"),
                  Tx(2).Read("r1", "1.0").Read("r2", "-").Ends(Outcome::kAborted)}),
            "");
}

TEST(IsolationCheckerTest, WriteSkewIsFoundUnlessTheLevelAllowsIt) {
  const auto skew = [](Level level) {
    return std::vector<Tx>{Tx(1, level).Read("r1", "-").Read("r2", "-").Write("r1", "1.0"),
                           Tx(2, level).Read("r1", "-").Read("r2", "-").Write("r2", "2.0")};
  };
  EXPECT_EQ(Find(skew(Level::kSerializable)), "G2-item");
  EXPECT_EQ(Find(skew(Level::kSnapshot)), "");
  // One that is serializable is not enough, because the other one has not read for update.
  std::vector<Tx> mixed = skew(Level::kSnapshot);
  mixed[0] = skew(Level::kSerializable)[0];
  EXPECT_EQ(Find(mixed), "");
}

// Two readers see two independent writes in different orders.
TEST(IsolationCheckerTest, ALongForkIsFoundAtBothLevels) {
  for (const Level level : {Level::kSnapshot, Level::kSerializable}) {
    EXPECT_EQ(Find({Tx(1, level).Write("r1", "1.0"), Tx(2, level).Write("r2", "2.0"),
                    Tx(3, level).Read("r1", "1.0").Read("r2", "-"), Tx(4, level).Read("r1", "-").Read("r2", "2.0")}),
              "G-nonadjacent");
  }
}

TEST(IsolationCheckerTest, ADeleteIsAVersion) {
  const Values base = {{"m1", "9.0"}, {"r1", "9.1"}};
  EXPECT_EQ(Find({Tx(10).Read("m1", "9.0").Delete("m1", "10.0"), Tx(11).Read("m1", "-")}, base), "");
  EXPECT_EQ(Find({Tx(10).Read("m1", "9.0").Delete("m1", "10.0").Read("r1", "9.1").Write("r1", "10.1"),
                  Tx(11, kSi).Read("m1", "-").Read("r1", "9.1")},
                 base),
            "G-single");
}

// ---- Real time ----

TEST(IsolationCheckerTest, AStaleReadIsFoundInRealTime) {
  const std::vector<Tx> stale = {Tx(1).Write("r1", "1.0").At(1, 2, 3, 4), Tx(2, kSi).Read("r1", "-").At(5, 6, 7, 8)};
  EXPECT_EQ(FindAnomaly(HistoryOf(stale)).substr(0, 55), "G-single, a cycle with one anti-dependency, in real tim");
  std::vector<Tx> session = stale;
  session[0].In(3);
  session[1].In(3);
  EXPECT_NE(FindAnomaly(HistoryOf(session)).find("in a session"), std::string::npos);
  // A snapshot that was taken before the commit has returned may miss it.
  EXPECT_EQ(Find({stale[0], Tx(2, kSi).Read("r1", "-").At(2, 5, 7, 8)}), "");
  // A serializable one takes effect when it commits.
  EXPECT_EQ(Find({stale[0], Tx(2).Read("r1", "-").At(1, 2, 7, 8)}), "G-single");
}

// Three transactions with the calls one after the other: the cycle goes over a chain of calls.
TEST(IsolationCheckerTest, RealTimeIsTransitive) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").At(1, 2, 3, 4), Tx(2).Write("r2", "2.0").At(5, 6, 7, 8),
                  Tx(3).Read("r1", "-").At(9, 10, 11, 12)}),
            "G-single");
}

// ---- Commits that are in doubt ----

TEST(IsolationCheckerTest, ACommitInDoubtCountsOnceItWasRead) {
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Ends(Outcome::kUnknown), Tx(2).Read("r1", "1.0")}), "");
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Write("r2", "1.1").Ends(Outcome::kUnknown),
                  Tx(2).Read("r1", "1.0").Read("r2", "-")}),
            "G-single");
  EXPECT_EQ(Find({Tx(1).Write("r1", "1.0").Ends(Outcome::kUnknown), Tx(2).Read("r1", "-")}), "");
}

// ---- Reports ----

TEST(IsolationCheckerTest, TheSmallestCycleIsReportedWithItsEdges) {
  // Transactions 4, 5 and 6 form a cycle of three, 1 and 2 one of two.
  const std::string report =
      FindAnomaly(HistoryOf({Tx(4).Read("r4", "-").Write("r5", "4.0"), Tx(5).Read("r5", "-").Write("r6", "5.0"),
                             Tx(6).Read("r6", "-").Write("r4", "6.0"), Tx(1).Read("r1", "-").Write("r2", "1.0"),
                             Tx(2).Read("r2", "-").Write("r1", "2.0")}));
  EXPECT_NE(
      report.find("transaction 1 before transaction 2: rw, transaction 1 has read r1 without what transaction 2 has "
                  "written there"),
      std::string::npos)
      << report;
  EXPECT_NE(report.find("transaction 2 before transaction 1: rw"), std::string::npos) << report;
  EXPECT_NE(report.find("tx 1 thread 1 serializable - call 1 return 1000 - commit 2 : r r1 - w r2 1.0"),
            std::string::npos)
      << report;
  EXPECT_EQ(report.find("tx 4"), std::string::npos) << report;
}

// ---- What a crash leaves ----

std::string WrongAfter(const std::vector<Tx>& all, const LifeEnd& end, const State& found, const Values& base = {}) {
  const std::string wrong = CheckLife(HistoryOf(all, base), end, found);
  return wrong.substr(0, wrong.find_first_of(",:\n"));
}

const LifeEnd kKill{false, 100};
const LifeEnd kCut{true, 100};
const Tx kFirst = Tx(1).Read("r1", "-").Write("r1", "1.0").At(1, 2, 3, 4);
const Tx kSecond = Tx(2).Read("r1", "1.0").Write("r1", "2.0").At(5, 6, 7, 8);

TEST(IsolationCheckerTest, AKillLosesNothing) {
  EXPECT_EQ(WrongAfter({kFirst, kSecond}, kKill, Contents({{"r1", "2.0"}}, {1, 2})), "");
  EXPECT_EQ(WrongAfter({kFirst, kSecond}, kKill, Contents({{"r1", "1.0"}}, {1})), "a committed transaction is lost");
  EXPECT_EQ(WrongAfter({kFirst}, kKill, Contents({{"r1", "-"}}, {1})), "after the life");
  // Acknowledged after the end, so in doubt.
  const Tx late = Tx(2).Read("r1", "1.0").Write("r1", "2.0").At(5, 6, 99, 101);
  EXPECT_EQ(WrongAfter({kFirst, late}, kKill, Contents({{"r1", "1.0"}}, {1})), "");
}

TEST(IsolationCheckerTest, ACutLosesOnlyASuffixThatWasNotSynced) {
  EXPECT_EQ(WrongAfter({kFirst, kSecond}, kCut, Contents({{"r1", "1.0"}}, {1})), "");
  EXPECT_EQ(WrongAfter({kFirst, kSecond}, kCut, Contents({})), "");
  EXPECT_EQ(WrongAfter({kFirst, Tx(kSecond).Synced()}, kCut, Contents({{"r1", "1.0"}}, {1})),
            "a committed transaction is lost");
  // 4 was committed later than 3, which is lost.
  const std::vector<Tx> apart = {Tx(3).Write("r3", "3.0").At(1, 2, 3, 4), Tx(4).Write("r4", "4.0").At(5, 6, 7, 8)};
  EXPECT_EQ(WrongAfter(apart, kCut, Contents({{"r4", "4.0"}}, {4})), "not a prefix");
  EXPECT_EQ(WrongAfter(apart, kCut, Contents({{"r3", "3.0"}}, {3})), "");
  // At the same time, but 6 has read what 5 has written.
  const std::vector<Tx> after = {Tx(5).Write("r5", "5.0"), Tx(6).Read("r5", "5.0").Write("r6", "6.0")};
  EXPECT_EQ(WrongAfter(after, kCut, Contents({{"r6", "6.0"}}, {6})), "after the life");
}

TEST(IsolationCheckerTest, ASyncOfTheLogCoversWhatWasAcknowledgedBefore) {
  History history = HistoryOf({kFirst, kSecond});
  history.syncs.push_back({6, 7});
  EXPECT_EQ(CheckLife(history, kCut, Contents({{"r1", "1.0"}}, {1})), "");
  EXPECT_NE(CheckLife(history, kCut, Contents({})), "");
}

TEST(IsolationCheckerTest, ATransactionIsThereAsAWholeOrNotAtAll) {
  const Tx both = Tx(1).Write("r1", "1.0").Write("r2", "1.1").Ends(Outcome::kUnknown);
  EXPECT_EQ(WrongAfter({both}, kCut, Contents({{"r1", "1.0"}, {"r2", "1.1"}}, {1})), "");
  EXPECT_EQ(WrongAfter({both}, kCut, Contents({})), "");
  EXPECT_EQ(WrongAfter({both}, kCut, Contents({{"r1", "1.0"}}, {1})), "after the life");
  EXPECT_EQ(WrongAfter({both}, kCut, Contents({{"r1", "1.0"}, {"r2", "1.1"}})), "after the life");
}

TEST(IsolationCheckerTest, NothingComesBackAndNothingOfEarlierLivesGoes) {
  EXPECT_EQ(WrongAfter({Tx(1).Write("r1", "1.0").Ends(Outcome::kAborted)}, kKill, Contents({{"r1", "1.0"}}, {1})),
            "a transaction that was not committed is there");
  EXPECT_EQ(WrongAfter({}, kKill, Contents({}, {7})), "transaction 7 was lost or rolled back");
  EXPECT_EQ(WrongAfter({}, kKill, Contents({}), {{"r1", "1.0"}}), "after the life");
  History history = HistoryOf({});
  history.base.receipts = {5};
  EXPECT_EQ(CheckLife(history, kCut, Contents({})), "transaction 5 of an earlier life is lost");
}

TEST(IsolationCheckerTest, PreparedTransactionsStayUntilTheyEnd) {
  const Tx prepared = Tx(1).Write("r1", "1.0").Prepared(3, 4, true);
  State found = Contents({});
  found.prepared = {1};
  EXPECT_EQ(WrongAfter({prepared}, kCut, found), "");
  EXPECT_EQ(WrongAfter({prepared}, kCut, Contents({})), "a prepared transaction is lost");
  EXPECT_EQ(WrongAfter({Tx(1).Write("r1", "1.0").Prepared(3, 4, false)}, kCut, Contents({})), "");
  EXPECT_EQ(WrongAfter({Tx(1).Write("r1", "1.0").At(1, 2, 5, 6)}, kKill, found), "a committed transaction is lost");
  State both = Contents({{"r1", "1.0"}}, {1});
  both.prepared = {1};
  EXPECT_EQ(WrongAfter({prepared}, kCut, both), "a transaction is committed");
  EXPECT_EQ(WrongAfter({}, kCut, found), "transaction 1 is prepared");
}

// ---- The text form ----

TEST(IsolationCheckerTest, LinesAreReadBackAsTheyWereWritten) {
  const TxRecord record = Tx(7, kSi).Append("l1", "-", "[7.0]").Delete("m1", "7.1").Undo(2).At(1, 2, 3, 4).record();
  History history;
  EXPECT_EQ(ParseLines(ToText(record) + "\ncommitted 7 4\nsynced 5 6\naborted 7", &history), "");
  ASSERT_EQ(history.transactions.size(), 1u);
  EXPECT_EQ(ToText(history.transactions[0]), ToText(record));
  EXPECT_EQ(history.transactions[0].commit_return, 4u);
  EXPECT_EQ(history.transactions[0].outcome, Outcome::kCommitted);  // the last line was cut off
  ASSERT_EQ(history.syncs.size(), 1u);
  EXPECT_EQ(ParseLines("tx 8 thread\n", &history), "tx 8 thread");
  EXPECT_EQ(ParseLines("committed 9 4\n", &history), "committed 9 4");
}

TEST(IsolationCheckerTest, LinesOfTwoPhasesAreReadBack) {
  const std::string lines =
      "tx 7 thread 0 serializable - call 1 return 2 sync commit - : w r1 7.0\n"
      "prepare 7 call 3 sync\nprepared 7 4\n";
  History history;
  EXPECT_EQ(ParseLines(lines, &history), "");
  EXPECT_EQ(history.transactions[0].outcome, Outcome::kPrepared);
  EXPECT_EQ(history.transactions[0].prepare_return, 4u);
  EXPECT_EQ(ParseLines("commit 7 5\n", &history), "");
  EXPECT_EQ(history.transactions[0].outcome, Outcome::kUnknown);
  EXPECT_EQ(history.transactions[0].commit_call, 5u);
}

}  // namespace
}  // namespace cambium::testing::isolation_checker_test
