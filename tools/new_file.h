// NewFile: a file that appears under its name once it is complete.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>

#include "cambium/status.h"

namespace cambium::tool {

// Until it is complete, an existing file of that name stays untouched. Then the new file replaces it as a whole, and
// has its mode. A symbolic link is followed, and its target replaced. Devices and pipes cannot be replaced, and are
// written to directly; so is stdout, "-".
//
// Until it is complete, the new file has no name, so that nothing is left of it however the program ends. Then it gets
// the unused name TARGET.PID.N.tmp, and is renamed to TARGET: `path` with links followed. On file systems without files
// that have no name, it has the temporary name from the start.
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
  // The next candidate for a temporary name; it may exist.
  std::string NextTemporary();
  Status Name();
  [[nodiscard]] Status Error() const;

  const std::string path_;
  std::string target_;  // `path` after following links
  std::string temporary_;
  As as_ = As::kStream;
  bool exists_ = false;
  struct stat before_ {};
  int names_tried_ = 0;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace cambium::tool
