// Real files as the bodies of values: --source=DIR.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cambium/status.h"

namespace cambium::bench {

// At most so many bytes of files are taken; they are in memory while a run lasts.
inline constexpr std::uint64_t kSourceBytesMax = 1u << 30;

// The regular files below a directory, links not followed, in the order of their paths.
struct SourceFiles {
  std::vector<std::filesystem::path> taken;  // each that fits beside those before it
  std::uint64_t bytes = 0;                   // of these
  std::uint64_t found = 0;                   // all of them
  std::uint64_t found_bytes = 0;
};

// Reads none of them. NotFound if none is taken; IOError if the directory cannot be listed.
Status ListSourceFiles(const std::string& dir, SourceFiles* list);

// "12 of 14 files below DIR, 1000 of 3000 MiB"
std::string TextOf(const SourceFiles& list, const std::string& dir);

// Contents of those that are taken. IOError with the path of one that cannot be read.
Status ReadSourceFiles(const std::string& dir, std::vector<std::string>* files);

}  // namespace cambium::bench
