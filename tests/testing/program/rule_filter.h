// RuleFilter: the compaction filter of a random program. Its decision depends only on the key and the value, and
// filtering a filtered value changes nothing. So the model knows both states of a value: as written, and filtered.
//
//   by key     removes some keys, drawn by hash, and all keys of a range (kRemoveAndSkipUntil to its end)
//   by value   as the operation that wrote the value decided: removes the value, or makes it small, separated or
//              large; keeps a value that it changed before
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cambium/compaction_filter.h"
#include "cambium/comparator.h"

namespace cambium::testing {

// Immutable. Any thread.
class RuleFilter final : public CompactionFilter {
 public:
  struct Rules {
    const Comparator* comparator = nullptr;
    std::uint64_t seed = 0;
    bool by_key = false;
    std::optional<std::string> skip_from;  // with skip_to: removes the keys in [from, to)
    std::string skip_to;
    std::size_t separated_size = 0;  // of changed values
    std::size_t large_size = 0;
  };
  explicit RuleFilter(Rules rules) : rules_(std::move(rules)) {}

  // Returns the filtered value, or nullopt if the filter removes the key.
  [[nodiscard]] std::optional<std::string> Filtered(Slice key, Slice value) const;

  Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value, std::string* skip_until) const override;
  Decision FilterV2(int level, const Slice& key, ValueType type, const Slice& value, std::string* new_value,
                    std::string* skip_until) const override;
  [[nodiscard]] const char* Name() const override { return "RuleFilter"; }
  [[nodiscard]] std::string ToString() const;

 private:
  [[nodiscard]] Decision ByKey(Slice key, std::string* skip_until) const;

  const Rules rules_;
};

// Hands out copies of one filter.
class RuleFilterFactory final : public CompactionFilterFactory {
 public:
  explicit RuleFilterFactory(std::shared_ptr<const RuleFilter> filter) : filter_(std::move(filter)) {}
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& /*context*/) override {
    return std::make_unique<RuleFilter>(*filter_);
  }
  [[nodiscard]] const char* Name() const override { return "RuleFilterFactory"; }

 private:
  const std::shared_ptr<const RuleFilter> filter_;
};

}  // namespace cambium::testing
