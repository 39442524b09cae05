// Output and exit codes of commands.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cambium/status.h"
#include "command.h"

namespace cambium::tool {

// Same mapping for every command: Corruption is kDamage, Locked is kLocked, any other error is kCannot.
[[nodiscard]] ExitCode ExitCodeOf(const Status& status);

// Says on stderr that stdout cannot be written, with the errno. Returns kCannot: lost output counts as a failure.
[[nodiscard]] ExitCode OutputFailed();

// Prints to stdout at once; OutputFailed if that fails.
[[nodiscard]] ExitCode Say(const std::string& text);
// Prints one object and a line end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] ExitCode Say(const nlohmann::ordered_json& json);

// Prints an error to stderr; with `json` also a line {"error": ...} to stdout. Returns the command's exit code.
[[nodiscard]] ExitCode Fail(const Status& status, bool json);
[[nodiscard]] ExitCode FailUsage(const std::string& why, bool json);

}  // namespace cambium::tool
