// KeyLocks::WaitScope: ends a wait that was entered in the graph of waits.
#pragma once

#include "transactions/key_locks.h"

namespace cambium {

class KeyLocks::WaitScope {
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
