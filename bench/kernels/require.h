// Require: a kernel whose work failed has no figure; the program ends with the reason.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "cambium/status.h"
#include "util/result.h"

namespace cambium::bench {

// Google Benchmark would print an error and go on, and the program would end well. main() catches this instead.
[[noreturn]] inline void GiveUp(const std::string& why) { throw std::runtime_error(why); }

inline void Require(const Status& status) {
  if (!status.ok()) [[unlikely]] GiveUp(status.ToString());
}
inline void Require(bool holds, const char* what) {
  if (!holds) [[unlikely]] GiveUp(what);
}
template <typename T>
T Require(Result<T> result) {
  if (!result.ok()) [[unlikely]] GiveUp(result.status().ToString());
  return std::move(result).value();
}

}  // namespace cambium::bench
