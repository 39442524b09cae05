// Objects that are closed while calls of them may run on other threads: databases and backup engines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "napi.h"

namespace cambium_node {

// Used by one thread, that of its environment, except CloseBlocking. Calls on other threads are counted, and closing
// waits for them without blocking the thread.
class Closable : public std::enable_shared_from_this<Closable> {
 public:
  Closable(napi_env env, std::string what);
  Closable(const Closable&) = delete;
  Closable& operator=(const Closable&) = delete;
  virtual ~Closable();

  [[nodiscard]] bool IsOpen() const { return state_ == State::kOpen; }
  [[nodiscard]] bool IsClosing() const { return state_ == State::kClosing; }
  [[nodiscard]] bool IsBusy() const { return calls_ > 0; }
  void CheckOpen() const {
    if (state_ != State::kOpen) throw Failure{"Closed: the " + what_ + " is closed"};
  }
  // Whether a call on another thread may wait for a comparison in JavaScript.
  [[nodiscard]] bool IsComparing() const { return calls_ > 0 && MayStayOpen(); }
  // Around each call that runs on another thread.
  void Enter();
  void Leave();

  // Returns a promise; called once. Closes when the calls that have begun have ended.
  napi_value Close();
  // Fails with Busy while calls run on other threads.
  void CloseSync();
  // Closes when no JavaScript object refers to it any more.
  void CloseUnreferenced();
  // Closes now, because the environment ends.
  void Abandon() noexcept;

 protected:
  // Destroys what depends on the object, such as iterators. On the thread of the environment.
  virtual void CloseChildren() noexcept {}
  // Whether the environment may end without closing it.
  [[nodiscard]] virtual bool MayStayOpen() const { return false; }
  // Closes; may run on any thread and may take long. Called once.
  virtual void CloseBlocking(Error* error) = 0;

 private:
  // Closing: close() was called, and calls on other threads or the closing itself have not ended.
  enum class State : unsigned char { kOpen, kClosing, kClosed };

  void BeginClose();
  void Forget();

  napi_env env_;
  std::string what_;
  State state_ = State::kOpen;
  std::uint32_t calls_ = 0;
  napi_deferred deferred_ = nullptr;
  bool is_forgotten_ = false;
};

}  // namespace cambium_node
