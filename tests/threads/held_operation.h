// HeldOperation: stops an operation of the file system until the test releases it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "io/sim/sim_file_system.h"

namespace cambium::testing {

// After Arm(), holds the first thread that is about to do such an operation, until Release(). Any thread.
class HeldOperation {
 public:
  HeldOperation(std::shared_ptr<SimFileSystem> fs, std::function<bool(const SimOp&)> which) : fs_(std::move(fs)) {
    hook_ = fs_->AddHook([state = state_, which = std::move(which)](const SimOp& op) {
      if (op.phase != SimPhase::kBefore || !which(op)) return;
      std::unique_lock lock(state->mutex);
      if (!state->armed || state->is_held) return;
      state->is_held = true;
      state->changed.notify_all();
      state->changed.wait(lock, [&state] { return state->released; });
    });
  }
  // A thread may still be in the hook; state_ outlives it.
  ~HeldOperation() {
    Release();
    fs_->RemoveHook(hook_);
  }
  HeldOperation(const HeldOperation&) = delete;
  HeldOperation& operator=(const HeldOperation&) = delete;

  void Arm() {
    const std::lock_guard lock(state_->mutex);
    state_->armed = true;
  }
  void AwaitHeld() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->is_held; });
  }
  void Release() {
    const std::lock_guard lock(state_->mutex);
    state_->released = true;
    state_->changed.notify_all();
  }
  [[nodiscard]] bool released() const {
    const std::lock_guard lock(state_->mutex);
    return state_->released;
  }

 private:
  // Shared with the hook, which may outlive this object.
  struct State {
    std::mutex mutex;  // guards the members below
    std::condition_variable changed;
    bool armed = false;
    bool is_held = false;
    bool released = false;
  };
  const std::shared_ptr<SimFileSystem> fs_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  int hook_ = 0;
};

}  // namespace cambium::testing
