#include "lsm_fallback/older_files.h"

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

}  // namespace cambium
