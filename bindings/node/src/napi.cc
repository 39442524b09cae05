#include "napi.h"

#include <pthread.h>

#include <atomic>
#include <cmath>
#include <new>

#include "instance.h"

namespace cambium_node {

namespace {

std::atomic<bool> is_forked{false};
const bool is_watching_forks = [] {
  pthread_atfork(nullptr, nullptr, [] { is_forked.store(true, std::memory_order_relaxed); });
  return true;
}();

// From this size on a value is handed to JavaScript without a copy. Below it a copy is cheaper than the finalizer.
constexpr std::size_t kExternalBytes = 64 * 1024;

}  // namespace

bool IsForked() { return is_forked.load(std::memory_order_relaxed); }

void ThrowPending(napi_env env) {
  try {
    throw;
  } catch (const Pending&) {
  } catch (const WrongType& wrong) {
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", wrong.text.c_str());
  } catch (const Failure& failure) {
    napi_value error = nullptr;
    if (MakeError(env, failure.text, &error)) napi_throw(env, error);
  } catch (const std::bad_alloc&) {
    napi_value error = nullptr;
    if (MakeError(env, "Operation aborted (out of memory)", &error)) napi_throw(env, error);
  } catch (const std::exception& exception) {
    napi_value error = nullptr;
    if (MakeError(env, exception.what(), &error)) napi_throw(env, error);
  }
}

Bytes::Bytes(napi_env env, napi_value value, const char* what) {
  bool is_view = false;
  Check(env, napi_is_buffer(env, value, &is_view));
  if (is_view) {
    void* data = nullptr;
    Check(env, napi_get_buffer_info(env, value, &data, &size_));
    if (data != nullptr) data_ = static_cast<const char*>(data);
    return;
  }
  std::size_t length = 0;
  const napi_status status = napi_get_value_string_utf8(env, value, short_, sizeof short_, &length);
  if (status == napi_string_expected) {
    throw WrongType{std::string(what) + " must be a string, a Buffer or another view of an ArrayBuffer"};
  }
  Check(env, status);
  // A string that does not fit is cut at a whole character, up to three bytes before the end.
  if (length + 4 < sizeof short_) {
    data_ = short_;
    size_ = length;
    return;
  }
  Check(env, napi_get_value_string_utf8(env, value, nullptr, 0, &length));
  long_.resize(length);
  Check(env, napi_get_value_string_utf8(env, value, long_.data(), length + 1, &length));
  data_ = long_.data();
  size_ = length;
}

std::string ToText(napi_env env, napi_value value, const char* what) {
  std::size_t length = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) {
    throw WrongType{std::string(what) + " must be a string"};
  }
  std::string text(length, '\0');
  Check(env, napi_get_value_string_utf8(env, value, text.data(), length + 1, &length));
  return text;
}

std::string ToName(napi_env env, napi_value value, const char* what) {
  std::string text = ToText(env, value, what);
  if (text.find('\0') != std::string::npos) throw WrongType{std::string(what) + " must not contain zero bytes"};
  return text;
}

bool IsNothing(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  Check(env, napi_typeof(env, value, &type));
  return type == napi_undefined || type == napi_null;
}

bool ToBool(napi_env env, napi_value value) {
  napi_value truth = nullptr;
  bool result = false;
  Check(env, napi_coerce_to_bool(env, value, &truth));
  Check(env, napi_get_value_bool(env, truth, &result));
  return result;
}

double ToNumber(napi_env env, napi_value value, const char* what) {
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok) throw WrongType{std::string(what) + " must be a number"};
  return number;
}

std::int64_t ToInt64(napi_env env, napi_value value, const char* what) {
  constexpr double kSafeMax = 9007199254740991.0;
  const double number = ToNumber(env, value, what);
  if (!(std::abs(number) <= kSafeMax) || std::floor(number) != number) {
    throw WrongType{std::string(what) + " must be a whole number"};
  }
  return static_cast<std::int64_t>(number);
}

std::uint64_t ToUint64(napi_env env, napi_value value, const char* what) {
  std::uint64_t number = 0;
  bool is_lossless = false;
  if (napi_get_value_bigint_uint64(env, value, &number, &is_lossless) == napi_ok && is_lossless) return number;
  double from = 0;
  if (napi_get_value_double(env, value, &from) != napi_ok || !(from >= 0 && from <= 9007199254740991.0) ||
      std::floor(from) != from) {
    throw WrongType{std::string(what) + " must be a whole number that is not negative, or such a BigInt"};
  }
  return static_cast<std::uint64_t>(from);
}

napi_value Property(napi_env env, napi_value object, const char* name) {
  napi_value value = nullptr;
  Check(env, napi_get_named_property(env, object, name, &value));
  return value;
}

napi_value Undefined(napi_env env) {
  napi_value value = nullptr;
  Check(env, napi_get_undefined(env, &value));
  return value;
}
napi_value FromBool(napi_env env, bool value) {
  napi_value result = nullptr;
  Check(env, napi_get_boolean(env, value, &result));
  return result;
}
napi_value FromNumber(napi_env env, double value) {
  napi_value result = nullptr;
  Check(env, napi_create_double(env, value, &result));
  return result;
}
napi_value FromUint64(napi_env env, std::uint64_t value) {
  napi_value result = nullptr;
  Check(env, napi_create_bigint_uint64(env, value, &result));
  return result;
}
napi_value FromText(napi_env env, std::string_view text) {
  napi_value result = nullptr;
  Check(env, napi_create_string_utf8(env, text.data(), text.size(), &result));
  return result;
}

napi_value FromBytes(napi_env env, const char* data, std::size_t size, bool is_text) {
  if (is_text) return FromText(env, {data, size});
  napi_value result = nullptr;
  void* copy = nullptr;
  Check(env, napi_create_buffer_copy(env, size, data, &copy, &result));
  return result;
}

napi_value FromOwned(napi_env env, char* data, std::size_t size, bool is_text) {
  std::unique_ptr<char, void (*)(char*)> owned(data, [](char* bytes) { cambium_free(bytes); });
  if (is_text || size < kExternalBytes) return FromBytes(env, data, size, is_text);
  napi_value result = nullptr;
  const napi_status status = napi_create_external_buffer(
      env, size, data, [](napi_env, void* bytes, void*) { cambium_free(bytes); }, nullptr, &result);
  // Some runtimes do not allow memory of others in JavaScript.
  if (status == napi_no_external_buffers_allowed) return FromBytes(env, data, size, false);
  Check(env, status);
  static_cast<void>(owned.release());
  return result;
}

}  // namespace cambium_node
