#include "output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "key_text.h"

namespace cambium::tool {

ExitCode ExitCodeOf(const Status& status) {
  if (status.ok()) return kClean;
  if (status.IsCorruption()) return kDamage;
  return status.IsLocked() ? kLocked : kCannot;
}

ExitCode OutputFailed() {
  std::fprintf(stderr, "cambium: stdout: %s\n", std::strerror(errno));
  return kCannot;
}

ExitCode Say(const std::string& text) {
  const bool is_out = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return is_out ? kClean : OutputFailed();
}

ExitCode Say(const nlohmann::ordered_json& json) {
  return Say(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

namespace {

bool Put(const std::string& text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size(); }

}  // namespace

ExitCode SayBytes(Slice bytes, bool hex) {
  const bool is_out = PutInPieces(bytes, [hex](Slice piece) { return Put(Format(piece, hex)); });
  return is_out ? Say(std::string("\n")) : OutputFailed();
}

ExitCode SayBytes(const nlohmann::ordered_json& members, const std::string& name, Slice bytes, bool hex) {
  const std::string end = "\n}";
  std::string begin = members.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  begin.resize(begin.size() - end.size());
  begin += ",\n  " + nlohmann::ordered_json(name).dump() + ": \"";
  const bool is_out =
      Put(begin) && PutInPieces(bytes, [hex](Slice piece) { return Put(FormatInJson(piece, hex)); });
  return is_out ? Say("\"" + end + "\n") : OutputFailed();
}

namespace {

void Report(const std::string& what, bool json) {
  std::fprintf(stderr, "cambium: %s\n", what.c_str());
  // On one line, so that it can be the last of many.
  const nlohmann::ordered_json error{{"error", what}};
  if (json) {
    static_cast<void>(Say(error.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
  }
}

}  // namespace

ExitCode Fail(const Status& status, bool json) {
  Report(status.ToString(), json);
  return ExitCodeOf(status);
}

ExitCode FailUsage(const std::string& why, bool json) {
  Report(why, json);
  return kCannot;
}

}  // namespace cambium::tool
