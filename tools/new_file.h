// NewFile: a file that gets its name when it is whole.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>

#include "cambium/status.h"

namespace cambium::tool {

// What has the name before keeps it until then, and goes as a whole; it is the mode of the new one that stays as it was.
// The name of a symlink stands for what it leads to. What is no regular file, a device or a pipe, cannot be replaced, and
// is written into; so is stdout, "-".
//
// Until it is whole the file has no name, so that nothing is left of it, whatever ends the program; where a file system
// cannot do that, it is called `path`.PID.N.tmp, a name that nobody had.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  // Errors name `path`.
  Status Open();
  Status Write(const std::string& text);
  // When it returns OK, name and bytes are durable.
  Status Finish();

 private:
  enum class As : unsigned char { kStream, kWithoutName, kTemporary };
  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };

  Status FindTarget();
  Status OpenTemporary();
  Status TakeOver(int descriptor);
  // The next name that it may have; nobody may have it.
  std::string NextTemporary();
  Status Name();
  [[nodiscard]] Status Error() const;

  const std::string path_;
  std::string target_;  // where links lead to
  std::string temporary_;
  As as_ = As::kStream;
  bool exists_ = false;
  struct stat before_ {};
  int names_tried_ = 0;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace cambium::tool
