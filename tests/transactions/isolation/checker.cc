#include "transactions/isolation/checker.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "transactions/isolation/accesses.h"
#include "transactions/isolation/cycle_search.h"
#include "transactions/isolation/dependency_graph.h"

namespace cambium::testing::isolation {
namespace {

std::string Describe(const Step& step, const History& history) {
  const std::string from = NameOf(history.transactions[TransactionOf(step.from)]);
  const std::string to = NameOf(history.transactions[TransactionOf(step.edge.to)]);
  std::string text = "\n  " + from + " before " + to + ": ";
  switch (step.edge.kind) {
    case Dependency::kInside:
      return "";
    case Dependency::kWw:
      return text + "ww, " + to + " has written a later version of " + *step.edge.key;
    case Dependency::kWr:
      return text + "wr, " + to + " has read what " + from + " has written at " + *step.edge.key;
    case Dependency::kRw:
      return text + "rw, " + from + " has read " + *step.edge.key + " without what " + to + " has written there";
    case Dependency::kRealTime:
      return text + "the call of " + from + " had returned before the call of " + to;
  }
  return text;
}

std::string DescribeCycle(const Cycle& cycle, const History& history) {
  std::vector<std::uint32_t> threads;
  for (const TxRecord& each : history.transactions) threads.push_back(each.thread);
  std::string text = NameOf(cycle, threads);
  std::set<std::uint32_t> involved;
  for (const Step& step : cycle) {
    text += Describe(step, history);
    involved.insert(TransactionOf(step.from));
  }
  for (const std::uint32_t tx : involved) {
    if (history.transactions[tx].id == kNextLife) continue;
    text += "\n  " + ToText(history.transactions[tx]) + " returned " +
            std::to_string(history.transactions[tx].commit_return);
  }
  return text;
}

// What must hold for the transactions of a life after its end.
class LifeCheck {
 public:
  LifeCheck(const History& history, const LifeEnd& end, const State& found)
      : history_(history), end_(end), found_(found) {}

  std::string Run() {
    for (const std::uint64_t id : history_.base.receipts) {
      if (!found_.receipts.contains(id)) return "transaction " + std::to_string(id) + " of an earlier life is lost";
    }
    std::set<std::uint64_t> known = history_.base.receipts;
    for (const TxRecord& tx : history_.transactions) {
      known.insert(tx.id);
      const std::string wrong = Judge(tx);
      if (!wrong.empty()) return wrong + "\n  " + ToText(tx) + "\n  " + EndText();
    }
    for (const std::uint64_t id : found_.receipts) {
      if (!known.contains(id))
        return "transaction " + std::to_string(id) + " was lost or rolled back, and is there again";
    }
    for (const std::uint64_t id : found_.prepared) {
      if (!known.contains(id)) return "transaction " + std::to_string(id) + " is prepared, and nobody has prepared it";
    }
    std::string wrong = CheckPrefix();
    return wrong.empty() ? CheckContents() : wrong;
  }

 private:
  [[nodiscard]] static bool Writes(const TxRecord& tx) {
    return std::any_of(tx.ops.begin(), tx.ops.end(), [](const Op& op) {
      return (op.kind == Op::Kind::kWrite || op.kind == Op::Kind::kDelete) && !op.is_undone;
    });
  }
  [[nodiscard]] std::string EndText() const {
    return (end_.is_copy      ? "the copy was begun at "
            : end_.lost_power ? "the power was lost at "
                              : "the life ended at ") +
           (end_.at == kNever ? "its end" : std::to_string(end_.at));
  }
  // Whether what a call has written must be there, if the call has returned OK at this moment.
  [[nodiscard]] bool MustBeThere(Time returned, bool synced) const {
    if (returned == kNever || returned >= end_.at) return false;
    if (!end_.lost_power || synced) return true;
    return std::any_of(history_.syncs.begin(), history_.syncs.end(),
                       [&](const SyncCall& sync) { return sync.call > returned && sync.called_back < end_.at; });
  }
  // What is wrong with a transaction, or "".
  std::string Judge(const TxRecord& tx) const {
    const bool is_there = found_.receipts.contains(tx.id);
    const bool is_prepared = found_.prepared.contains(tx.id);
    if (is_there && is_prepared) return "a transaction is committed, and still prepared";
    const bool is_committed = tx.outcome == Outcome::kCommitted && MustBeThere(tx.commit_return, tx.is_synced);
    if (is_committed && Writes(tx) && !is_there) return "a committed transaction is lost";
    if (is_committed && is_prepared) return "a committed transaction is still prepared";
    const bool may_be_there = tx.outcome == Outcome::kCommitted || tx.outcome == Outcome::kUnknown;
    if (is_there && !may_be_there) return "a transaction that was not committed is there";
    if (is_prepared && tx.prepare_call == kNever) return "a transaction is prepared that was not";
    const bool is_withdrawn = tx.outcome == Outcome::kAborted && tx.rollback_call != kNever;
    if (is_prepared && is_withdrawn && MustBeThere(tx.commit_return, tx.is_synced)) {
      return "a transaction that was rolled back is still prepared";
    }
    const bool must_be_prepared = MustBeThere(tx.prepare_return, tx.is_prepare_synced) && tx.rollback_call == kNever;
    if (must_be_prepared && !is_prepared && !is_there) return "a prepared transaction is lost";
    return "";
  }

  // What returned before a surviving commit began was committed before it, and so it survives too.
  std::string CheckPrefix() const {
    const TxRecord* last = nullptr;
    for (const TxRecord& tx : history_.transactions) {
      if (!found_.receipts.contains(tx.id) || tx.commit_call == kNever) continue;
      if (last == nullptr || tx.commit_call > last->commit_call) last = &tx;
    }
    for (const TxRecord& tx : history_.transactions) {
      const bool is_lost = tx.outcome == Outcome::kCommitted && Writes(tx) && !found_.receipts.contains(tx.id);
      if (!is_lost || last == nullptr || tx.commit_return >= last->commit_call) continue;
      return "not a prefix: a transaction is lost, and one that was committed later is there\n  " + ToText(tx) +
             "\n  " + ToText(*last);
    }
    return "";
  }

  // A reader that comes after all others has seen what was found. The lost ones count as rolled back.
  std::string CheckContents() const {
    History rest;
    rest.base = history_.base;
    std::set<std::string> keys;
    Time last = 0;
    for (const TxRecord& tx : history_.transactions) {
      TxRecord& copy = rest.transactions.emplace_back(tx);
      const bool is_there = found_.receipts.contains(tx.id) || (tx.outcome == Outcome::kCommitted && !Writes(tx));
      copy.outcome = is_there ? Outcome::kCommitted : Outcome::kAborted;
      // A reader may have read from one that is lost.
      if (!found_.receipts.contains(tx.id) && (end_.lost_power || end_.is_copy)) Forget(&copy);
      for (const Op& op : tx.ops) {
        if (op.kind != Op::Kind::kUndo) keys.insert(op.key);
      }
      for (const Time time : {tx.begin_return, copy.commit_call, copy.commit_return, end_.at}) {
        if (time != kNever) last = std::max(last, time);
      }
    }
    for (TxRecord& copy : rest.transactions) {
      const bool is_unknown = copy.outcome == Outcome::kCommitted && copy.commit_return == kNever;
      if (is_unknown) copy.commit_return = last + 1;
    }
    TxRecord& reader = rest.transactions.emplace_back();
    reader.id = kNextLife;
    reader.begin_call = reader.commit_call = last + 2;
    reader.begin_return = reader.commit_return = last + 3;
    reader.outcome = Outcome::kCommitted;
    for (const auto& [key, value] : history_.base.values) keys.insert(key);
    for (const auto& [key, value] : found_.values) keys.insert(key);
    for (const std::string& key : keys) {
      const auto value = found_.values.find(key);
      reader.ops.push_back({Op::Kind::kRead, key, value == found_.values.end() ? Value{} : value->second, false});
    }
    const std::string anomaly = FindAnomaly(rest);
    return anomaly.empty() ? "" : "after the life: " + anomaly + "\n  " + EndText();
  }
  static void Forget(TxRecord* tx) {
    tx->sees_snapshot = false;
    tx->outcome = Outcome::kAborted;
    std::erase_if(tx->ops, [](const Op& op) { return op.kind == Op::Kind::kRead; });
  }

  const History& history_;
  const LifeEnd& end_;
  const State& found_;
};

}  // namespace

std::string FindAnomaly(const History& history) {
  const Accesses accesses = FindAccesses(history);
  if (!accesses.anomaly.empty()) return accesses.anomaly;
  const Cycle cycle = FindSmallestCycle(MakeGraph(history, accesses));
  return cycle.empty() ? "" : DescribeCycle(cycle, history);
}

std::string CheckEnd(const History& history, const LifeEnd& end, const State& found) {
  return LifeCheck(history, end, found).Run();
}

std::string CheckLife(const History& history, const LifeEnd& end, const State& found) {
  std::string anomaly = FindAnomaly(history);
  return anomaly.empty() ? CheckEnd(history, end, found) : anomaly;
}

}  // namespace cambium::testing::isolation
