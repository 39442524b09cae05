#include "upkeep/compact/filter_call.h"

#include <cassert>

#include "state/compaction_claim.h"
#include "util/fault_point.h"

namespace cambium {

FilterCall::~FilterCall() {
  if (!has_claim_) return;
  family_->gives_up_filtering.store(false, std::memory_order_relaxed);  // if Begin has thrown
  {
    const CommitLock lock(state_.commits);
    family_->filtered.reset();
  }
  state_.jobs.ReleaseFilterCall(family_.get());
}

Status FilterCall::Begin() {
  assert(!has_claim_);
  Jobs& jobs = state_.jobs;
  Family* const family = family_.get();
  while (!jobs.ClaimFilterCall(family)) {
    CAMBIUM_RETURN_IF_ERROR(jobs.WaitUntil([&]() CAMBIUM_REQUIRES(jobs_lock) { return !family->has_filter_call; }));
  }
  has_claim_ = true;
  family->gives_up_filtering.store(true, std::memory_order_relaxed);
  CAMBIUM_FAULT_POINT("FilterCall:waits");
  const Status claimed = jobs.AwaitClaimOfCompaction(family);
  family->gives_up_filtering.store(false, std::memory_order_relaxed);
  CAMBIUM_RETURN_IF_ERROR(claimed);
  const CompactionClaim claim(&jobs, family);
  // From here on, compactions write to new files.
  family->index->SealFiles();
  const CommitLock lock(state_.commits);
  family->filtered = std::make_shared<const FilteredPart>(family->options().comparator);
  return Status::OK();
}

}  // namespace cambium
