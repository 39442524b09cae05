// The size of a memory page, the unit in which files are mapped and cached.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace cambium {

inline std::size_t SystemPageBytes() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace cambium
