// Logger: receives the library's messages for people.
#pragma once

#include <cstdarg>
#include <memory>
#include <string>

#include "cambium/slice.h"

namespace cambium {

enum class InfoLogLevel : unsigned char { kDebug = 0, kInfo = 1, kWarn = 2, kError = 3 };

// Any thread may call it. A logger that fails is silent: it never makes an operation fail.
class Logger {
 public:
  virtual ~Logger() = default;
  // Logs one line, given without a line end.
  virtual void Log(InfoLogLevel level, Slice line) = 0;
};

// Drops everything.
[[nodiscard]] std::shared_ptr<Logger> NullLogger();

}  // namespace cambium
