// SegmentUseTable: the uses of all segments in F (gc/victims.h), with sums over them, and with the figures that tell
// whether log GC has something to do. Apply takes time for the changed segments only, except that it moves the other
// rows in memory if segments join or leave F.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gc/victim_outline.h"
#include "gc/victims.h"

namespace cambium {

// Sums over the members. In bytes, except for `worth_punching`.
struct SegmentUseSums {
  std::uint64_t garbage = 0;          // garbage in intact segments
  std::uint64_t damaged_garbage = 0;  // garbage in damaged segments; log GC does not collect it
  std::uint64_t collectable = 0;      // the part of `garbage` in segments that are worth space (IsWorthSpace)
  std::uint64_t holes = 0;
  std::uint64_t live_overhead = 0;    // the live records' part of headers and footers, by bytes
  std::size_t worth_punching = 0;     // number of segments that are
  friend bool operator==(const SegmentUseSums&, const SegmentUseSums&) = default;
};

// One thread at a time.
class SegmentUseTable {
 public:
  // The new use of each changed segment, by number; nullopt: the segment is no member.
  using Changes = std::map<std::uint64_t, std::optional<SegmentUse>>;

  // `uses`: by number.
  void Reset(std::vector<SegmentUse> uses);
  // Makes all changes or, if memory runs out, none.
  void Apply(const Changes& changes);
  // The sums and MayHaveVictims depend on the policy's shares of garbage and its age_cutoff. The initial policy is the
  // default one. A change of one of these values costs a walk over all members.
  void SetPolicy(const VictimPolicy& policy);
  // VictimOutline::MayHaveVictims, for a policy that SetPolicy has got.
  [[nodiscard]] bool MayHaveVictims(const VictimPolicy& policy, GcUrgency urgency) const {
    return figures_.outline.MayHaveVictims(policy, urgency, figures_.eligible);
  }

  // By number.
  [[nodiscard]] const std::vector<SegmentUse>& all() const { return uses_; }
  [[nodiscard]] const SegmentUseSums& sums() const { return figures_.sums; }
  // The sums as a walk over all members finds them; for tests.
  [[nodiscard]] SegmentUseSums Recount() const { return Count(uses_, figures_.policy).sums; }

 private:
  struct Figures {
    explicit Figures(const VictimPolicy& its_policy) : policy(its_policy), outline(its_policy) {}
    // Adds a member to the sums; the caller adds it to `outline`.
    void AddToSums(const SegmentUse& use) noexcept;
    void Subtract(const SegmentUse& use) noexcept;
    // Adds or removes members at the end of the eligible ones. `uses`: all members, which were added one by one.
    void MoveEligible(const std::vector<SegmentUse>& uses) noexcept;

    VictimPolicy policy;
    SegmentUseSums sums;
    VictimOutline outline;
    EligibleSums eligible;
  };
  [[nodiscard]] static Figures Count(const std::vector<SegmentUse>& uses, const VictimPolicy& policy);
  [[nodiscard]] std::vector<SegmentUse>::iterator PlaceOf(std::uint64_t number);

  std::vector<SegmentUse> uses_;
  Figures figures_{VictimPolicy()};
};

}  // namespace cambium
