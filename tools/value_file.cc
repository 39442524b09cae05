#include "value_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace cambium::tool {
namespace {

struct OpenFileCloser {
  void operator()(std::FILE* file) const {
    if (file != stdin && file != stdout) std::fclose(file);
  }
};
using OpenFile = std::unique_ptr<std::FILE, OpenFileCloser>;

Status ErrorOf(const std::string& path) { return Status::IOError(path + ": " + std::strerror(errno)); }

}  // namespace

Status ReadValueFile(const std::string& path, std::string* bytes) {
  bytes->clear();
  const OpenFile file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return ErrorOf(path);
  char buffer[1 << 16];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0;) bytes->append(buffer, n);
  return std::ferror(file.get()) != 0 ? ErrorOf(path) : Status::OK();
}

Status WriteValueFile(const std::string& path, Slice bytes) {
  OpenFile file(path == "-" ? stdout : std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return ErrorOf(path);
  const bool is_out = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
                      std::fflush(file.get()) == 0;
  if (!is_out) return ErrorOf(path);
  if (file.get() != stdout && std::fclose(file.release()) != 0) return ErrorOf(path);
  return Status::OK();
}

std::string WhyMalformed(const std::string& argument, bool hex) {
  return "\"" + argument + "\" is not " +
         (hex ? "a row of hexadecimal digits, two for each byte" : "text: after a backslash there must be xNN or another one");
}

}  // namespace cambium::tool
