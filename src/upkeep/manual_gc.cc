#include "upkeep/manual_gc.h"

#include <set>
#include <utility>

namespace cambium {

namespace {

// Ends a request of log GC in any case, also when memory runs out: a request that remained would be carried out again
// and again.
template <typename F>
class RequestEnd {
 public:
  explicit RequestEnd(F end) : end_(std::move(end)) {}
  ~RequestEnd() { end_(); }
  RequestEnd(const RequestEnd&) = delete;
  RequestEnd& operator=(const RequestEnd&) = delete;

 private:
  const F end_;
};

}  // namespace

ManualGc::ManualGc(DbState* state, GcSegments* segments, Clusterer* clusterer, SpaceKeeper* space_keeper)
    : jobs_(state->jobs),
      commits_(state->commits),
      segments_(*segments),
      clusterer_(*clusterer),
      space_keeper_(*space_keeper),
      default_family_(state->default_family) {}

Status ManualGc::CollectFor(const CompactRangeOptions& options, bool all_keys) {
  using Policy = BlobGarbageCollectionPolicy;
  const bool all = options.blob_garbage_collection_policy == Policy::kForce;
  const bool is_enabled = default_family_->options().enable_blob_garbage_collection;
  const bool is_disabled = options.blob_garbage_collection_policy == Policy::kDisable || !is_enabled || !all_keys;
  if (!all && is_disabled) return Status::OK();
  return CollectRound(all, options.blob_garbage_collection_age_cutoff);
}

// Steps run in the background, one at a time. Segments that become eligible meanwhile do not count.
Status ManualGc::CollectRound(bool all, double cutoff) {
  VictimPolicy policy;
  std::set<std::uint64_t> left;
  {
    const CommitLock lock(commits_);
    policy = segments_.Policy();
    if (cutoff >= 0 && cutoff <= 1) policy.age_cutoff = cutoff;
    left = WorthRequesting(segments_.Uses(), policy, all);
  }
  // The cutoff has been applied. It is a fraction of all segments, so it would choose too few if it were applied again
  // to the segments that are left.
  policy.age_cutoff = 1;
  while (!left.empty()) {
    const RequestEnd request_end([&] {
      const CommitLock lock(commits_);
      segments_.EndRequest(left);
    });
    std::optional<std::uint64_t> seen;
    {
      const CommitLock lock(commits_);
      // Segments that were dropped or punched, or that are damaged, are done.
      const std::set<std::uint64_t> worth = WorthRequesting(segments_.Uses(), policy, all);
      std::erase_if(left, [&](std::uint64_t number) { return !worth.contains(number); });
      if (left.empty()) break;
      segments_.Request(left);
      seen = jobs_.ScheduleToAwait(Job::kCollect);
      if (!seen.has_value()) break;
    }
    Status s = jobs_.AwaitEnd(Job::kCollect, *seen);
    if (s.ok()) s = jobs_.LastOf(Job::kCollect);
    if (!s.ok()) return s;
  }
  CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
  return jobs_.is_closing() ? Status::ShutdownInProgress("the database is closing") : Status::OK();
}

// Steps run in the job of log GC, so only one runs at a time.
Status ManualGc::ClusterRange(const std::shared_ptr<Family>& family, const Slice* begin, const Slice* end) {
  const auto request = std::make_shared<Clusterer::Request>();
  request->family = family;
  if (begin != nullptr) request->walk.position = begin->ToString();
  if (end != nullptr) request->walk.end = end->ToString();
  std::uint64_t steps_seen = 0;
  bool has_waited = false;  // for all jobs that could make room
  while (true) {
    Status s;
    {
      const RequestEnd request_end([&] {
        const CommitLock lock(commits_);
        clusterer_.EndRequest(request);
      });
      std::optional<std::uint64_t> seen;
      {
        const CommitLock lock(commits_);
        clusterer_.SetRequest(request);
        seen = jobs_.ScheduleToAwait(Job::kCollect);
      }
      if (!seen.has_value()) break;
      s = jobs_.AwaitEnd(Job::kCollect, *seen);
    }
    if (s.ok()) s = jobs_.LastOf(Job::kCollect);
    if (!s.ok()) return s;
    if (request->is_done) return jobs_.Health();
    if (request->steps != steps_seen) {
      steps_seen = request->steps;
      has_waited = false;
      continue;
    }
    if (has_waited) {
      return Status::Incomplete("max_space_amplification leaves no room to rewrite values in the order of their keys");
    }
    // Compactions turn hidden values into garbage, and log GC collects all garbage.
    SpacePlan plan;
    plan.compact = plan.collect = true;
    space_keeper_.StartJobs(plan);
    CAMBIUM_RETURN_IF_ERROR(
        jobs_.WaitUntil([this]() CAMBIUM_REQUIRES(jobs_lock) { return !jobs_.HasJobThatFreesSpace(); }));
    const CommitLock lock(commits_);
    has_waited = !clusterer_.HasRoom();
  }
  const Status health = jobs_.Health();
  return health.ok() ? Status::ShutdownInProgress("the database is closing") : health;
}

}  // namespace cambium
