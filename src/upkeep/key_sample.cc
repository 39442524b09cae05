#include "upkeep/key_sample.h"

#include "index/filter.h"
#include "util/mutant.h"

namespace cambium {

KeySample::Replaced KeySample::ReplacedIn(const Layers& layers) const {
  Replaced replaced;
  if (keys_.empty()) return replaced;
  std::vector<Lookup> lookups;
  lookups.reserve(keys_.size());
  for (const std::string& key : keys_) lookups.emplace_back(Slice(key), FilterHash(Slice(key)));
  layers.FindTogether(lookups);
  std::uint64_t found = 0;
  std::uint64_t bytes = 0;
  for (const Lookup& lookup : lookups) {
    if (!lookup.status.ok() || !lookup.is_found || lookup.entry.kind == EntryKind::kTombstone) continue;
    ++found;
    if (MutantIs(Mutant::kHiddenIgnoresValueSizes)) continue;
    if (lookup.entry.HasAddress()) bytes += lookup.entry.address.size();
  }
  const double scale = static_cast<double>(passed_) / static_cast<double>(keys_.size());
  replaced.share = static_cast<double>(found) / static_cast<double>(keys_.size());
  replaced.keys = static_cast<std::uint64_t>(static_cast<double>(found) * scale);
  replaced.bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * scale);
  return replaced;
}

}  // namespace cambium
