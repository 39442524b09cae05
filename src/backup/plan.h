// Helpers to plan a checkpoint, a backup or a restore.
#pragma once

#include <string>

#include "cambium/copy_plan.h"
#include "cambium/file_system.h"
#include "cambium/status.h"

namespace cambium {

inline void PlanCopy(std::uint64_t bytes, CopyPlan* plan) {
  ++plan->copied_files;
  plan->copied_bytes += bytes;
}

// Sets the plan's free bytes to those of `directory`, which must exist. NoSpace if the bytes to copy do not fit.
Status CheckPlanFits(FileSystem& fs, const std::string& directory, CopyPlan* plan);

}  // namespace cambium
