#include "rocksdb_names/logger.h"

#include <string>
#include <utility>

#include "cambium/slice.h"

namespace rocksdb::inline on_cambium {
namespace {

class LoggerOnCambium final : public cambium::Logger {
 public:
  explicit LoggerOnCambium(std::shared_ptr<on_cambium::Logger> user) : user_(std::move(user)) {}
  // The levels have the same numbers.
  void Log(cambium::InfoLogLevel level, cambium::Slice line) override {
    Call(static_cast<InfoLogLevel>(level), "%s", line.ToString().c_str());
  }

 private:
  __attribute__((format(printf, 3, 4))) void Call(InfoLogLevel level, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    user_->Logv(level, format, arguments);
    va_end(arguments);
  }
  const std::shared_ptr<on_cambium::Logger> user_;
};

}  // namespace

std::shared_ptr<cambium::Logger> OnCambium(std::shared_ptr<Logger> user) {
  if (user == nullptr) return nullptr;
  return std::make_shared<LoggerOnCambium>(std::move(user));
}

}  // namespace rocksdb::inline on_cambium
