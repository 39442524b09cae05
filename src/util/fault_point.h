// Fault points: named places in the code where a test makes an error or another event happen.
//
//   CAMBIUM_FAULT_POINT("PinView:between");
//
// Without CAMBIUM_TEST_HOOKS they compile to nothing.
#pragma once

#ifdef CAMBIUM_TEST_HOOKS
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "util/mutex.h"

namespace cambium {

class FaultPoints {
 public:
  using Hook = std::function<void(const char* name)>;
  static FaultPoints& Instance() {
    static FaultPoints points;
    return points;
  }
  // Every thread that reaches a fault point calls `hook`, even if it reaches the fault point inside the hook. Null: no
  // hook.
  void Set(Hook hook) {
    const MutexLock lock(mutex_);
    hook_ = hook == nullptr ? nullptr : std::make_shared<Hook>(std::move(hook));
    active_.store(hook_ != nullptr);
  }
  void Reached(const char* name) {
    if (!active_.load(std::memory_order_relaxed)) return;
    std::shared_ptr<Hook> hook;
    {
      const MutexLock lock(mutex_);
      hook = hook_;
    }
    if (hook != nullptr) (*hook)(name);
  }

 private:
  Mutex mutex_;
  std::shared_ptr<Hook> hook_ CAMBIUM_GUARDED_BY(mutex_);
  std::atomic<bool> active_{false};
};

}  // namespace cambium
#define CAMBIUM_FAULT_POINT(name) ::cambium::FaultPoints::Instance().Reached(name)
#else
#define CAMBIUM_FAULT_POINT(name) static_cast<void>(0)
#endif
