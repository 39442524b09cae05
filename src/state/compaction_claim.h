// CompactionClaim: holds the claim of a family's one compaction, and releases it in any case.
#pragma once

#include <exception>

#include "state/jobs.h"
#include "util/mutant.h"

namespace cambium {

// Takes over a claim that Jobs::ClaimCompaction or AwaitClaimOfCompaction has given to the calling thread. The
// destructor releases it, also when an exception passes: for lack of memory, or from a filter of the user.
class CompactionClaim {
 public:
  CompactionClaim(Jobs* jobs, Family* family) : jobs_(*jobs), family_(family) {}
  ~CompactionClaim() {
    if (!MutantIs(Mutant::kExceptionKeepsClaim) || std::uncaught_exceptions() == 0) jobs_.ReleaseCompaction(family_);
  }
  CompactionClaim(const CompactionClaim&) = delete;
  CompactionClaim& operator=(const CompactionClaim&) = delete;

 private:
  Jobs& jobs_;
  Family* const family_;
};

}  // namespace cambium
