// HeldOperation: an operation on the file system that takes as long as the test says.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "io/sim/sim_file_system.h"

namespace cambium::testing {

// From Arm() on, holds the first thread that is about to do such an operation until Release(). Any thread.
class HeldOperation {
 public:
  HeldOperation(std::shared_ptr<SimFileSystem> fs, std::function<bool(const SimOp&)> which)
      : fs_(std::move(fs)), which_(std::move(which)) {
    hook_ = fs_->AddHook([this](const SimOp& op) {
      if (op.phase != SimPhase::kBefore || !which_(op)) return;
      std::unique_lock lock(mutex_);
      if (!armed_ || is_held_) return;
      is_held_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return released_; });
    });
  }
  ~HeldOperation() {
    Release();
    fs_->RemoveHook(hook_);
  }
  HeldOperation(const HeldOperation&) = delete;
  HeldOperation& operator=(const HeldOperation&) = delete;

  void Arm() {
    const std::lock_guard lock(mutex_);
    armed_ = true;
  }
  void AwaitHeld() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_held_; });
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool released() const {
    const std::lock_guard lock(mutex_);
    return released_;
  }

 private:
  const std::shared_ptr<SimFileSystem> fs_;
  const std::function<bool(const SimOp&)> which_;
  int hook_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool armed_ = false;  // mutex_, as all below
  bool is_held_ = false;
  bool released_ = false;
};

}  // namespace cambium::testing
