#include "data/source_files.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace cambium::bench {

Status ListSourceFiles(const std::string& dir, SourceFiles* list) {
  std::error_code error;
  std::vector<std::pair<std::filesystem::path, std::uint64_t>> files;
  std::filesystem::recursive_directory_iterator entries(dir, error);
  while (!error && entries != std::filesystem::recursive_directory_iterator()) {
    if (entries->symlink_status(error).type() == std::filesystem::file_type::regular) {
      files.emplace_back(entries->path(), entries->file_size(error));
      if (error) return Status::IOError(files.back().first.string() + ": " + error.message());
    }
    if (error) break;
    entries.increment(error);
  }
  if (error) return Status::IOError(dir + ": " + error.message());
  std::sort(files.begin(), files.end());
  *list = {};
  for (auto& [path, size] : files) {
    ++list->found;
    list->found_bytes += size;
    if (size > kSourceBytesMax - list->bytes) continue;
    list->taken.push_back(std::move(path));
    list->bytes += size;
  }
  if (!list->taken.empty()) return {};
  return Status::NotFound(dir + " has no files of at most " + std::to_string(kSourceBytesMax) + " bytes");
}

std::string TextOf(const SourceFiles& list, const std::string& dir) {
  return std::to_string(list.taken.size()) + " of " + std::to_string(list.found) + " files below " + dir + ", " +
         (list.found_bytes < 10u << 20
              ? std::to_string(list.bytes >> 10) + " of " + std::to_string(list.found_bytes >> 10) + " KiB"
              : std::to_string(list.bytes >> 20) + " of " + std::to_string(list.found_bytes >> 20) + " MiB");
}

Status ReadSourceFiles(const std::string& dir, std::vector<std::string>* files) {
  SourceFiles list;
  if (Status status = ListSourceFiles(dir, &list); !status.ok()) return status;
  for (const std::filesystem::path& path : list.taken) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream content;
    if (in && in.peek() != std::ifstream::traits_type::eof()) content << in.rdbuf();
    // If a read fails in the middle, only `content` is marked as failed.
    if (in.bad() || !in.is_open() || !content) return Status::IOError(path.string() + ": cannot be read");
    files->push_back(std::move(content).str());
  }
  return {};
}

}  // namespace cambium::bench
