// Stream: long output, written as it comes. Whoever reads it may stop at any time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "command.h"

namespace cambium::tool {

class Stream {
 public:
  // From here on a reader who has gone is no signal but an error of a write.
  Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Write(const std::string& text);
  // One object a line. Bytes that are not UTF-8 are replaced.
  void WriteLine(const nlohmann::ordered_json& json);
  // Nothing that is written arrives any more: stop.
  [[nodiscard]] bool is_closed() const { return is_gone_ || is_broken_; }
  // What a command that found this ends with, once all is out. A reader who has seen enough is no failure.
  [[nodiscard]] ExitCode End(ExitCode found);

 private:
  void Flush();
  std::string text_;
  bool is_gone_ = false;
  bool is_broken_ = false;
};

}  // namespace cambium::tool
