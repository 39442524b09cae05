// TempDirectory: a new directory on the real file system, which the destructor deletes.
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cambium::testing {

// Created in $TMPDIR, or in /tmp.
class TempDirectory {
 public:
  TempDirectory() {
    const char* const parent = std::getenv("TMPDIR");
    path_ = std::string(parent == nullptr || *parent == '\0' ? "/tmp" : parent) + "/cambium-test-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create a directory like " + path_);
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace cambium::testing
