// A JavaScript function that the library calls, from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "napi.h"

namespace cambium_node {

class JsFunction;

// The functions of an environment. It and they share it, because a function may be destroyed by any thread, and later.
struct JsFunctions {
  std::mutex mutex;
  std::unordered_set<JsFunction*> all;
};

// Calls run on the thread of the environment that has the function. They do not keep its event loop alive.
class JsFunction {
 public:
  // Runs on the thread of JavaScript. `function` is the function.
  using Body = std::function<void(napi_env env, napi_value function)>;

  static constexpr std::uint32_t kKind = 0x66756e63;

  JsFunction(napi_env env, napi_value function, const char* name);
  JsFunction(const JsFunction&) = delete;
  JsFunction& operator=(const JsFunction&) = delete;
  ~JsFunction();

  // Waits until `body` has run. False: it has not run and will not, because the function was abandoned. What `body`
  // refers to may be on the stack of the caller. False on the thread of JavaScript itself, where waiting would not end.
  bool Call(Body body);
  // Does not wait. `body` must own what it refers to.
  void Post(Body body);
  // From now on calls fail, also those that wait. On the thread of JavaScript, when its environment ends, so that no
  // `body` is running.
  void Abandon() noexcept;
  [[nodiscard]] bool IsOnItsThread() const { return std::this_thread::get_id() == thread_; }

 private:
  struct Waiting {
    Body body;
    bool is_posted = false;
    bool is_done = false;
    bool is_given_up = false;
  };
  static void RunQueued(napi_env env, napi_value function, void* context, void* data);
  bool Queue(const std::shared_ptr<Waiting>& waiting);

  // Shared with the calls that wait, which may outlive this object.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_abandoned = false;
  };

  std::thread::id thread_ = std::this_thread::get_id();
  std::shared_ptr<JsFunctions> functions_;
  napi_threadsafe_function function_ = nullptr;  // null: abandoned
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace cambium_node
