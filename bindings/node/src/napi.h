// Node-API with exceptions: arguments of a call, values, and native objects inside JavaScript objects.
#pragma once

#ifndef NAPI_VERSION
#define NAPI_VERSION 8
#endif
#include <node_api.h>

#include <cambium/c.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cambium_node {

// An error with the text of a status of the library, such as "Invalid argument: ...". lib/errors.js makes the
// JavaScript error from it.
struct Failure {
  std::string text;
};
// A JavaScript exception is pending already.
struct Pending {};
// A wrong type of an argument: a JavaScript TypeError.
struct WrongType {
  std::string text;
};

inline void Check(napi_env env, napi_status status) {
  if (status == napi_ok) return;
  bool is_pending = false;
  if (status == napi_pending_exception || (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending)) {
    throw Pending{};
  }
  const napi_extended_error_info* info = nullptr;
  napi_get_last_error_info(env, &info);
  throw Failure{std::string("Operation aborted: Node-API: ") +
                (info != nullptr && info->error_message != nullptr ? info->error_message : "unknown error")};
}

// The error that a call of the library returned.
class Error {
 public:
  Error() = default;
  Error(const Error&) = delete;
  Error& operator=(const Error&) = delete;
  ~Error() { cambium_free(text_); }

  char** Out() { return &text_; }
  void Set(std::string text) { own_ = std::move(text); }
  [[nodiscard]] bool IsSet() const { return text_ != nullptr || !own_.empty(); }
  [[nodiscard]] std::string Text() const { return text_ != nullptr ? std::string(text_) : own_; }
  void Throw() const {
    if (IsSet()) throw Failure{Text()};
  }

 private:
  char* text_ = nullptr;
  std::string own_;
};

// A native object in a JavaScript one. T::kKind tells the types apart.
struct BoxBase {
  explicit BoxBase(std::uint32_t its_kind) : kind(its_kind) {}
  virtual ~BoxBase() = default;
  std::uint32_t kind;
};
template <typename T>
struct Box final : BoxBase {
  explicit Box(std::shared_ptr<T> its_object) : BoxBase(T::kKind), object(std::move(its_object)) {}
  std::shared_ptr<T> object;
};

template <typename T>
napi_value Wrap(napi_env env, std::shared_ptr<T> object) {
  auto box = std::make_unique<Box<T>>(std::move(object));
  napi_value value = nullptr;
  Check(env, napi_create_external(
                 env, static_cast<BoxBase*>(box.get()),
                 [](napi_env, void* data, void*) { delete static_cast<BoxBase*>(data); }, nullptr, &value));
  static_cast<void>(box.release());
  return value;
}

// The bytes of a string (as UTF-8) or of a Buffer, a typed array or a DataView. They are valid during the call.
class Bytes {
 public:
  Bytes() = default;
  Bytes(napi_env env, napi_value value, const char* what);
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string Copy() const { return std::string(data_, size_); }

 private:
  const char* data_ = "";
  std::size_t size_ = 0;
  std::string long_;
  char short_[512];
};

// A string without zero bytes: paths and names, which C takes without a length.
std::string ToName(napi_env env, napi_value value, const char* what);
std::string ToText(napi_env env, napi_value value, const char* what);
bool IsNothing(napi_env env, napi_value value);  // undefined or null
bool ToBool(napi_env env, napi_value value);
double ToNumber(napi_env env, napi_value value, const char* what);
std::int64_t ToInt64(napi_env env, napi_value value, const char* what);    // a whole number
std::uint64_t ToUint64(napi_env env, napi_value value, const char* what);  // a number or a BigInt

// A property of an object; undefined if it has none.
napi_value Property(napi_env env, napi_value object, const char* name);

napi_value Undefined(napi_env env);
napi_value FromBool(napi_env env, bool value);
napi_value FromNumber(napi_env env, double value);
napi_value FromUint64(napi_env env, std::uint64_t value);  // a BigInt
napi_value FromText(napi_env env, std::string_view text);
// A Buffer, or a string if `is_text`.
napi_value FromBytes(napi_env env, const char* data, std::size_t size, bool is_text);
// The same for memory of the library, which cambium_free frees; large values are not copied.
napi_value FromOwned(napi_env env, char* data, std::size_t size, bool is_text);

// The arguments of a call. Missing ones are undefined.
class Args {
 public:
  Args(napi_env env, napi_callback_info info) : env_(env) {
    std::size_t count = kMax;
    Check(env, napi_get_cb_info(env, info, &count, values_, nullptr, nullptr));
  }
  [[nodiscard]] napi_env env() const { return env_; }
  napi_value operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] bool IsNothing(std::size_t i) const { return cambium_node::IsNothing(env_, values_[i]); }
  [[nodiscard]] bool Bool(std::size_t i) const { return ToBool(env_, values_[i]); }
  [[nodiscard]] std::uint32_t Uint32(std::size_t i) const {
    return static_cast<std::uint32_t>(ToNumber(env_, values_[i], "a number"));
  }
  [[nodiscard]] std::string Name(std::size_t i, const char* what) const { return ToName(env_, values_[i], what); }
  [[nodiscard]] std::string CopyBytes(std::size_t i, const char* what) const {
    return Bytes(env_, values_[i], what).Copy();
  }
  [[nodiscard]] std::optional<std::string> OptionalBytes(std::size_t i, const char* what) const {
    if (IsNothing(i)) return std::nullopt;
    return CopyBytes(i, what);
  }
  template <typename T>
  [[nodiscard]] const std::shared_ptr<T>& Get(std::size_t i) const {
    return ToObject<T>(env_, values_[i]);
  }
  template <typename T>
  [[nodiscard]] std::shared_ptr<T> GetOrNull(std::size_t i) const {
    return IsNothing(i) ? nullptr : Get<T>(i);
  }

  template <typename T>
  static const std::shared_ptr<T>& ToObject(napi_env env, napi_value value) {
    void* data = nullptr;
    if (napi_get_value_external(env, value, &data) != napi_ok) throw WrongType{"the native object is missing"};
    auto* const box = static_cast<BoxBase*>(data);
    if (box->kind != T::kKind) throw WrongType{"the native object has another type"};
    return static_cast<Box<T>*>(box)->object;
  }

 private:
  static constexpr std::size_t kMax = 12;
  napi_env env_;
  napi_value values_[kMax];
};

// Whether this process is a fork of the one that loaded the addon: then every call fails, because the threads of the
// parent do not exist here. (V8 gives its heap to no forked child, so in Node.js no call gets this far.)
bool IsForked();
void ThrowPending(napi_env env);  // makes the C++ exception that is being handled a JavaScript one

using Function = napi_value (*)(const Args& args);

// The callback of Node-API for `function`: no C++ exception leaves it.
template <Function function>
napi_value Callback(napi_env env, napi_callback_info info) {
  try {
    if (IsForked()) throw Failure{"Not implemented: a forked child process cannot use a database of its parent"};
    return function(Args(env, info));
  } catch (...) {
    ThrowPending(env);
    return nullptr;
  }
}

template <Function function>
void Export(napi_env env, napi_value exports, const char* name) {
  napi_value value = nullptr;
  Check(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, &Callback<function>, nullptr, &value));
  Check(env, napi_set_named_property(env, exports, name, value));
}

}  // namespace cambium_node
