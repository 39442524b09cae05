// Functions in JavaScript that the library calls: comparators, compaction filters, loggers and event listeners.
#pragma once

#include <memory>
#include <string>

#include "js_function.h"
#include "napi.h"

namespace cambium_node {

// A comparator in JavaScript. Its thread must be free whenever the library compares keys, so a database with it has no
// synchronous calls.
class Comparator {
 public:
  Comparator(napi_env env, std::string name, napi_value compare);
  Comparator(const Comparator&) = delete;
  Comparator& operator=(const Comparator&) = delete;
  ~Comparator() { cambium_comparator_destroy(comparator_); }
  [[nodiscard]] cambium_comparator_t* get() const { return comparator_; }

 private:
  static int Compare(void* state, const char* a, std::size_t a_length, const char* b, std::size_t b_length);

  std::string name_;
  JsFunction compare_;
  cambium_comparator_t* comparator_;
};

// A compaction filter in JavaScript. If it cannot be asked, entries are kept.
class CompactionFilter {
 public:
  // `filter_key` may be undefined.
  CompactionFilter(napi_env env, std::string name, napi_value filter_key, napi_value filter);
  CompactionFilter(const CompactionFilter&) = delete;
  CompactionFilter& operator=(const CompactionFilter&) = delete;
  ~CompactionFilter() { cambium_compactionfilter_destroy(filter_); }
  [[nodiscard]] cambium_compactionfilter_t* get() const { return filter_; }

 private:
  std::string name_;
  std::unique_ptr<JsFunction> filter_key_function_;
  JsFunction filter_function_;
  cambium_compactionfilter_t* filter_;
};

// A logger that hands each line to JavaScript, later.
class Logger {
 public:
  Logger(napi_env env, int level, napi_value log);
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  ~Logger() { cambium_logger_destroy(logger_); }
  [[nodiscard]] cambium_logger_t* get() const { return logger_; }

 private:
  JsFunction log_;
  cambium_logger_t* logger_;
};

// A listener that hands each event to JavaScript, later, as (name, details).
class Listener {
 public:
  Listener(napi_env env, napi_value emit);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { cambium_eventlistener_destroy(listener_); }
  [[nodiscard]] cambium_eventlistener_t* get() const { return listener_; }

 private:
  cambium_eventlistener_t* listener_;
};

}  // namespace cambium_node
