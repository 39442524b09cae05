// LimitScope: lowers a resource limit of the process.
#pragma once

#include <sys/resource.h>

namespace cambium::testing {

// Lowers a soft limit of the process for its own lifetime.
class LimitScope {
 public:
  LimitScope(__rlimit_resource resource, rlim_t soft) : resource_(resource) {
    getrlimit(resource_, &before_);
    const rlimit now = {soft, before_.rlim_max};
    setrlimit(resource_, &now);
  }
  ~LimitScope() { setrlimit(resource_, &before_); }
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;

 private:
  const __rlimit_resource resource_;
  rlimit before_ = {};
};

}  // namespace cambium::testing
