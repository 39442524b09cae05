// Real files as the bodies of values: --source=DIR.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cambium/status.h"

namespace cambium::bench {

// The most bytes of files that are taken: they are kept in memory for the whole run.
inline constexpr std::uint64_t kSourceBytesMax = 1u << 30;

// The regular files below a directory, in the order of their paths. Links are not followed.
struct SourceFiles {
  std::vector<std::filesystem::path> taken;  // every file that still fits into kSourceBytesMax
  std::uint64_t bytes = 0;                   // sum of the sizes of `taken`
  std::uint64_t found = 0;                   // all files, taken or not
  std::uint64_t found_bytes = 0;
};

// Lists the files without reading them. NotFound if none is taken; IOError if the directory cannot be listed.
Status ListSourceFiles(const std::string& dir, SourceFiles* list);

// "12 of 14 files below DIR, 1000 of 3000 MiB"
std::string TextOf(const SourceFiles& list, const std::string& dir);

// Reads the files that are taken. An IOError names the file that cannot be read.
Status ReadSourceFiles(const std::string& dir, std::vector<std::string>* files);

}  // namespace cambium::bench
