// Epoch-based reclamation: a reader that follows a shared pointer is *inside* (a critical section) and says so in a
// slot of its own. An object that a writer has unlinked is reclaimed when every reader that was inside at that moment
// has left. Readers write to no shared cache line. The process has one domain.
//
//   { EpochGuard guard; Use(*shared.load(std::memory_order_acquire)); }              // any thread, guards may nest
//
//   View* old = shared.exchange(next);                                               // 1. unlink
//   EpochRetire([old] { delete old; });                                              // 2. retire, locks may be held
//   mutex.unlock(); EpochCollect();                                                  // 3. collect, with no lock held
//
// Why this is safe. After the unlink, EpochRetire raises the global epoch from E to E + 1 and tags its entry with E.
// EpochCollect runs the entry if a scan of the slots after that raise finds each slot either 0 or greater than E.
//  - A slot greater than E: its reader read an epoch above E, hence after the raise, and sees the unlink.
//  - A slot of 0 whose reader has left: the reader's accesses come before its store of 0.
//  - A slot of 0 whose reader is just entering: the reader stores its slot, then loads the global epoch a second time.
//    All four accesses (its store, its second load, the raise, the scan) are sequentially consistent. The scan missed
//    the store, so the second load comes after the raise, reads the raised value, and so the reader sees the unlink.
// The second load replaces a fence, which gcc's ThreadSanitizer does not support; on x86 it is a plain load.
//
// After fork() the child has one thread. It makes the slots of the other threads free to take, whether they were inside
// or not. It never reclaims objects that the parent had retired, because it does not touch the parent's objects.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <utility>

namespace cambium {

namespace epoch_internal {

// Each thread that has been inside has one. When the thread ends, it gives its slot back, and another thread may take
// it. Slots are never deallocated.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> entered{0};  // the epoch in which the owner entered; 0: it is outside
  std::uint32_t depth = 0;                // owner only: the number of nested guards
  bool give_back_on_leave = false;        // owner only: its thread is ending, so leaving is the last chance
  std::atomic<bool> owned{true};
  Slot* next = nullptr;                   // constant once the slot is in the list
};

struct Retired {
  std::uint64_t epoch;
  std::function<void()> reclaim;
};

extern constinit std::atomic<std::uint64_t> current_epoch;
extern constinit thread_local Slot* this_thread;

// Assign a slot to the calling thread, and release it.
Slot* Adopt();
void GiveBack();
// Returns the number of slots: the largest number of threads that had one at the same time.
[[nodiscard]] std::size_t SlotCount();

}  // namespace epoch_internal

// Keeps the calling thread inside for the guard's lifetime. Lives on the stack of one thread. A guard delays the
// reclaiming of memory and blocks nothing else. Keep it short, and do not wait for EpochDrain inside it.
class EpochGuard {
 public:
  EpochGuard() : slot_(epoch_internal::this_thread) {
    if (slot_ == nullptr) slot_ = epoch_internal::Adopt();
    if (slot_->depth++ != 0) return;
    // If this epoch is already out of date, it only delays reclaiming.
    slot_->entered.store(epoch_internal::current_epoch.load(std::memory_order_relaxed), std::memory_order_seq_cst);
    (void)epoch_internal::current_epoch.load(std::memory_order_seq_cst);
  }
  ~EpochGuard() {
    assert(slot_->depth > 0 && slot_ == epoch_internal::this_thread && "a guard lives in one thread");
    if (--slot_->depth != 0) return;
    slot_->entered.store(0, std::memory_order_release);
    if (slot_->give_back_on_leave) epoch_internal::GiveBack();
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  epoch_internal::Slot* slot_;
};

// Returns true if the calling thread is inside.
[[nodiscard]] inline bool EpochInside() {
  return epoch_internal::this_thread != nullptr && epoch_internal::this_thread->depth != 0;
}

// Queues a function. It runs once every thread that was inside when Retire was called has left. The constructor
// allocates the memory, so that nothing can fail between the unlink and Retire. Without Retire, the function is dropped
// and never runs. Retire runs no function, so its caller may be inside and may hold any lock. One thread.
class EpochRetirement {
 public:
  explicit EpochRetirement(std::function<void()> reclaim) { entry_.push_back({0, std::move(reclaim)}); }
  // Call at most once.
  void Retire() noexcept;

 private:
  std::list<epoch_internal::Retired> entry_;  // one, or none after Retire
};

// Makes an EpochRetirement and calls Retire at once, for an object that is unlinked already. Any thread.
void EpochRetire(std::function<void()> reclaim);

// Runs the reclaiming functions that are due, oldest first, in this thread. Holds no lock of this module meanwhile, so
// the functions may retire, collect and enter. The caller holds no lock that they may take. Returns how many ran. Any
// thread, several at once.
std::size_t EpochCollect();

// Returns when everything that was retired before the call has been reclaimed, by this thread or others. Waits for
// threads that are inside. Must not be called from within a guard or a reclaiming function.
void EpochDrain();

// Returns the number of retired functions that have not finished.
[[nodiscard]] std::size_t EpochPending();

}  // namespace cambium
