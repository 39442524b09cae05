#include "transactions/wait_graph.h"

#include <algorithm>
#include <utility>

namespace cambium {

bool WaitGraph::Begin(TransactionID waiter, Wait wait, std::int64_t depth, std::int64_t now_seconds) {
  const MutexLock lock(mutex_);
  if (depth <= 0) {
    waits_.insert_or_assign(waiter, std::move(wait));
    return true;
  }
  // A breadth-first search. Each step remembers from which step it came, for the path.
  struct Step {
    TransactionID id;
    std::size_t from;
  };
  std::vector<Step> steps;
  for (const TransactionID holder : wait.holders) steps.push_back({holder, 0});
  std::unordered_map<TransactionID, bool> seen;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (steps[at].id == waiter) {
      DeadlockPath path;
      path.deadlock_time = now_seconds;
      path.path.push_back({waiter, wait.family, wait.exclusive, wait.key});
      std::vector<DeadlockInfo> behind;
      for (std::size_t step = at; steps[step].from != 0;) {
        step = steps[step].from - 1;
        const Wait& its = waits_.at(steps[step].id);
        behind.push_back({steps[step].id, its.family, its.exclusive, its.key});
      }
      path.path.insert(path.path.end(), behind.rbegin(), behind.rend());
      Remember(std::move(path));
      return false;
    }
    if (!seen.try_emplace(steps[at].id, true).second) continue;
    if (seen.size() > static_cast<std::size_t>(depth)) {
      DeadlockPath path;
      path.deadlock_time = now_seconds;
      path.limit_exceeded = true;
      Remember(std::move(path));
      return false;
    }
    const auto found = waits_.find(steps[at].id);
    if (found == waits_.end()) continue;
    for (const TransactionID holder : found->second.holders) steps.push_back({holder, at + 1});
  }
  waits_.insert_or_assign(waiter, std::move(wait));
  return true;
}

void WaitGraph::End(TransactionID waiter) {
  const MutexLock lock(mutex_);
  waits_.erase(waiter);
}

void WaitGraph::NoteReleased(TransactionID holder, std::uint32_t family, Slice key) {
  const MutexLock lock(mutex_);
  for (auto& [waiter, wait] : waits_) {
    const bool is_for_it = wait.family == family && !wait.for_range && Slice(wait.key) == key;
    if (is_for_it) std::erase(wait.holders, holder);
  }
}

void WaitGraph::NoteRangeReleased(TransactionID holder, std::uint32_t family) {
  const MutexLock lock(mutex_);
  for (auto& [waiter, wait] : waits_) {
    if (wait.family == family && wait.for_range) std::erase(wait.holders, holder);
  }
}

bool WaitGraph::Find(TransactionID waiter, Wait* wait) const {
  const MutexLock lock(mutex_);
  const auto found = waits_.find(waiter);
  if (found == waits_.end()) return false;
  *wait = found->second;
  return true;
}

void WaitGraph::Remember(DeadlockPath path) {
  if (remembered_max_ == 0) return;
  deadlocks_.push_front(std::move(path));
  if (deadlocks_.size() > remembered_max_) deadlocks_.pop_back();
}

std::vector<DeadlockPath> WaitGraph::Deadlocks() const {
  const MutexLock lock(mutex_);
  return {deadlocks_.begin(), deadlocks_.end()};
}

void WaitGraph::SetRememberedMax(std::size_t count) {
  const MutexLock lock(mutex_);
  remembered_max_ = count;
  if (deadlocks_.size() > count) deadlocks_.resize(count);
}

}  // namespace cambium
