// Client: a thread that makes random transactions, and writes down what it does.
//
// A transaction has one to eight operations, on keys that all clients want (hot) or on others: reads in every way;
// appends to lists; writes of registers, blindly or of what was read; deletes; transfers between accounts; parts that a
// save point undoes. Each one that writes also leaves a *receipt*, a key of its own, so that a look at the receipts
// tells which transactions are in the database. Some wait in between, some are rolled back, deleted or expire, and
// pessimistic ones may be prepared; a prepared one may also be left for the next life.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "transactions/isolation/history.h"
#include "transactions/isolation/store.h"
#include "util/prng.h"

namespace cambium::testing::isolation {

// What the clients of a life share.
struct LifeContext {
  Store* store = nullptr;
  std::uint64_t era = 0;
  bool is_patient = false;                // some transactions stay open longer than flushed memtables are kept for them
  bool claims_serializable = false;       // those with snapshot isolation are written down as serializable
  std::atomic<std::uint64_t> next_id{2};  // of transactions; 1 has set up the database
  std::atomic<Time> clock{1};
  std::atomic<bool> has_ended{false};  // the power is off: calls may fail in any way, and nothing more is done
  // Waits a little, without using the processor.
  std::function<void()> rest;

  [[nodiscard]] Time Now() { return clock.fetch_add(1); }
};

struct Figures {
  std::uint64_t transactions = 0;
  std::uint64_t commits = 0;
  std::uint64_t conflicts = 0;  // refused, timed out or expired
  std::uint64_t try_again = 0;  // of these, those with TryAgain
  std::uint64_t rollbacks = 0;  // asked for, or deleted without an end
  std::uint64_t prepared = 0;
  void Add(const Figures& other) {
    transactions += other.transactions;
    commits += other.commits;
    conflicts += other.conflicts;
    try_again += other.try_again;
    rollbacks += other.rollbacks;
    prepared += other.prepared;
  }
};

// One thread.
class Client {
 public:
  // Passes whole lines to `journal`, each before the next call of the database.
  using Journal = std::function<void(const std::string& line)>;
  Client(LifeContext* life, std::uint32_t thread, std::uint64_t seed, Journal journal)
      : life_(*life), store_(*life->store), thread_(thread), prng_(seed), journal_(std::move(journal)) {}

  // Ends these, which were prepared in an earlier life, some time during Run. Those that are left stay prepared.
  void Take(TransactionPtr recovered) { recovered_.push_back(std::move(recovered)); }
  // Makes this many transactions, or fewer if the life ends.
  void Run(std::uint64_t count);
  // What a call has returned that must not be, or "".
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
  struct Attempt;

  // Functions that return a bool: false if the transaction has failed and is over.
  void RunTransaction();
  void RunPlainBatch();
  void RunConditionalWrite();
  void RunScan();
  void EndRecovered();
  void Begin(Attempt* attempt);
  bool DoOperation(Attempt* attempt);
  bool UndoSomething(Attempt* attempt);
  bool Transfer(Attempt* attempt);
  bool ReadSome(Attempt* attempt);
  bool Change(Attempt* attempt, const std::string& key);
  bool Read(Attempt* attempt, const std::string& key, Value* value, std::int64_t* amount = nullptr);
  bool ReadMany(Attempt* attempt, const std::vector<std::string>& keys);
  // Scans the lists of one family, after tracking their range: a list that does not exist yet is read too.
  bool ReadRange(Attempt* attempt);
  bool Write(Attempt* attempt, const std::string& key, const Value& before, std::int64_t amount);
  bool Delete(Attempt* attempt, const std::string& key);
  void NoteRead(Attempt* attempt, const std::string& key, const Status& s, const std::string& stored, Value* value,
                std::int64_t* amount);
  void End(Attempt* attempt);
  void Commit(Attempt* attempt);
  void CommitInTwoPhases(Attempt* attempt);
  void NoteEnd(std::uint64_t id, const Status& s);
  // True if the call has succeeded. Counts a conflict, and keeps any other error as the problem.
  bool Ok(const Status& s, const char* call);
  [[nodiscard]] Value NextValue(Attempt* attempt, const std::string& key, const Value& before);
  [[nodiscard]] std::string DrawKey();
  // One time in `one_in`, waits until others have done as much as takes this many moments, or nothing more.
  void MayRest(std::uint64_t one_in, Time moments = 400);
  void Tell(const std::string& line) { journal_(line + "\n"); }
  void Tell(const char* what, std::uint64_t id) {
    Tell(std::string(what) + " " + std::to_string(id) + " " + std::to_string(life_.Now()));
  }

  LifeContext& life_;
  Store& store_;
  const std::uint32_t thread_;
  Prng prng_;
  const Journal journal_;
  std::vector<TransactionPtr> recovered_;
  bool has_left_one_ = false;
  std::string problem_;
  Figures figures_;
};

}  // namespace cambium::testing::isolation
