// The files that the demo takes for its data.
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
  std::vector<FileEntry> files;  // by path, in byte order
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;  // regular files that could not be read, or did not fit under the cap
};

// Every regular file below `folder` that can be read, no links followed, until their sizes reach `bytes_max`.
FileList ListFiles(const std::string& folder, std::uint64_t bytes_max);

// The bytes of a file; false if it cannot be read (any more).
bool ReadWholeFile(const std::string& path, std::string* bytes);

}  // namespace cambium::demo
