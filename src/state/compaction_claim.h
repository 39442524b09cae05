// CompactionClaim: holds the claim of a family's one compaction, and releases it in any case.
#pragma once

#include <exception>

#include "state/jobs.h"
#include "util/mutant.h"

namespace cambium {

// Made after Jobs::ClaimCompaction or AwaitClaimOfCompaction has given the claim to the calling thread. The destructor
// releases it, also when an exception passes: bad_alloc, or one from the user's filter.
class CompactionClaim {
 public:
  CompactionClaim(Jobs* jobs, Family* family) : jobs_(*jobs), family_(family) { ++held_by_thread; }
  ~CompactionClaim() {
    --held_by_thread;
    if (!MutantIs(Mutant::kExceptionKeepsClaim) || std::uncaught_exceptions() == 0) jobs_.ReleaseCompaction(family_);
  }
  CompactionClaim(const CompactionClaim&) = delete;
  CompactionClaim& operator=(const CompactionClaim&) = delete;

  // Whether the calling thread holds a claim of any family. It may do so while it runs another job, if the executor has
  // no threads of its own. Such a job must not wait for a claim.
  [[nodiscard]] static bool IsHeldByThread() { return held_by_thread > 0; }

 private:
  static inline thread_local int held_by_thread = 0;

  Jobs& jobs_;
  Family* const family_;
};

}  // namespace cambium
