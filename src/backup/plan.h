// What planning a checkpoint, a backup and a restore have in common.
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

// Notes how much is free in `directory`, which exists. NoSpace if what is to be copied does not fit.
Status CheckPlanFits(FileSystem& fs, const std::string& directory, CopyPlan* plan);

}  // namespace cambium
