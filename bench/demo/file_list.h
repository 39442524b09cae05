// The files that the demo uses as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cambium::demo {

struct FileEntry {
  std::string path;
  std::uint64_t size = 0;
};

struct FileList {
  std::vector<FileEntry> files;  // in the byte order of their paths
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;  // regular files that cannot be read, or do not fit into bytes_max
};

// Returns the readable regular files below `folder` that fit into `bytes_max` bytes. Links are not followed.
FileList ListFiles(const std::string& folder, std::uint64_t bytes_max);

// Reads a file. Returns false if it cannot be read.
bool ReadWholeFile(const std::string& path, std::string* bytes);

}  // namespace cambium::demo
