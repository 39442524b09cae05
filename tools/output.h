// What commands print, and what they end with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cambium/status.h"
#include "command.h"

namespace cambium::tool {

// The same for every command: damage is kDamage, another's lock kLocked, all else that is not OK kCannot.
[[nodiscard]] ExitCode ExitCodeOf(const Status& status);

// To stdout, at once. kCannot if it did not get there: an answer that did not reach whoever asked is none.
[[nodiscard]] ExitCode Say(const std::string& text);
// One object, an end of line behind it. Bytes that are not UTF-8 are replaced.
[[nodiscard]] ExitCode Say(const nlohmann::ordered_json& json);

// Why a command could not do what was asked: to stderr; with `json` a line {"error": ...} to stdout too. Returns what the
// command ends with.
[[nodiscard]] ExitCode Fail(const Status& status, bool json);
[[nodiscard]] ExitCode FailUsage(const std::string& why, bool json);

}  // namespace cambium::tool
