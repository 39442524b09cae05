// FindOpened: finds the opened directory (FileSystem::OpenDirectory) that a path leads to or into.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cambium {

// Returns the part of `path` below `directory`, a C string inside `path`; "." if they are the same; null if `path` is
// not below. Compares the texts: "a/../b" is below "a". Every relative path is below ".".
[[nodiscard]] inline const char* PathBelow(const std::string& directory, const std::string& path,
                                           std::size_t* matched = nullptr) {
  std::size_t length = directory.size();
  while (length > 0 && directory[length - 1] == '/') --length;
  const bool is_here = length == 1 && directory[0] == '.';
  if (is_here && path != "." && !path.starts_with("./")) length = 0;
  if (matched != nullptr) *matched = length;
  if (is_here && length == 0) return path.empty() || path[0] == '/' ? nullptr : path.c_str();
  if (path.compare(0, length, directory, 0, length) != 0) return nullptr;
  if (path.size() > length && path[length] != '/') return nullptr;
  std::size_t rest = length;
  while (rest < path.size() && path[rest] == '/') ++rest;
  if (rest == path.size()) return length == 0 && path.empty() ? nullptr : ".";
  return path.c_str() + rest;
}

template <typename Directory>
struct Opened {
  std::shared_ptr<const Directory> directory;  // null: the path is below none
  const char* rest = nullptr;                  // as PathBelow returns it
};

// If several match, finds the one with the longest path, and among these the last. If `is_name`, `path` is a name to
// create, rename or remove: then it is looked up in the directory above, so an opened directory that has this path does
// not count.
template <typename Directory>
[[nodiscard]] Opened<Directory> FindOpened(const std::vector<std::shared_ptr<const Directory>>& opened,
                                           const std::string& path, bool is_name) {
  Opened<Directory> found;
  std::size_t longest = 0;
  for (const std::shared_ptr<const Directory>& each : opened) {
    std::size_t length = 0;
    const char* const rest = PathBelow(each->path(), path, &length);
    if (rest == nullptr || length < longest) continue;
    if (is_name && rest[0] == '.' && rest[1] == '\0') continue;
    found = {each, rest};
    longest = length;
  }
  return found;
}

}  // namespace cambium
