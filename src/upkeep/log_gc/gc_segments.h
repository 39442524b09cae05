// GcSegments: which segments log GC may empty, how much garbage they have, and how urgent it is to empty some.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gc/relocation.h"
#include "gc/segment_use_table.h"
#include "gc/space.h"
#include "gc/victims.h"
#include "state/db_state.h"

namespace cambium {

class GcSegments {
 public:
  explicit GcSegments(DbState* state);

  // The sealed segments below the replay position: the candidates of log GC, by number. Valid until the commit lock is
  // released. Only segments that were changed since the last call are visited.
  [[nodiscard]] const std::vector<SegmentUse>& Uses() CAMBIUM_REQUIRES(commit_lock);
  // Sums over them.
  [[nodiscard]] SegmentUseSums Sums(const VictimPolicy& policy) CAMBIUM_REQUIRES(commit_lock);
  // How many segments Uses(), Sums() and Choose() have visited since Open; for tests.
  [[nodiscard]] std::uint64_t visits() const CAMBIUM_REQUIRES(commit_lock) { return visits_; }
  // Compares Uses() and its sums with a walk over all segments. Corruption: they differ. For tests.
  [[nodiscard]] Status CheckUses() CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] VictimPolicy Policy() const;
  // The limits on the size of the database and of steps.
  [[nodiscard]] SpacePolicy Limits() const;
  [[nodiscard]] GcUrgency Urgency() const;
  // True if the options allow log GC, and no CompactRange holds it back at this urgency.
  [[nodiscard]] bool MayCollect(GcUrgency urgency) const;
  // Chooses the segments to empty next; requested ones come first. No numbers: none is due.
  [[nodiscard]] VictimChoice Choose(const VictimPolicy& policy) CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] bool IsPunchingDue() CAMBIUM_REQUIRES(commit_lock);

  // Called when a step on a full disk has looked up the records of a segment. `live`: the bytes of the live ones.
  // `room`: how many bytes the step could have copied. If it found nothing to do, the segment is not chosen again until
  // something changes.
  void NoteLook(const SegmentInfo& info, std::uint64_t live, std::uint64_t room, bool found_nothing)
      CAMBIUM_EXCLUDES(commit_lock);

  // ---- Requests of CompactRange ----

  void Request(const std::set<std::uint64_t>& numbers) CAMBIUM_REQUIRES(commit_lock) {
    requested_.insert(numbers.begin(), numbers.end());
  }
  void EndRequest(const std::set<std::uint64_t>& numbers) CAMBIUM_REQUIRES(commit_lock) {
    for (const std::uint64_t number : numbers) requested_.erase(number);
  }
  // While a CompactRange holds log GC back, log GC starts only if space is short.
  void Hold() { holds_.fetch_add(1); }
  // Returns true if no CompactRange holds log GC back any more.
  bool Unhold() {
    const int before = holds_.fetch_sub(1);
    assert(before > 0);
    return before == 1;
  }

  // ---- Damage: a segment with a record that does not validate is kept, reported once, and left alone until the
  // database is opened again ----

  void MarkDamaged(const GcSource& source, const Status& why) CAMBIUM_EXCLUDES(commit_lock);
  [[nodiscard]] const std::map<std::uint64_t, std::string>& damaged() const CAMBIUM_REQUIRES(commit_lock) {
    return damaged_;
  }

  // The file system cannot punch holes.
  void SetCannotPunch() { cannot_punch_.store(true, std::memory_order_relaxed); }

 private:
  // All that the use of a segment depends on, besides the segment itself.
  struct UseInputs {
    LogPosition replay;
    std::uint64_t first_unsealed = 0;  // a log segment; all ones: all are sealed
    std::uint64_t min_punch_size = 0;  // 0: nothing is punched
    bool can_punch = true;
  };
  [[nodiscard]] UseInputs Inputs() const CAMBIUM_REQUIRES(commit_lock);
  // The use of a segment; none: log GC may not empty it.
  [[nodiscard]] std::optional<SegmentUse> UseOf(const SegmentInfo& info, const UseInputs& inputs) const
      CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] std::vector<SegmentUse> AllUses(const UseInputs& inputs) const CAMBIUM_REQUIRES(commit_lock);
  // Adds the numbers of the segments between `a` and `b`, both included; either may be the larger one. If the replay
  // position, or the first unsealed segment, moves from `a` to `b`, the standing of these segments may change.
  void AddSegmentsBetween(std::uint64_t a, std::uint64_t b, std::set<std::uint64_t>* numbers) const
      CAMBIUM_REQUIRES(commit_lock);
  void RefreshUses() CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] VictimChoice ChooseOnFullDisk(const std::vector<SegmentUse>& uses, const VictimPolicy& policy) const
      CAMBIUM_REQUIRES(commit_lock);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  SpaceControl& space_;
  const FullDisk& disk_;
  const std::shared_ptr<Family>& default_family_;

  SegmentUseTable uses_ CAMBIUM_GUARDED_BY(commit_lock);
  UseInputs inputs_ CAMBIUM_GUARDED_BY(commit_lock);         // those of uses_
  bool has_all_uses_ CAMBIUM_GUARDED_BY(commit_lock) = false;  // uses_ is right but for changes since it was refreshed
  std::uint64_t visits_ CAMBIUM_GUARDED_BY(commit_lock) = 0;
  std::map<std::uint64_t, std::string> damaged_ CAMBIUM_GUARDED_BY(commit_lock);  // by number: why
  std::set<std::uint64_t> requested_ CAMBIUM_GUARDED_BY(commit_lock);
  std::map<std::uint64_t, CutLook> looks_ CAMBIUM_GUARDED_BY(commit_lock);  // by number
  std::atomic<bool> cannot_punch_{false};
  std::atomic<int> holds_{0};
};

// Holds log GC back during its life (GcSegments::Hold), unless `segments` is null.
class GcHold {
 public:
  explicit GcHold(GcSegments* segments) : segments_(segments) {
    if (segments_ != nullptr) segments_->Hold();
  }
  ~GcHold() { Release(); }
  GcHold(const GcHold&) = delete;
  GcHold& operator=(const GcHold&) = delete;

  // Ends the hold. True if it was the last one.
  bool Release() {
    GcSegments* const held = std::exchange(segments_, nullptr);
    return held != nullptr && held->Unhold();
  }

 private:
  GcSegments* segments_;
};

}  // namespace cambium
