// Values from and to files.
#pragma once

#include <string>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium::tool {

// "-" is stdin or stdout. IOError names the file.
Status ReadValueFile(const std::string& path, std::string* bytes);
// Replaces the content of an existing file.
Status WriteValueFile(const std::string& path, Slice bytes);

// Why an argument is not a key or value.
[[nodiscard]] std::string WhyMalformed(const std::string& argument, bool hex);

}  // namespace cambium::tool
