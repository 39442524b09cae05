// Result<T>: a value, or a Status that says why there is none.
#pragma once

#include <cassert>
#include <optional>
#include <utility>

#include "cambium/status.h"

namespace cambium {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT: implicit, as `return status;`
  Result(T value) : value_(std::move(value)) {}                                  // NOLINT: implicit, as `return value;`

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const& { return status_; }
  [[nodiscard]] Status status() && { return std::move(status_); }
  [[nodiscard]] T& value() & {
    assert(ok());
    return *value_;
  }
  [[nodiscard]] const T& value() const& {
    assert(ok());
    return *value_;
  }
  [[nodiscard]] T value() && {
    assert(ok());
    return std::move(*value_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace cambium

// If the expression gives an error, returns that error from the calling function.
#define CAMBIUM_RETURN_IF_ERROR(expression)                            \
  do {                                                                 \
    if (::cambium::Status cambium_status = (expression); !cambium_status.ok()) { \
      return cambium_status;                                           \
    }                                                                  \
  } while (false)

#define CAMBIUM_CONCAT_INNER(a, b) a##b
#define CAMBIUM_CONCAT(a, b) CAMBIUM_CONCAT_INNER(a, b)

// CAMBIUM_TRY(auto page, ReadPage(id)) declares `page`; on an error it returns the error from the calling function.
#define CAMBIUM_TRY(declaration, expression) \
  CAMBIUM_TRY_INNER(CAMBIUM_CONCAT(cambium_result_, __COUNTER__), declaration, expression)
#define CAMBIUM_TRY_INNER(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result.ok()) return std::move(result).status();     \
  declaration = std::move(result).value()
