// The output of --dry-run of commands that copy.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cambium/copy_plan.h"
#include "output.h"

namespace cambium::tool {

// Return "would link 3 files, 12 bytes ...", one line per kind; and the same as JSON.
[[nodiscard]] std::string LinesOf(const CopyPlan& plan);
[[nodiscard]] nlohmann::ordered_json JsonOf(const CopyPlan& plan);

// Prints the plan as text or JSON and returns kClean; or prints the error and returns its exit code.
[[nodiscard]] ExitCode SayPlan(const Status& status, const CopyPlan& plan, bool json);

}  // namespace cambium::tool
