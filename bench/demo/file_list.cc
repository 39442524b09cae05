#include "demo/file_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace cambium::demo {
namespace fs = std::filesystem;

FileList ListFiles(const std::string& folder, std::uint64_t bytes_max) {
  std::vector<FileEntry> found;
  FileList list;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    struct stat info {};
    const std::string path = at->path().string();
    if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (access(path.c_str(), R_OK) != 0 || size > std::numeric_limits<std::uint32_t>::max()) {
      ++list.skipped;
      continue;
    }
    found.push_back({path, size});
  }
  std::sort(found.begin(), found.end(), [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
  for (FileEntry& file : found) {
    if (list.bytes + file.size > bytes_max) {
      ++list.skipped;
      continue;
    }
    list.bytes += file.size;
    list.files.push_back(std::move(file));
  }
  return list;
}

bool ReadWholeFile(const std::string& path, std::string* bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info {};
  bool ok = fstat(fd, &info) == 0;
  bytes->resize(ok ? static_cast<std::size_t>(info.st_size) : 0);
  for (std::size_t done = 0; ok && done < bytes->size();) {
    const ssize_t n = read(fd, bytes->data() + done, bytes->size() - done);
    if (n < 0 && errno == EINTR) continue;
    ok = n > 0;
    if (ok) done += static_cast<std::size_t>(n);
  }
  close(fd);
  return ok;
}

}  // namespace cambium::demo
