// What --dry-run of commands that copy prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cambium/copy_plan.h"
#include "output.h"

namespace cambium::tool {

// "would link 3 files, 12 bytes ...", a line each; and the same as JSON.
[[nodiscard]] std::string LinesOf(const CopyPlan& plan);
[[nodiscard]] nlohmann::ordered_json JsonOf(const CopyPlan& plan);

// "would link 3 files, 12 bytes ..." or as JSON; kClean. Or why it would be refused, and what that ends with.
[[nodiscard]] ExitCode SayPlan(const Status& status, const CopyPlan& plan, bool json);

}  // namespace cambium::tool
