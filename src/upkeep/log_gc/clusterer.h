// Clusterer: rewrites the values of a range of keys in the order of their keys, so that a scan finds them side by side.
// A step is a step of log GC whose records are chosen by key instead of by segment:
//
//   commit lock: pin the view ─▶ walk its layers from the position on, as far as a step goes
//        ─▶ copy and commit as log GC does ─▶ the position moves on
//
// Values that already lie side by side are skipped. Values above kClusteredValueMax, and values that recovery may still
// read, are not moved. The old copies become garbage as compactions carry the new addresses down.
//
// CompactRange requests a range. Without a request, ValueClustering::kAuto clusters where scans have jumped, and kFull
// makes passes over all keys, one after the other; gc/clustering.h has the rules. Steps run in the job of log GC, in
// turn with its own steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "state/cluster_walk.h"
#include "state/db_state.h"
#include "upkeep/log_gc/relocator.h"

namespace cambium {

class Clusterer {
 public:
  Clusterer(DbState* state, GcSegments* segments, Relocator* relocator);

  // A range that a CompactRange wants clustered. The job walks it.
  struct Request {
    std::shared_ptr<Family> family;
    ClusterWalk walk;
    std::atomic<std::uint64_t> steps{0};  // shows the caller whether there is progress
    std::atomic<bool> is_done{false};
  };
  void SetRequest(const std::shared_ptr<Request>& request) CAMBIUM_REQUIRES(commit_lock) { request_ = request; }
  void EndRequest(const std::shared_ptr<Request>& request) CAMBIUM_REQUIRES(commit_lock) {
    if (request_ == request) request_ = nullptr;
  }
  // Runs a step for the request. False: there is no request, or no room for the step.
  Result<bool> RunRequested();
  // Runs a step without a request. False: none is due.
  Result<bool> RunOnItsOwn();
  // The family for which a step without a request is due; null: none.
  [[nodiscard]] std::shared_ptr<Family> FamilyDue() const CAMBIUM_REQUIRES(commit_lock);
  // False near the ceiling: log GC and compactions need the space first.
  [[nodiscard]] bool HasRoom() const CAMBIUM_REQUIRES(commit_lock);
  // Counts the jumps between distant values that a scan of the keys `from` to `to` (null: the last key) has made.
  void NoteJumps(const Family& family, Slice from, const Slice* to, std::uint64_t jumps) noexcept;

  // For an offline compaction: clusters all values that may be moved, in all families. Calls `visit` with the records
  // of each step; if it returns false, stops with Incomplete. `dry`: moves nothing.
  Status ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit);

 private:
  Result<ClusterFinds> Pick(const std::shared_ptr<Family>& family, const ClusterWalk& walk, GcPick* pick, Arena* keys,
                            std::vector<GcRecord>* records);
  // False: there was nothing to move.
  Result<bool> MoveIntoOrder(GcPick* pick, std::span<const GcRecord> records);
  // Runs a step from the walk's position on, and moves the position. If there is no room for copies and some value
  // would have to be copied, changes nothing (`lacks_room`).
  Result<ClusterFinds> RunStep(const std::shared_ptr<Family>& family, ClusterWalk* walk, bool has_room);
  [[nodiscard]] bool PassIsDue(const Family& family) const CAMBIUM_REQUIRES(commit_lock);
  Status RunPassStep(const std::shared_ptr<Family>& family);
  Status RunHotStep(const std::shared_ptr<Family>& family);
  // Segments whose values may be moved, by slot.
  [[nodiscard]] std::map<Slot, SegmentInfo> PinMovable(GcPick* pick) CAMBIUM_EXCLUDES(commit_lock);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  SpaceControl& space_;
  GcSegments& segments_;
  Relocator& relocator_;
  std::shared_ptr<Request> request_ CAMBIUM_GUARDED_BY(commit_lock);  // null: none
};

}  // namespace cambium
