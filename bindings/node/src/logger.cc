#include "callbacks.h"

namespace cambium_node {

Logger::Logger(napi_env env, int level, napi_value log)
    : log_(env, log, "infoLog"),
      logger_(cambium_logger_create_callback_logger(
          level,
          [](void* state, int its_level, const char* line, std::size_t length) {
            static_cast<Logger*>(state)->log_.Post(
                [its_level, text = std::string(line, length)](napi_env at, napi_value function) {
                  napi_value arguments[] = {FromText(at, text), FromNumber(at, its_level)};
                  napi_value result = nullptr;
                  Check(at, napi_call_function(at, Undefined(at), function, 2, arguments, &result));
                });
          },
          this)) {}

}  // namespace cambium_node
