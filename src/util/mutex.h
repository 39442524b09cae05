// Mutex, MutexLock, MutexUnlock, CondVar: std::mutex and std::condition_variable with annotations, so that clang checks
// which lock guards what (util/thread_annotations.h). They cost as much as the standard types.
//
//   void Queue::Push(Item item) {
//     {
//       const MutexLock lock(mutex_);
//       items_.push_back(std::move(item));
//     }
//     pushed_.NotifyOne();
//   }
//
//   Item Queue::Pop() {
//     const MutexLock lock(mutex_);
//     while (items_.empty()) pushed_.Wait(mutex_);
//     ...
//   }
//
// A function that is called with the lock held, and releases it for a while, is annotated CAMBIUM_REQUIRES. It names
// the mutex in a MutexUnlock, and does not get the caller's MutexLock:
//
//   Status Queue::MakeRoom() {  // CAMBIUM_REQUIRES(mutex_)
//     while (IsFull()) {
//       const MutexUnlock unlocked(mutex_);  // taken again at the end of the scope, also if WaitForFlush throws
//       CAMBIUM_RETURN_IF_ERROR(WaitForFlush());
//     }
//     ...
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "util/thread_annotations.h"

namespace cambium {

// A Mutex is held by one thread at a time. It is not recursive.
class CAMBIUM_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() CAMBIUM_ACQUIRE() { mutex_.lock(); }
  void Unlock() CAMBIUM_RELEASE() { mutex_.unlock(); }
  // False: another thread holds the mutex, or the attempt failed spuriously.
  [[nodiscard]] bool TryLock() CAMBIUM_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // Tells clang's analysis that the caller holds this mutex, where the analysis cannot see that. Checks nothing at run
  // time.
  void AssertHeld() const CAMBIUM_ASSERT_CAPABILITY(this) {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// A MutexLock holds a mutex for its lifetime. A MutexLock that is not const may release the mutex early, or for a
// while.
class CAMBIUM_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) CAMBIUM_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() CAMBIUM_RELEASE() {
    if (is_held_) mutex_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Lock() CAMBIUM_ACQUIRE() {
    mutex_.Lock();
    is_held_ = true;
  }
  void Unlock() CAMBIUM_RELEASE() {
    is_held_ = false;
    mutex_.Unlock();
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

// A MutexUnlock releases a mutex that the caller holds, and takes it again at the end of its lifetime.
class CAMBIUM_SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) CAMBIUM_RELEASE(mutex) : mutex_(mutex) { mutex_.Unlock(); }
  ~MutexUnlock() CAMBIUM_RELEASE() { mutex_.Lock(); }  // RELEASE is how clang marks the end of any scope
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

// A CondVar waits for a change that another thread makes under the same mutex, and then notifies. A wait may also end
// for no reason, so call it in a loop that tests the condition. There is no form with a predicate, because clang's
// analysis could not see that a lambda runs under the lock.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Releases the mutex, waits, and takes it again.
  void Wait(Mutex& mutex) CAMBIUM_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();  // the caller unlocks it
  }
  // The same, for at most `micros` microseconds.
  void WaitFor(Mutex& mutex, std::uint64_t micros) CAMBIUM_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    changed_.wait_for(lock, std::chrono::microseconds(micros));
    lock.release();
  }
  // With or without the mutex held.
  void NotifyOne() noexcept { changed_.notify_one(); }
  void NotifyAll() noexcept { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace cambium
