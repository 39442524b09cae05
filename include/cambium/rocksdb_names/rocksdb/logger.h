// Logger: receives the library's messages for people, as a logger of RocksDB does.
#pragma once

#include <cstdarg>

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,
  NUM_INFO_LOG_LEVELS,
};

// Any thread may call it. Cambium calls Logv(level, "%s", line), without a line end.
class Logger {
 public:
  static constexpr InfoLogLevel kDefaultLogLevel = INFO_LEVEL;

  explicit Logger(InfoLogLevel level = kDefaultLogLevel) : level_(level) {}
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  virtual ~Logger() = default;

  virtual void Logv(const char* format, std::va_list arguments) = 0;
  // By default, drops what is below the logger's level.
  virtual void Logv(InfoLogLevel level, const char* format, std::va_list arguments) {
    if (level >= level_) Logv(format, arguments);
  }
  [[nodiscard]] virtual InfoLogLevel GetInfoLogLevel() const { return level_; }
  virtual void SetInfoLogLevel(InfoLogLevel level) { level_ = level; }

 private:
  InfoLogLevel level_;
};

}  // namespace rocksdb::inline on_cambium
