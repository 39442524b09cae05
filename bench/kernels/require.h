// Require: ends the program with the reason if the work of a kernel fails.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "cambium/status.h"
#include "util/result.h"

namespace cambium::bench {

// Throws to main(). Google Benchmark's own errors are printed, but the program would still exit with 0.
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
