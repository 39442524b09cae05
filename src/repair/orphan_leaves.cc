#include "repair/orphan_leaves.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace cambium {

OrphanLeaves::OrphanLeaves(const Comparator* order, std::vector<Branch> branches)
    : order_(order), branches_(std::move(branches)), is_known_(branches_.size()) {}

void OrphanLeaves::Add(const PageView& leaf) {
  if (leaf.count() == 0) return;
  std::string scratch;
  const std::string first = leaf.key(0, &scratch).ToString();
  const auto next = std::ranges::partition_point(branches_, [&](const Branch& branch) {
    return !branch.span.from.has_value() || order_->Compare(*branch.span.from, first) <= 0;
  });
  if (next == branches_.begin()) return;
  const auto branch = std::prev(next);
  const std::string last = leaf.key(leaf.count() - 1, &scratch).ToString();
  if (branch->span.to.has_value() && order_->Compare(last, *branch->span.to) >= 0) return;
  leaves_.push_back({leaf.id(), static_cast<std::size_t>(branch - branches_.begin()), first, last, leaf.count(),
                     leaf.value_bytes()});
}

void OrphanLeaves::Choose() {
  assert(live_.empty() && "it chooses once");
  std::ranges::sort(leaves_, std::greater(), [](const Leaf& leaf) {
    return std::pair(FileNumberOf(leaf.id), UnitOffsetOf(leaf.id));
  });
  const auto before = [this](Slice a, Slice b) { return order_->Compare(a, b) < 0; };
  std::map<Slice, const Leaf*, decltype(before)> chosen(before);  // by first key
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sums(branches_.size());
  for (const Leaf& leaf : leaves_) {
    const auto next = chosen.upper_bound(leaf.last);
    if (next != chosen.begin() && order_->Compare(std::prev(next)->second->last, leaf.first) >= 0) continue;
    chosen.emplace(leaf.first, &leaf);
    sums[leaf.branch].first += leaf.entry_count;
    sums[leaf.branch].second += leaf.value_bytes;
  }
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    is_known_[i] = sums[i] == std::pair(branches_[i].entry_count, branches_[i].value_bytes);
  }
  for (const auto& [first, leaf] : chosen) {
    if (is_known_[leaf->branch]) live_.insert(leaf->id);
  }
}

}  // namespace cambium
