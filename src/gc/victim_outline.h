// VictimOutline: whether PickGcVictims can find something, without a walk over all segments. Most looks find nothing.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "gc/victims.h"

namespace cambium {

// A sorted list, which may have a number several times. A change moves the numbers behind it in memory.
class SortedNumbers {
 public:
  // Takes the memory for so many calls of Add.
  void ReserveFor(std::size_t count) {
    const std::size_t needed = numbers_.size() + count;
    if (needed > numbers_.capacity()) numbers_.reserve(needed + needed / 2);
  }
  void Add(std::uint64_t number) { numbers_.insert(std::ranges::upper_bound(numbers_, number), number); }
  void Remove(std::uint64_t number) {
    const auto found = std::ranges::lower_bound(numbers_, number);
    assert(found != numbers_.end() && *found == number);
    numbers_.erase(found);
  }
  [[nodiscard]] bool HasUpTo(std::uint64_t last) const { return !numbers_.empty() && numbers_.front() <= last; }
  [[nodiscard]] std::size_t CountBelow(std::uint64_t end) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(numbers_, end) - numbers_.begin());
  }

 private:
  std::vector<std::uint64_t> numbers_;
};

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

// One thread at a time.
class VictimOutline {
 public:
  // Only the shares of garbage in the policy count.
  explicit VictimOutline(const VictimPolicy& policy)
      : idle_garbage_least_(policy.idle_garbage_least), space_garbage_least_(policy.space_garbage_least) {}

  // Takes the memory to add so many members of a generation. Until then no other generation may be added.
  void ReserveFor(std::uint32_t generation, std::size_t count);
  void Add(const SegmentUse& use) noexcept;
  void Subtract(const SegmentUse& use) noexcept;
  // False: PickGcVictims finds nothing with this policy. True: it finds something, except that
  // with force_threshold or on a full disk it may find nothing. `eligible`: for the policy's age_cutoff.
  [[nodiscard]] bool MayHaveVictims(const VictimPolicy& policy, GcUrgency urgency, const EligibleSums& eligible) const;

 private:
  [[nodiscard]] bool HasManySmall(const VictimPolicy& policy) const;

  // All of intact members only.
  double idle_garbage_least_;
  double space_garbage_least_;
  std::size_t worth_space_ = 0;                   // how many have enough garbage when space is short
  SortedNumbers worth_idle_;                      // the numbers of those that have enough in idle time
  std::map<std::uint32_t, SortedNumbers> sizes_;  // SizeWithHoles, by generation
};

}  // namespace cambium
