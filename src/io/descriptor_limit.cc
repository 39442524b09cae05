#include "io/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace cambium {

std::size_t RaiseDescriptorLimit() {
  constexpr rlim_t kUnknown = 1024;  // the default soft limit of Linux
  constexpr rlim_t kMax = 1u << 30;  // as much as infinity
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnknown;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = raised.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return std::min(limit.rlim_cur, kMax);
}

}  // namespace cambium
