#include "transactions/range_table.h"

#include <algorithm>

#include "util/mutant.h"

namespace cambium {

HeldRange* RangeTable::Find(std::uint32_t family, std::uint64_t number) noexcept {
  const auto its = families_.find(family);
  if (its == families_.end()) return nullptr;
  const auto found = std::ranges::find(its->second, number, &HeldRange::number);
  return found == its->second.end() ? nullptr : &*found;
}

bool RangeTable::Remove(std::uint32_t family, std::uint64_t number) noexcept {
  const auto its = families_.find(family);
  if (its == families_.end()) return false;
  const std::size_t removed =
      std::erase_if(its->second, [&](const HeldRange& each) { return each.number == number; });
  if (its->second.empty()) families_.erase(its);
  return removed > 0;
}

std::size_t RangeTable::RemoveIf(std::uint32_t family, const std::function<bool(const HeldRange&)>& drops) {
  const auto its = families_.find(family);
  if (its == families_.end()) return 0;
  const std::size_t removed = std::erase_if(its->second, drops);
  if (its->second.empty()) families_.erase(its);
  return removed;
}

template <typename Touches>
bool RangeTable::FindOthers(TransactionID owner, std::uint32_t family, bool exclusive, LockObstacle* obstacle,
                            Touches touches) const {
  const auto its = families_.find(family);
  if (its == families_.end()) return false;
  bool is_found = false;
  *obstacle = {};
  for (const HeldRange& each : its->second) {
    const bool excludes = exclusive || each.exclusive || MutantIs(Mutant::kSharedRangesExcludeEachOther);
    if (each.owner.id == owner || !excludes || !touches(each)) continue;
    is_found = true;
    if (!each.is_claim) obstacle->Add(each.owner.id, each.owner.expires_at);
  }
  return is_found;
}

bool RangeTable::Excludes(TransactionID owner, std::uint32_t family, Slice key, bool exclusive,
                          LockObstacle* obstacle) const {
  return FindOthers(owner, family, exclusive, obstacle,
                    [&](const HeldRange& each) { return each.range.Has(*each.order, key); });
}

bool RangeTable::Excludes(TransactionID owner, std::uint32_t family, const KeyRange& range, bool exclusive,
                          LockObstacle* obstacle) const {
  return FindOthers(owner, family, exclusive, obstacle,
                    [&](const HeldRange& each) { return each.range.Overlaps(*each.order, range); });
}

void RangeTable::ForEach(const std::function<void(std::uint32_t family, const HeldRange&)>& visit) const {
  for (const auto& [family, ranges] : families_) {
    for (const HeldRange& each : ranges) visit(family, each);
  }
}

}  // namespace cambium
