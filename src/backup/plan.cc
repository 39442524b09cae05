#include "backup/plan.h"

#include "util/result.h"

namespace cambium {

Status CheckPlanFits(FileSystem& fs, const std::string& directory, CopyPlan* plan) {
  CAMBIUM_RETURN_IF_ERROR(fs.FreeSpace(directory, &plan->free_bytes));
  if (plan->copied_bytes <= plan->free_bytes) return Status::OK();
  return Status::NoSpace(directory + ": no space for " + std::to_string(plan->copied_bytes) + " bytes, " +
                         std::to_string(plan->free_bytes) + " are free");
}

}  // namespace cambium
