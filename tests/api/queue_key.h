// The keys of queues in tests.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace cambium::testing {

// The key of the i-th element. Elements are in the order of their keys.
[[nodiscard]] inline std::string QueueKey(std::size_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "q%012zu", i);
  return key;
}

}  // namespace cambium::testing
