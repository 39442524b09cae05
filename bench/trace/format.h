// Format: snprintf as a string.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace cambium::bench {

// Returns at most 511 bytes.
[[gnu::format(printf, 1, 2)]] inline std::string Format(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

}  // namespace cambium::bench
