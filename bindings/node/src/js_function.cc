#include "js_function.h"

#include "instance.h"

namespace cambium_node {

namespace {

// Runs `body` in a scope of its own. A JavaScript exception that it leaves is the process's uncaught exception.
void RunBody(napi_env env, napi_value function, const JsFunction::Body& body) {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  try {
    body(env, function);
  } catch (...) {
    ThrowPending(env);
  }
  napi_value exception = nullptr;
  bool is_pending = false;
  if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending &&
      napi_get_and_clear_last_exception(env, &exception) == napi_ok) {
    napi_fatal_exception(env, exception);
  }
  napi_close_handle_scope(env, scope);
}

}  // namespace

JsFunction::JsFunction(napi_env env, napi_value function, const char* name) : functions_(InstanceOf(env).functions) {
  napi_valuetype type = napi_undefined;
  Check(env, napi_typeof(env, function, &type));
  if (type != napi_function) throw WrongType{std::string(name) + " must be a function"};
  napi_value resource_name = nullptr;
  Check(env, napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &resource_name));
  Check(env, napi_create_threadsafe_function(env, function, nullptr, resource_name, 0, 1, nullptr, nullptr, nullptr,
                                             &JsFunction::RunQueued, &function_));
  Check(env, napi_unref_threadsafe_function(env, function_));
  const std::lock_guard lock(functions_->mutex);
  functions_->all.insert(this);
}

JsFunction::~JsFunction() {
  {
    const std::lock_guard lock(functions_->mutex);
    functions_->all.erase(this);
  }
  const std::lock_guard lock(state_->mutex);
  state_->is_abandoned = true;
  if (function_ != nullptr) napi_release_threadsafe_function(function_, napi_tsfn_abort);
}

bool JsFunction::Queue(const std::shared_ptr<Waiting>& waiting) {
  auto queued = std::make_unique<std::pair<std::shared_ptr<Waiting>, std::shared_ptr<State>>>(waiting, state_);
  const napi_status status = napi_call_threadsafe_function(function_, queued.get(), napi_tsfn_nonblocking);
  if (status == napi_ok) {
    static_cast<void>(queued.release());
    return true;
  }
  // After napi_closing the function must not be used any more.
  if (status == napi_closing) {
    function_ = nullptr;
    state_->is_abandoned = true;
    state_->changed.notify_all();
  }
  return false;
}

void JsFunction::RunQueued(napi_env env, napi_value function, void*, void* data) {
  using Shared = std::pair<std::shared_ptr<Waiting>, std::shared_ptr<State>>;
  const std::unique_ptr<Shared> queued(static_cast<Shared*>(data));
  Waiting& waiting = *queued->first;
  State& state = *queued->second;
  {
    const std::lock_guard lock(state.mutex);
    if (waiting.is_given_up) return;
  }
  const bool is_possible = env != nullptr && function != nullptr;
  if (is_possible) RunBody(env, function, waiting.body);
  if (waiting.is_posted) return;
  const std::lock_guard lock(state.mutex);
  if (is_possible) {
    waiting.is_done = true;
  } else {
    waiting.is_given_up = true;
  }
  state.changed.notify_all();
}

bool JsFunction::Call(Body body) {
  if (IsOnItsThread()) return false;
  auto waiting = std::make_shared<Waiting>();
  waiting->body = std::move(body);
  const auto state = state_;
  std::unique_lock lock(state->mutex);
  if (state->is_abandoned || function_ == nullptr || !Queue(waiting)) return false;
  state->changed.wait(lock, [&] { return waiting->is_done || waiting->is_given_up || state->is_abandoned; });
  if (!waiting->is_done) waiting->is_given_up = true;
  return waiting->is_done;
}

void JsFunction::Post(Body body) {
  auto waiting = std::make_shared<Waiting>();
  waiting->body = std::move(body);
  waiting->is_posted = true;
  const std::lock_guard lock(state_->mutex);
  if (!state_->is_abandoned && function_ != nullptr) static_cast<void>(Queue(waiting));
}

void JsFunction::Abandon() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->is_abandoned = true;
  state_->changed.notify_all();
  // The environment deletes it when it ends, even if something still refers to it.
  if (function_ != nullptr) napi_release_threadsafe_function(std::exchange(function_, nullptr), napi_tsfn_abort);
}

}  // namespace cambium_node
