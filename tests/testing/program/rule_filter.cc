#include "testing/program/rule_filter.h"

#include "testing/test_comparators.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium::testing {
namespace {

constexpr std::string_view kMark = "filtered";  // no operation has this number
constexpr std::size_t kSmallSize = 24;

}  // namespace

CompactionFilter::Decision RuleFilter::ByKey(Slice key, std::string* skip_until) const {
  const Comparator& order = *rules_.comparator;
  if (rules_.skip_from.has_value() && order.Compare(key, *rules_.skip_from) >= 0 &&
      order.Compare(key, rules_.skip_to) < 0) {
    *skip_until = rules_.skip_to;
    return Decision::kRemoveAndSkipUntil;
  }
  if (rules_.by_key && Checksum64(CanonicalKey(&order, key), rules_.seed) % 8 == 0) return Decision::kRemove;
  return Decision::kUndetermined;
}

CompactionFilter::Decision RuleFilter::FilterBlobByKey(int /*level*/, const Slice& key, std::string* /*new_value*/,
                                                       std::string* skip_until) const {
  return ByKey(key, skip_until);
}

CompactionFilter::Decision RuleFilter::FilterV2(int /*level*/, const Slice& key, ValueType /*type*/, const Slice& value,
                                                std::string* new_value, std::string* skip_until) const {
  if (const Decision by_key = ByKey(key, skip_until); by_key != Decision::kUndetermined) return by_key;
  if (value.size() < kMark.size() || value.starts_with(Slice(kMark.data(), kMark.size()))) return Decision::kKeep;
  const auto writer = DecodeFixed<std::uint64_t>(value.data());
  std::size_t size = 0;
  switch (Checksum64(value.substr(0, kMark.size()), rules_.seed) % 8) {
    case 0: return Decision::kRemove;
    case 1: size = kSmallSize; break;
    case 2: size = rules_.separated_size; break;
    case 3: size = writer % 4 == 0 ? rules_.large_size : kSmallSize; break;
    default: return Decision::kKeep;
  }
  *new_value = kMark;
  PutFixed<std::uint64_t>(new_value, writer);
  new_value->resize(std::max(size, new_value->size()), static_cast<char>('a' + writer % 26));
  return Decision::kChangeValue;
}

std::optional<std::string> RuleFilter::Filtered(Slice key, Slice value) const {
  std::string new_value;
  std::string skip_until;
  switch (FilterV2(0, key, ValueType::kValue, value, &new_value, &skip_until)) {
    case Decision::kKeep: return value.ToString();
    case Decision::kChangeValue: return new_value;
    default: return std::nullopt;
  }
}

std::string RuleFilter::ToString() const {
  return "seed " + std::to_string(rules_.seed) + (rules_.by_key ? ", by key" : "") +
         (rules_.skip_from.has_value() ? ", skips" : "");
}

}  // namespace cambium::testing
