// The archive of a small directory: golden databases, and inputs of fuzz targets. It holds for each file
//
//   name and size in decimal, separated by a space and ended by a newline | the bytes of the file
#pragma once

#include <map>
#include <string>

namespace cambium::testing {

using GoldenFiles = std::map<std::string, std::string>;  // name without its directory -> bytes

[[nodiscard]] std::string PackGolden(const GoldenFiles& files);
// Returns no files if the bytes are not an archive.
[[nodiscard]] GoldenFiles UnpackGolden(const std::string& archive);

}  // namespace cambium::testing
