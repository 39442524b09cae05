// NullArgument: the error of a call that got a null pointer where it needs an object.
#pragma once

#include <string>
#include <string_view>

#include "cambium/status.h"

namespace cambium {

[[nodiscard]] inline Status NullArgument(std::string_view call, std::string_view name) {
  return Status::InvalidArgument(std::string(call) + ": " + std::string(name) + " is null");
}

}  // namespace cambium
