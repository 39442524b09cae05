// WaitGraph: which transaction waits for which. It finds deadlocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/transaction_db.h"
#include "util/mutex.h"

namespace cambium {

// Any thread.
class WaitGraph {
 public:
  // A transaction that waits for a lock.
  struct Wait {
    std::vector<TransactionID> holders;  // of the lock
    std::uint32_t family = 0;
    // The key that holders have locked. With for_range, holders have locked ranges, and this is the key that the waiter
    // wants to lock, or the begin of its range (empty if it is open).
    std::string key;
    bool exclusive = false;
    bool for_range = false;
  };

  explicit WaitGraph(std::size_t remembered_max) : remembered_max_(remembered_max) {}

  // The transaction begins to wait. With a depth above 0, first follows the waits of the holders, through at most
  // `depth` transactions. If they lead back to the waiter, or if there are more, remembers a deadlock and returns
  // false: the waiter must not wait.
  [[nodiscard]] bool Begin(TransactionID waiter, Wait wait, std::int64_t depth, std::int64_t now_seconds);
  void End(TransactionID waiter);
  // The holder has released the lock of the key, so no transaction waits for it there. The waiters do not know it yet.
  void NoteReleased(TransactionID holder, std::uint32_t family, Slice key);
  // The same for a range of the family. A waiter for which the holder has another range too asks again.
  void NoteRangeReleased(TransactionID holder, std::uint32_t family);
  // What the transaction waits for; false: it does not wait.
  [[nodiscard]] bool Find(TransactionID waiter, Wait* wait) const;

  // The newest deadlocks, the newest first.
  [[nodiscard]] std::vector<DeadlockPath> Deadlocks() const;
  void SetRememberedMax(std::size_t count);

 private:
  void Remember(DeadlockPath path) CAMBIUM_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_map<TransactionID, Wait> waits_ CAMBIUM_GUARDED_BY(mutex_);
  std::deque<DeadlockPath> deadlocks_ CAMBIUM_GUARDED_BY(mutex_);
  std::size_t remembered_max_ CAMBIUM_GUARDED_BY(mutex_);
};

// Ends the wait of a transaction at the end of the scope, if it was entered in the graph.
class WaitScope {
 public:
  WaitScope(WaitGraph* graph, TransactionID id) : graph_(*graph), id_(id) {}
  ~WaitScope() { End(); }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;
  void End() {
    if (is_waiting) graph_.End(id_);
    is_waiting = false;
  }
  bool is_waiting = false;

 private:
  WaitGraph& graph_;
  const TransactionID id_;
};

}  // namespace cambium
