#include "io/test_directory.h"

#include <unistd.h>

#include <cstdlib>

namespace cambium {

Status MakeTestDirectory(FileSystem& fs, std::string* directory) {
  const char* const named = std::getenv("TEST_TMPDIR");
  *directory = named != nullptr && *named != '\0' ? named : "/tmp/cambiumtest-" + std::to_string(::geteuid());
  FileInfo info;
  return fs.GetInfo(*directory, &info).ok() ? Status::OK() : fs.CreateDirectory(*directory);
}

}  // namespace cambium
