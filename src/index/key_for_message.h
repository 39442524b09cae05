// KeyForMessage: shows a key in an error message.
#pragma once

#include <cstddef>
#include <string>

#include "cambium/slice.h"

namespace cambium {

// In hexadecimal; of a long key its first bytes, which are enough to tell it from others.
[[nodiscard]] inline std::string KeyForMessage(Slice key) {
  constexpr std::size_t kBytesMax = 32;
  if (key.size() <= kBytesMax) return key.ToString(true);
  return key.substr(0, kBytesMax).ToString(true) + "... (" + std::to_string(key.size()) + " bytes)";
}

}  // namespace cambium
