#include "lsm_fallback/older_files.h"

#include <algorithm>

#include "util/mutant.h"

namespace cambium {

OlderFiles::OlderFiles(const LsmLayers& layers, std::uint32_t level, const std::set<std::uint64_t>& inputs)
    : order_(layers.parts().comparator) {
  for (const auto& tier : layers.tiers()) {
    if (tier->level() < level) continue;
    Sequence sequence;
    for (const auto& run : tier->runs()) {
      if (!inputs.contains(run->number())) sequence.files.push_back(&run->info());
    }
    if (!sequence.files.empty()) sequences_.push_back(std::move(sequence));
  }
}

bool OlderFiles::MayHold(Slice key) {
  if (MutantIs(Mutant::kDropTombstonesAnywhere)) return false;
  for (Sequence& sequence : sequences_) {
    while (sequence.next < sequence.files.size() &&
           EndsBefore(order_, KeySpan::Of(*sequence.files[sequence.next]), key)) {
      ++sequence.next;
    }
    if (sequence.next < sequence.files.size() &&
        order_.Compare(sequence.files[sequence.next]->smallest_key, key) <= 0) {
      return true;
    }
  }
  return false;
}

RangeDeletes OlderFiles::Needed(const RangeDeletes& ranges) const {
  std::vector<RangeDeletes::Range> needed;
  for (std::size_t i = 0; i < ranges.count(); ++i) {
    const KeySpan span{ranges.begin(i), ranges.end(i), true};
    if (HoldsAny(span)) needed.push_back({span.smallest, span.largest});
  }
  return {order_.comparator, needed};
}

bool OlderFiles::HoldsAny(const KeySpan& span) const {
  if (MutantIs(Mutant::kDropTombstonesAnywhere)) return false;
  return std::ranges::any_of(sequences_, [&](const Sequence& sequence) {
    const auto first = std::ranges::partition_point(sequence.files, [&](const RunInfo* file) {
      return EndsBefore(order_, KeySpan::Of(*file), span.smallest);
    });
    return first != sequence.files.end() && !EndsBefore(order_, span, (*first)->smallest_key);
  });
}

}  // namespace cambium
