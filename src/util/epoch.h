// Epoch-based reclamation: a reader that follows a shared pointer says "I am inside" in a word of its own; what a writer
// has unlinked goes when everyone who was inside at that moment has left. Readers share no cache line they write.
// One domain for the process.
//
//   { EpochGuard guard; Use(*shared.load(std::memory_order_acquire)); }              // any thread, any depth
//
//   View* old = shared.exchange(next);                                               // 1. unlink
//   EpochRetire([old] { delete old; });                                              // 2. hand over, locks may be held
//   mutex.unlock(); EpochCollect();                                                  // 3. where no lock is held
//
// Why it holds. EpochRetire tags its entry with the epoch E that it read while it raised the global epoch to E + 1, after
// the unlink. EpochCollect may run the entry when, looked at after that, every slot is 0 or greater than E.
//  - A slot greater than E: that reader read an epoch above E, hence after the raise, and sees the unlink.
//  - A slot that was 0 when looked at, of a reader that has left: its accesses come before its store of 0.
//  - A slot that was 0 when looked at, of a reader that is just entering: it stores its slot, then loads the global epoch
//    once more. All four accesses (its store, its second load, the raise, the look) are sequentially consistent. The look
//    missed the store, so the second load comes after the raise, reads it, and so sees the unlink.
// The second load is what spares a fence, which gcc's ThreadSanitizer would not understand; on x86 it is a plain load.
//
// After fork() the child has one thread. The slots of the others are free there, marked as inside or not; and what the
// parent had retired stays with the parent, whose objects the child leaves as they are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace cambium {

namespace epoch_internal {

// One per thread that has ever been inside; handed on when the thread ends, never freed.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> entered{0};  // the epoch in which the owner came in, 0: it is outside
  std::uint32_t depth = 0;                // the owner's: guards within guards
  bool give_back_on_leave = false;        // the owner's: its thread is ending, no later moment will come
  std::atomic<bool> owned{true};
  Slot* next = nullptr;                   // constant once the slot is in the list
};

extern constinit std::atomic<std::uint64_t> current_epoch;
extern constinit thread_local Slot* this_thread;

// Gives the calling thread a slot, and takes it back.
Slot* Adopt();
void GiveBack();
// How many slots there are: as many as there were threads at once.
[[nodiscard]] std::size_t SlotCount();

}  // namespace epoch_internal

// Inside while it lives; on the stack of one thread. What is inside may block others' memory, nothing else: keep it
// short, and do not wait for EpochDrain in it.
class EpochGuard {
 public:
  EpochGuard() : slot_(epoch_internal::this_thread) {
    if (slot_ == nullptr) slot_ = epoch_internal::Adopt();
    if (slot_->depth++ != 0) return;
    // An epoch that is out of date by now only keeps more alive than need be.
    slot_->entered.store(epoch_internal::current_epoch.load(std::memory_order_relaxed), std::memory_order_seq_cst);
    (void)epoch_internal::current_epoch.load(std::memory_order_seq_cst);
  }
  ~EpochGuard() {
    if (--slot_->depth != 0) return;
    slot_->entered.store(0, std::memory_order_release);
    if (slot_->give_back_on_leave) epoch_internal::GiveBack();
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  epoch_internal::Slot* slot_;
};

// True if the calling thread is inside.
[[nodiscard]] inline bool EpochInside() {
  return epoch_internal::this_thread != nullptr && epoch_internal::this_thread->depth != 0;
}

// Queues `reclaim` for when all threads that are inside now have left. Runs nothing itself: the caller may be inside,
// and may hold any lock. Any thread.
void EpochRetire(std::function<void()> reclaim);

// Runs what is due, oldest first, in this thread and outside any lock of this module; so a reclaiming function may
// retire, collect and enter. The caller holds no lock that one of them could want. Returns how many ran. Any thread,
// several at once.
std::size_t EpochCollect();

// Returns when everything that was retired before the call has been run, by whomever; waits for threads that are
// inside. Not from within a guard or a reclaiming function.
void EpochDrain();

// Retired and not yet run.
[[nodiscard]] std::size_t EpochPending();

}  // namespace cambium
