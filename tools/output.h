// Output and exit codes of commands.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "command.h"

namespace cambium::tool {

// Same mapping for every command: Corruption is kDamage, Locked is kLocked, any other error is kCannot.
[[nodiscard]] ExitCode ExitCodeOf(const Status& status);

// Prints to stderr that stdout cannot be written, and why (errno). Returns kCannot: lost output counts as a failure.
[[nodiscard]] ExitCode OutputFailed();

// Prints to stdout at once; OutputFailed if that fails.
[[nodiscard]] ExitCode Say(const std::string& text);
// Prints one object and a line end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] ExitCode Say(const nlohmann::ordered_json& json);

// Prints bytes as Format formats them, piece by piece: the text of a byte has up to four bytes.
[[nodiscard]] ExitCode SayBytes(Slice bytes, bool hex);
// The same as the last member of an object, after `members`, of which there is at least one.
[[nodiscard]] ExitCode SayBytes(const nlohmann::ordered_json& members, const std::string& name, Slice bytes, bool hex);

// Prints an error to stderr; with `json` also a line {"error": ...} to stdout. Returns the command's exit code.
[[nodiscard]] ExitCode Fail(const Status& status, bool json);
[[nodiscard]] ExitCode FailUsage(const std::string& why, bool json);

}  // namespace cambium::tool
