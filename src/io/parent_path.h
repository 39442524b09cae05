// ParentOf: returns the directory that contains the last name of a path.
#pragma once

#include <string>

namespace cambium {

// "a" for "a/b/" and "a/b", "." for "a", "/" for "/a".
[[nodiscard]] inline std::string ParentOf(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : trimmed.substr(0, slash);
}

}  // namespace cambium
