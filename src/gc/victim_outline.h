// VictimOutline: whether PickGcVictims can find something, without a walk over all segments. Most looks find nothing.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "gc/victims.h"

namespace cambium {

// The members of F that are old enough, and their sums in bytes.
struct EligibleSums {
  std::size_t count = 0;
  std::uint64_t last = 0;  // the number of the youngest one; 0: there is none
  std::uint64_t bytes = 0;
  std::uint64_t garbage = 0;

  void Add(const SegmentUse& use) {
    ++count;
    bytes += use.bytes;
    garbage += use.garbage();
  }
  void Subtract(const SegmentUse& use) {
    assert(count > 0 && bytes >= use.bytes && garbage >= use.garbage());
    --count;
    bytes -= use.bytes;
    garbage -= use.garbage();
  }
};

// To add or subtract one member costs the logarithm of their number. One thread at a time.
class VictimOutline {
 public:
  // Only the shares of garbage in the policy count.
  explicit VictimOutline(const VictimPolicy& policy)
      : idle_garbage_least_(policy.idle_garbage_least), space_garbage_least_(policy.space_garbage_least) {}

  void Add(const SegmentUse& use);
  void Subtract(const SegmentUse& use) noexcept;
  // Adds all members of `other`, which has the same policy. Allocates no memory.
  void Merge(VictimOutline&& other) noexcept;
  // False: PickGcVictims finds nothing with this policy. True: it finds something, or with force_threshold or on a full
  // disk perhaps nothing. `eligible`: for the policy's age_cutoff.
  [[nodiscard]] bool MayHaveVictims(const VictimPolicy& policy, GcUrgency urgency, const EligibleSums& eligible) const;

 private:
  [[nodiscard]] bool HasManySmall(const VictimPolicy& policy) const;

  // These are about intact members only.
  double idle_garbage_least_;
  double space_garbage_least_;
  std::size_t worth_space_ = 0;         // the number of those that have enough garbage when space is short
  std::set<std::uint64_t> worth_idle_;  // the numbers of those that have enough in idle time
  std::map<std::uint32_t, std::multiset<std::uint64_t>> sizes_;  // SizeWithHoles, by generation
};

}  // namespace cambium
