// Real files as the bodies of values: --source=DIR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/status.h"

namespace cambium::bench {

// At most so many bytes of files are taken; they are in memory while a run lasts.
inline constexpr std::uint64_t kSourceBytesMax = 1u << 30;

// The contents of the regular files below `dir`, links not followed, in the order of their paths, until they have
// kSourceBytesMax bytes. NotFound if there is none; IOError with the path of one that cannot be read.
Status ReadSourceFiles(const std::string& dir, std::vector<std::string>* files);

}  // namespace cambium::bench
