#include "closable.h"

#include "instance.h"
#include "work.h"

namespace cambium_node {

Closable::Closable(napi_env env, std::string what) : env_(env), what_(std::move(what)) {
  InstanceOf(env).closables.insert(this);
}

Closable::~Closable() { Forget(); }

void Closable::Forget() {
  if (is_forgotten_) return;
  is_forgotten_ = true;
  void* data = nullptr;
  if (napi_get_instance_data(env_, &data) == napi_ok && data != nullptr) {
    static_cast<Instance*>(data)->closables.erase(this);
  }
}

void Closable::Enter() {
  CheckOpen();
  ++calls_;
}

void Closable::Leave() {
  if (--calls_ == 0 && state_ == State::kClosing) BeginClose();
}

void Closable::BeginClose() {
  CloseChildren();
  const napi_deferred deferred = std::exchange(deferred_, nullptr);
  auto self = shared_from_this();
  try {
    StartWork(
        env_, "cambium:close", deferred, [self](Error* error) { self->CloseBlocking(error); },
        [self](napi_env env) {
          self->Forget();
          return Undefined(env);
        },
        [self] { self->state_ = State::kClosed; });
  } catch (...) {
    // The environment starts no work any more.
    Error error;
    CloseBlocking(&error);
    state_ = State::kClosed;
    Forget();
  }
}

napi_value Closable::Close() {
  CheckOpen();
  napi_value promise = nullptr;
  Check(env_, napi_create_promise(env_, &deferred_, &promise));
  state_ = State::kClosing;
  if (calls_ == 0) BeginClose();
  return promise;
}

void Closable::CloseSync() {
  if (state_ == State::kClosed) return;
  if (state_ != State::kOpen) throw Failure{"Resource busy: the " + what_ + " is being closed"};
  if (calls_ > 0) throw Failure{"Resource busy: calls of the " + what_ + " have not ended; await them or call close()"};
  state_ = State::kClosed;
  CloseChildren();
  Error error;
  CloseBlocking(&error);
  Forget();
  error.Throw();
}

void Closable::CloseUnreferenced() {
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  if (calls_ == 0) BeginClose();
}

void Closable::Abandon() noexcept {
  if (state_ != State::kOpen || calls_ > 0) return;
  state_ = State::kClosed;
  if (MayStayOpen()) return;
  CloseChildren();
  Error error;
  CloseBlocking(&error);
  Forget();
}

}  // namespace cambium_node
