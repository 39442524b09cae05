#include "util/epoch.h"

#include <pthread.h>

#include <cassert>
#include <chrono>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "util/fork_guard.h"
#include "util/mutant.h"
#include "util/mutex.h"

namespace cambium {
namespace epoch_internal {

constinit std::atomic<std::uint64_t> current_epoch{1};
constinit thread_local Slot* this_thread = nullptr;

namespace {

constinit std::atomic<Slot*> slots{nullptr};  // new slots are pushed at the head only
constinit thread_local bool thread_ending = false;

// Gives the slots of the other threads back: the child does not have these threads, so they would never leave.
void AfterForkInChild() {
  for (Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot == this_thread) continue;
    slot->entered.store(0, std::memory_order_relaxed);
    slot->depth = 0;
    slot->give_back_on_leave = false;
    slot->owned.store(false, std::memory_order_relaxed);
  }
}

const bool registered = [] {
  ::pthread_atfork(nullptr, nullptr, AfterForkInChild);
  return true;
}();

// Gives the thread's slot back when the thread ends.
struct Hook {
  ~Hook() {
    thread_ending = true;
    if (this_thread != nullptr && this_thread->depth == 0) GiveBack();
  }
};

Slot* TakeSlot() {
  static_cast<void>(registered);
  for (Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    bool owned = false;
    if (slot->owned.compare_exchange_strong(owned, true, std::memory_order_acq_rel)) return slot;
  }
  Slot* const slot = new Slot;
  slot->next = slots.load(std::memory_order_relaxed);
  // Sequentially consistent: a scan that misses the new slot comes before the next accesses of the slot's owner.
  while (!slots.compare_exchange_weak(slot->next, slot, std::memory_order_seq_cst)) {
  }
  return slot;
}

}  // namespace

Slot* Adopt() {
  this_thread = TakeSlot();
  // Destructors of other thread-local objects may run after our hook and enter once more.
  this_thread->give_back_on_leave = thread_ending;
  if (!thread_ending) {
    static thread_local Hook hook;
    (void)&hook;
  }
  return this_thread;
}

void GiveBack() {
  Slot* const slot = this_thread;
  assert(slot->depth == 0);
  this_thread = nullptr;
  slot->owned.store(false, std::memory_order_release);
}

std::size_t SlotCount() {
  std::size_t count = 0;
  for (const Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) ++count;
  return count;
}

namespace {

// Returns an epoch such that no reader can reach an object that was retired in an earlier epoch. It is the smallest
// epoch in which a thread that is now inside entered, but at most the epoch when this scan began: objects retired later
// need another scan.
std::uint64_t OldestInUse() {
  std::uint64_t oldest = current_epoch.load(std::memory_order_seq_cst);
  if (MutantIs(Mutant::kReclaimUnderReaders)) return oldest;
  for (const Slot* slot = slots.load(std::memory_order_seq_cst); slot != nullptr; slot = slot->next) {
    const std::uint64_t entered = slot->entered.load(std::memory_order_seq_cst);
    if (entered != 0 && entered < oldest) oldest = entered;
  }
  return oldest;
}

struct Queue {
  Mutex mutex;
  std::list<Retired> waiting CAMBIUM_GUARDED_BY(mutex);  // by ascending epoch
  // Epochs of entries that EpochCollect has taken but not finished.
  std::vector<std::uint64_t> running CAMBIUM_GUARDED_BY(mutex);
};
Queue& TheQueue() {
  static constinit PerProcess<Queue> queue;
  return queue.Get();
}

}  // namespace
}  // namespace epoch_internal

using epoch_internal::TheQueue;

void EpochRetirement::Retire() noexcept {
  assert(entry_.size() == 1);
  auto& queue = TheQueue();
  const MutexLock lock(queue.mutex);  // held across the raise, so epochs ascend along the queue
  entry_.front().epoch = epoch_internal::current_epoch.fetch_add(1, std::memory_order_seq_cst);
  queue.waiting.splice(queue.waiting.end(), entry_);
}

void EpochRetire(std::function<void()> reclaim) { EpochRetirement(std::move(reclaim)).Retire(); }

std::size_t EpochCollect() {
  auto& queue = TheQueue();
  std::size_t count = 0;
  std::uint64_t oldest_in_use = 0;
  for (;;) {
    epoch_internal::Retired due;
    {
      const MutexLock lock(queue.mutex);
      if (queue.waiting.empty()) return count;
      if (queue.waiting.front().epoch >= oldest_in_use) oldest_in_use = epoch_internal::OldestInUse();
      if (queue.waiting.front().epoch >= oldest_in_use) return count;
      try {
        queue.running.push_back(queue.waiting.front().epoch);
      } catch (const std::bad_alloc&) {
        return count;  // a later call goes on
      }
      due = std::move(queue.waiting.front());
      queue.waiting.pop_front();
    }
    due.reclaim();
    due.reclaim = nullptr;
    const MutexLock lock(queue.mutex);
    [[maybe_unused]] const std::size_t ended = std::erase(queue.running, due.epoch);
    assert(ended == 1);
    ++count;
  }
}

void EpochDrain() {
  assert(!EpochInside());
  auto& queue = TheQueue();
  const std::uint64_t end = epoch_internal::current_epoch.load(std::memory_order_seq_cst);
  for (;;) {
    EpochCollect();
    {
      const MutexLock lock(queue.mutex);
      bool done = queue.waiting.empty() || queue.waiting.front().epoch >= end;
      for (const std::uint64_t epoch : queue.running) done = done && epoch >= end;
      if (done) return;
    }
    // Polls: guards are short, and a notification on leaving would cost every reader.
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

std::size_t EpochPending() {
  auto& queue = TheQueue();
  const MutexLock lock(queue.mutex);
  return queue.waiting.size() + queue.running.size();
}

}  // namespace cambium
