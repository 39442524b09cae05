#include "golden/archive.h"

#include <cstdlib>

namespace cambium::testing {

std::string PackGolden(const GoldenFiles& files) {
  std::string archive;
  for (const auto& [name, bytes] : files) archive += name + " " + std::to_string(bytes.size()) + "\n" + bytes;
  return archive;
}

GoldenFiles UnpackGolden(const std::string& archive) {
  GoldenFiles files;
  for (std::size_t at = 0; at < archive.size();) {
    const std::size_t space = archive.find(' ', at);
    const std::size_t line_end = archive.find('\n', at);
    if (space == std::string::npos || line_end == std::string::npos || line_end < space) return {};
    const std::size_t size = std::strtoull(archive.c_str() + space, nullptr, 10);
    if (size > archive.size() - line_end - 1) return {};
    files[archive.substr(at, space - at)] = archive.substr(line_end + 1, size);
    at = line_end + 1 + size;
  }
  return files;
}

}  // namespace cambium::testing
