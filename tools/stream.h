// Stream: long output, written as it is produced. Its reader may close the pipe at any time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "command.h"

namespace cambium::tool {

class Stream {
 public:
  // From here on a closed pipe is an error of a write instead of a signal.
  Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Write(const std::string& text);
  // Writes one object per line. Bytes that are not UTF-8 are replaced.
  void WriteLine(const nlohmann::ordered_json& json);
  // True if further output would be lost: stop.
  [[nodiscard]] bool is_closed() const { return is_gone_ || is_broken_; }
  // The exit code of a command that returns `found`, after everything is written. A closed pipe is not a failure.
  [[nodiscard]] ExitCode End(ExitCode found);

 private:
  void Flush();
  std::string text_;
  bool is_gone_ = false;
  bool is_broken_ = false;
};

}  // namespace cambium::tool
