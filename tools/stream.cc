#include "stream.h"

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "output.h"

namespace cambium::tool {
namespace {

constexpr std::size_t kPiece = 1u << 16;

}  // namespace

Stream::Stream() { std::signal(SIGPIPE, SIG_IGN); }

void Stream::Write(const std::string& text) {
  if (is_closed()) return;
  text_ += text;
  if (text_.size() >= kPiece) Flush();
}

void Stream::WriteLine(const nlohmann::ordered_json& json) {
  Write(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void Stream::Flush() {
  errno = 0;
  const bool is_out = std::fwrite(text_.data(), 1, text_.size(), stdout) == text_.size() && std::fflush(stdout) == 0;
  text_.clear();
  if (is_out) return;
  is_gone_ = errno == EPIPE;
  if (is_gone_) return;
  is_broken_ = true;
  static_cast<void>(OutputFailed());
}

ExitCode Stream::End(ExitCode found) {
  if (!is_closed()) Flush();
  return is_broken_ ? kCannot : found;
}

}  // namespace cambium::tool
