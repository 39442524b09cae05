#include "source_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace cambium::bench {

Status ReadSourceFiles(const std::string& dir, std::vector<std::string>* files) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  std::filesystem::recursive_directory_iterator entries(dir, error);
  while (!error && entries != std::filesystem::recursive_directory_iterator()) {
    if (entries->symlink_status(error).type() == std::filesystem::file_type::regular) paths.push_back(entries->path());
    if (error) break;
    entries.increment(error);
  }
  if (error) return Status::IOError(dir + ": " + error.message());
  std::sort(paths.begin(), paths.end());
  std::uint64_t total = 0;
  for (const std::filesystem::path& path : paths) {
    const std::uint64_t size = std::filesystem::file_size(path, error);
    if (error) return Status::IOError(path.string() + ": " + error.message());
    if (total + size > kSourceBytesMax) break;
    std::ifstream in(path, std::ios::binary);
    std::ostringstream content;
    if (size > 0) content << in.rdbuf();
    if (!in) return Status::IOError(path.string() + ": cannot be read");
    files->push_back(std::move(content).str());
    total += files->back().size();
  }
  if (files->empty()) return Status::NotFound(dir + " has no files of less than " + std::to_string(kSourceBytesMax) + " bytes");
  return {};
}

}  // namespace cambium::bench
