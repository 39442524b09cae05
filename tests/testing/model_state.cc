#include "testing/model_state.h"

#include "testing/test_comparators.h"
#include "util/checksum.h"

namespace cambium::testing {

std::uint64_t HashOf(const Comparator* comparator, Slice key, Slice value) {
  const std::uint64_t seed = comparator->EqualMeansSameBytes() ? Checksum64(key, 1)
                                                               : Checksum64(CanonicalKey(comparator, key), 1);
  return Checksum64(value, seed);
}

void ModelState::Apply(const Operation& write) {
  for (std::size_t i = 0; i < write.mutations.size(); ++i) {
    const Mutation& mutation = write.mutations[i];
    if (mutation.is_range) {
      const auto end = map_.lower_bound(mutation.range_end);
      for (auto at = map_.lower_bound(mutation.key); at != end; at = map_.erase(at)) hash_ ^= at->second.hash;
      continue;
    }
    const auto found = map_.find(mutation.key);
    if (found != map_.end()) hash_ ^= found->second.hash;
    if (mutation.is_delete) {
      if (found != map_.end()) map_.erase(found);
      continue;
    }
    const ValueSpec spec = write.SpecOf(i);
    Cell cell{mutation.key, spec, HashOf(comparator(), mutation.key, MakeValue(spec))};
    hash_ ^= cell.hash;
    if (found != map_.end()) {
      found->second = std::move(cell);
    } else {
      map_.emplace(mutation.key, std::move(cell));
    }
  }
}

}  // namespace cambium::testing
