// Logger: where the library tells people what it does.
#pragma once

#include <cstdarg>
#include <memory>
#include <string>

#include "cambium/slice.h"

namespace cambium {

enum class InfoLogLevel : unsigned char { kDebug = 0, kInfo = 1, kWarn = 2, kError = 3 };

// Any thread may call. A logger that fails says nothing: it never makes an operation fail.
class Logger {
 public:
  virtual ~Logger() = default;
  // One line, without an end of line.
  virtual void Log(InfoLogLevel level, Slice line) = 0;
};

// Drops everything.
[[nodiscard]] std::shared_ptr<Logger> NullLogger();

}  // namespace cambium
