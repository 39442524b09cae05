// CoveredPart: adds up what range deletes of newer layers cover in older ones, which a compaction will drop. An entry
// that several layers have counts in each.
#pragma once

#include <algorithm>
#include <cstddef>

#include "index/tree_part.h"
#include "memtable/range_deletes.h"
#include "util/prng.h"
#include "util/result.h"

namespace cambium {

class CoveredPart {
 public:
  explicit CoveredPart(const Comparator* comparator) : comparator_(comparator), above_(comparator) {}

  // Called for each layer, newest first, with its range deletes (null: none). measure(begin, end) returns the
  // Result<TreePart> of the layer's keys in [begin, end).
  template <typename Measure>
  Status Add(const RangeDeletes* ranges, const Measure& measure) {
    // With many ranges, a random one of each n stands for all n: each costs a page per level for both of its ends.
    const std::size_t n = above_.count() / kMeasuredMax + 1;
    Prng prng(above_.count());
    for (std::size_t i = 0; i < above_.count(); i += n) {
      const std::size_t times = std::min(n, above_.count() - i);
      const std::size_t chosen = i + prng.Uniform(times);
      CAMBIUM_TRY(const TreePart part, measure(Slice(above_.begin(chosen)), Slice(above_.end(chosen))));
      for (std::size_t k = 0; k < times; ++k) total_ += part;
    }
    if (ranges != nullptr) {
      const RangeDeletes* const parts[] = {&above_, ranges};
      above_ = RangeDeletes::Union(comparator_, parts);
    }
    return Status::OK();
  }
  [[nodiscard]] const TreePart& total() const { return total_; }

 private:
  static constexpr std::size_t kMeasuredMax = 128;

  const Comparator* const comparator_;
  RangeDeletes above_;  // of all layers added so far
  TreePart total_;
};

}  // namespace cambium
