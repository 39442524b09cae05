#include "testing/program/model_state.h"

#include "testing/test_comparators.h"
#include "util/checksum.h"

namespace cambium::testing {

std::uint64_t HashOf(const Comparator* comparator, Slice key, Slice value, const RuleFilter* filter) {
  std::optional<std::string> left;
  if (filter != nullptr) {
    left = filter->Filtered(key, value);
    if (!left.has_value()) return 0;
    value = *left;
  }
  const std::uint64_t seed = comparator->EqualMeansSameBytes() ? Checksum64(key, 1)
                                                               : Checksum64(CanonicalKey(comparator, key), 1);
  return Checksum64(value, seed);
}

void ModelState::Apply(const Operation& write) {
  is_exact_ = false;
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
    Cell cell{mutation.key, spec, HashOf(comparator(), mutation.key, MakeValue(spec), filter_)};
    hash_ ^= cell.hash;
    if (found != map_.end()) {
      found->second = std::move(cell);
    } else {
      map_.emplace(mutation.key, std::move(cell));
    }
  }
}

std::string ModelState::ValueOf(const Cell& cell) const {
  const std::string written = MakeValue(cell.value);
  return cell.is_filtered ? *filter_->Filtered(cell.key, written) : written;
}

std::optional<std::string> ModelState::FilteredValueOf(const Cell& cell) const {
  return filter_->Filtered(cell.key, MakeValue(cell.value));
}

// The hash does not change: it is always that of the filtered value.
ModelState::Map::iterator ModelState::FilterOne(Map::iterator at) {
  if (!FilteredValueOf(at->second).has_value()) return map_.erase(at);
  at->second.is_filtered = true;
  return std::next(at);
}

void ModelState::Filter(const std::optional<std::string>& lower, const std::optional<std::string>& upper) {
  if (filter_ == nullptr) return;
  if (lower.has_value() && upper.has_value() && comparator()->Compare(*lower, *upper) > 0) return;
  const auto end = upper.has_value() ? map_.upper_bound(*upper) : map_.end();
  for (auto at = lower.has_value() ? map_.lower_bound(*lower) : map_.begin(); at != end;) at = FilterOne(at);
}

bool ModelState::Allows(const Cell& cell, const std::optional<std::string>& found) const {
  if (found.has_value() && *found == ValueOf(cell)) return true;
  return MayBeFiltered() && !cell.is_filtered && found == FilteredValueOf(cell);
}

std::string ModelState::NarrowTo(const std::map<std::string, std::string>& found) {
  for (const auto& [key, value] : found) {
    if (!map_.contains(key)) return Quote(key) + " is " + DescribeValue(value) + "; it should not be there";
  }
  for (auto at = map_.begin(); at != map_.end();) {
    const auto there = found.find(CanonicalKey(comparator(), at->first));
    const std::optional<std::string> its = there == found.end() ? std::nullopt : std::optional(there->second);
    if (!Allows(at->second, its)) {
      return Quote(at->first) + " is " + (its.has_value() ? DescribeValue(*its) : "missing") + "; it should be " +
             DescribeValue(ValueOf(at->second)) + (at->second.is_filtered ? ", filtered" : "");
    }
    at = its.has_value() && *its == ValueOf(at->second) ? std::next(at) : FilterOne(at);
  }
  is_exact_ = true;
  return "";
}

}  // namespace cambium::testing
