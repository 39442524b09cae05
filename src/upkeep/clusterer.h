// Clusterer: values of a range of keys are written anew in the order of their keys, so that a scan finds them side by side.
// A step is one of log GC whose records are chosen by key instead of by segment:
//
//   commit mutex: pin the view ─▶ walk its layers from the position on, as far as a step goes ─▶ copied and committed as log
//   GC does it ─▶ the position moves on
//
// Values that lie side by side already are passed over. Values that recovery may still read, and large ones, stay where
// they are. The old copies become garbage as compactions carry the new addresses down.
//
// CompactRange asks for a range. On its own, ValueClustering::kAuto goes where scans have jumped, and kFull over all keys,
// one pass after the other; gc/clustering.h has the rules. Steps run in the job of log GC, in turn with its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "state/cluster_walk.h"
#include "state/db_state.h"
#include "upkeep/relocator.h"

namespace cambium {

class Clusterer {
 public:
  Clusterer(DbState* state, GcSegments* segments, Relocator* relocator);

  // A range whose values are to lie in the order of their keys, for a CompactRange. The job walks it.
  struct Request {
    std::shared_ptr<Family> family;
    ClusterWalk walk;
    std::atomic<std::uint64_t> steps{0};  // the caller looks whether there is progress
    std::atomic<bool> is_done{false};
  };
  void SetRequest(const std::shared_ptr<Request>& request) CAMBIUM_REQUIRES(commit_lock) { request_ = request; }
  void EndRequest(const std::shared_ptr<Request>& request) CAMBIUM_REQUIRES(commit_lock) {
    if (request_ == request) request_ = nullptr;
  }
  // A step for the request. False: there is none, or no room for it.
  Result<bool> RunRequested();
  // A step that no call asked for. False: none is due.
  Result<bool> RunOnItsOwn();
  // The family that such a step is due for; null: none.
  [[nodiscard]] std::shared_ptr<Family> FamilyDue() const CAMBIUM_REQUIRES(commit_lock);
  // Near the ceiling there is none: log GC and compactions come first.
  [[nodiscard]] bool HasRoom() const CAMBIUM_REQUIRES(commit_lock);
  // A scan from `from` to `to` (null: the last key) has jumped so often from one value to the next.
  void NoteJumps(const Family& family, Slice from, const Slice* to, std::uint64_t jumps) noexcept;

  // For an offline compaction: all values of all families that may be moved. `visit` is called with the records of each
  // step; false ends it, with Incomplete. `dry`: nothing is moved.
  Status ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit);

 private:
  Result<ClusterFinds> Pick(const std::shared_ptr<Family>& family, const ClusterWalk& walk, GcPick* pick, Arena* keys,
                            std::vector<GcRecord>* records);
  // False: there was nothing to move.
  Result<bool> MoveIntoOrder(GcPick* pick, std::span<const GcRecord> records);
  // From the walk's position on, as far as a step goes; the walk moves on. Without room only if nothing has to be moved.
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
  std::shared_ptr<Request> request_ CAMBIUM_GUARDED_BY(commit_lock);  // null: there is none
};

}  // namespace cambium
