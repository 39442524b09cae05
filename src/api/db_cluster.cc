// Clustering: the values of a range of keys are written anew in the order of their keys, so that a scan finds them side by
// side. A step is one of log GC whose records are chosen by key instead of by segment:
//
//   commit_mutex_: pin the view ─▶ walk its layers from the cursor on, as far as a step goes ─▶ copied and committed as
//   log GC does it ─▶ cursor
//
// What lies side by side already is passed over. Values that recovery may still read, and large ones, stay where they
// are. The old copies are garbage for the accounts as merges carry the new addresses down.
#include <algorithm>

#include "api/db_impl.h"
#include "index/merge_cursor.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// What is larger is a read of its own, wherever it lies.
constexpr std::uint64_t kValueMax = 64u << 10;
// Of neighbours in a step, at most so many may lie apart for it to count as clustered.
constexpr std::size_t kBreaksOneIn = 64;

// A record of the step at hand lies right behind the one before it, or nearly: one read brings both.
bool AreNeighbours(const GcRecord& before, const GcRecord& record) {
  constexpr std::uint64_t kGapMax = 4096;
  return before.source == record.source && record.offset >= before.offset &&
         record.offset - before.offset <= before.size + kGapMax;
}

}  // namespace

// The next records of the range, and what they come from. False: there are none, the request is done.
Result<bool> DbImpl::PickClusterStep(ClusterRequest* request, GcStep* step, Arena* keys, std::vector<GcRecord>* records) {
  std::map<Slot, SegmentInfo> movable;
  {
    const std::lock_guard lock(commit_mutex_);
    step->view = view_.Pin();
    step->step_bytes = GcPolicy().step_bytes;
    for (const SegmentUse& use : SegmentUses()) {
      const SegmentInfo& info = manifest_->state().segments.at(use.number);
      if (!use.is_damaged) movable.emplace(info.slot, info);
    }
  }
  AddGcFamilies(step);
  const FamilyView* const family = step->view->Find(request->family->id);
  if (family == nullptr) return false;  // dropped
  const Comparator* const comparator = request->family->options().comparator;
  std::vector<MergeChild> children;
  family->layers->AppendCursors(&children);
  MergeCursor cursor(comparator, std::move(children));
  if (request->position.has_value()) {
    cursor.Seek(*request->position);
    const bool is_done = request->is_position_done && cursor.Valid();
    if (is_done && comparator->Compare(cursor.key(), *request->position) == 0) cursor.Next();
  } else {
    cursor.SeekToFirst();
  }
  std::map<Slot, std::uint32_t> sources;
  std::uint64_t bytes = 0;
  bool has_more = false;
  for (; cursor.Valid(); cursor.Next()) {
    if (request->end.has_value() && comparator->Compare(cursor.key(), *request->end) > 0) break;
    has_more = true;
    const Entry entry = cursor.entry();
    if (entry.HasAddress() && entry.address.kind() != EntryKind::kLargeValue && entry.address.size() <= kValueMax) {
      const auto segment = movable.find(entry.address.slot());
      if (segment != movable.end()) {
        if (bytes > 0 && bytes + entry.address.size() > step->step_bytes) break;
        bytes += entry.address.size();
        const auto [source, is_new] = sources.emplace(segment->first, static_cast<std::uint32_t>(sources.size()));
        if (is_new) step->sources.push_back({step->view->segments.Find(segment->first), segment->second});
        CAMBIUM_TRY(const Slice key, CopyKey(cursor.key(), keys));
        records->push_back({request->family->id, source->second, key, entry.address.offset(), entry.address.size()});
      }
    }
    request->next = cursor.key().ToString();
  }
  CAMBIUM_RETURN_IF_ERROR(cursor.status());
  return has_more;
}

Status DbImpl::RunClusterStep(ClusterRequest* request) {
  GcStep step;
  Arena keys;
  std::vector<GcRecord> records;
  step.begun_micros = options_.clock->NowMicros();
  step.job_id = events_.NewJobId();
  CAMBIUM_TRY(const bool has_more, PickClusterStep(request, &step, &keys, &records));
  if (!has_more) {
    request->is_done = true;
    return Status::OK();
  }
  std::size_t breaks = 0;
  for (std::size_t i = 1; i < records.size(); ++i) breaks += AreNeighbours(records[i - 1], records[i]) ? 0 : 1;
  if (breaks > records.size() / kBreaksOneIn) {
    step.is_emptied.assign(step.sources.size(), false);
    CAMBIUM_FAULT_POINT("Cluster:picked");
    step.reason = GcReason::kClustering;
    const Status done = MoveRecords(&step, records);
    if (events_.is_on()) TellOfGcStep(step, done);
    CAMBIUM_RETURN_IF_ERROR(done);
  }
  request->position = request->next;
  request->is_position_done = true;
  return Status::OK();
}

// Near the ceiling what a step writes would be missing to everybody else: log GC and merges have their turn first.
bool DbImpl::HasRoomToCluster() const {
  const std::lock_guard lock(commit_mutex_);
  if (max_space_amplification_.load(std::memory_order_relaxed) == 0) return true;
  if (MutantIs(Mutant::kClusterWithoutRoom)) return true;
  return space_.figures.on_disk() + space_.plan.step_bytes <= space_.plan.slow_at;
}

// Steps run in the background, where log GC has its own, so that there is one at a time.
Status DbImpl::ClusterRange(ColumnFamilyHandle* handle, const Slice* begin, const Slice* end) {
  CAMBIUM_TRY(Family* const its, FamilyOf(handle));
  const auto request = std::make_shared<ClusterRequest>();
  request->family = FindFamily(its->id);
  if (request->family == nullptr) return Status::OK();  // dropped since
  if (begin != nullptr) request->position = begin->ToString();
  if (end != nullptr) request->end = end->ToString();
  std::uint64_t steps_seen = 0;
  bool has_waited = false;  // for everything that could make room
  while (true) {
    std::uint64_t seen = 0;
    {
      const std::lock_guard commit_lock(commit_mutex_);
      cluster_request_ = request;
      const std::lock_guard lock(background_mutex_);
      ScheduleLocked(Job::kCollect, nullptr);
      if (!StateOf(Job::kCollect, nullptr)->scheduled) break;  // closing, or broken
      seen = StateOf(Job::kCollect, nullptr)->ended;
    }
    Status s = WaitUntil([&] { return StateOf(Job::kCollect, nullptr)->ended != seen; });
    {
      const std::lock_guard commit_lock(commit_mutex_);
      if (cluster_request_ == request) cluster_request_ = nullptr;
      const std::lock_guard lock(background_mutex_);
      if (s.ok()) s = StateOf(Job::kCollect, nullptr)->last;
      if (!s.ok()) return s;
      if (request->is_done) return Health();
      if (request->steps != steps_seen) {
        steps_seen = request->steps;
        has_waited = false;
        continue;
      }
    }
    if (has_waited) {
      return Status::Incomplete("max_space_amplification leaves no room to write values in the order of their keys");
    }
    // All that is hidden is made garbage, and all garbage is collected.
    SpacePlan plan;
    plan.merge = plan.collect = true;
    StartSpaceJobs(plan);
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([this] { return !HasSpaceJob(); }));
    has_waited = !HasRoomToCluster();
  }
  const Status health = Health();
  return health.ok() ? Status::ShutdownInProgress("the database is closing") : health;
}

}  // namespace cambium
