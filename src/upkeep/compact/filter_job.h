// FilterJob: runs a compaction filter in one compaction: asks it about each value, reads the values that it needs,
// checks its answers, and writes the values that it changes.
//
//   key, entry ──▶ FilterBlobByKey ──undetermined──▶ value from the log ──▶ FilterV2 ──▶ keep | remove | change
//                  (separated only)                                                                  └─▶ ChangedValues
//
// An entry of the compaction may point to a value that log GC has moved or punched. Then a newer layer, above the
// compaction, has an entry of the key, and no read ever reaches the old entry. The filter is not asked about such an
// entry.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "upkeep/compact/changed_values.h"
#include "state/family.h"
#include "cambium/compaction_filter.h"
#include "index/value_filter.h"
#include "vlog/segment.h"

namespace cambium {

// One thread.
class FilterJob final : public ValueFilter {
 public:
  struct Surroundings {
    // Each slot that the compacted layers may refer to is in `segments`, or in `emptied` if log GC has emptied its
    // segment. `segments` and `emptied` were taken together, and not earlier than the compacted layers.
    SegmentTable segments;
    std::set<Slot> emptied;
    bool is_manual = false;
    std::function<bool()> is_abandoned;  // CompactionInput::is_abandoned
  };
  // The family lives as long as the job.
  FilterJob(const Family& family, Surroundings surroundings, const ChangedValues::Rules& rules,
            ChangedValues::MakeFile make)
      : family_(family),
        in_force_(family.in_force()),
        newest_(rules.sequence),
        keeps_versions_(family.KeepsVersions()),
        surroundings_(std::move(surroundings)),
        changed_(rules, std::move(make)) {}

  Status Begin(std::uint32_t level, bool is_full) override;
  Result<FilterVerdict> Ask(Slice key, const Entry& entry) override;
  FilterVerdict Pass(Slice key, const Entry& entry) override;
  [[nodiscard]] std::uint64_t value_bytes() const override { return bytes_read_ + changed_.bytes_written(); }

  [[nodiscard]] ChangedValues& changed() { return changed_; }
  // True if a MANIFEST record names the files of changed(), or may name them.
  bool is_named = false;

 private:
  using Decision = CompactionFilter::Decision;

  // Whether an earlier answer removes the key.
  [[nodiscard]] bool IsSkipped(Slice key);
  Result<Decision> Decide(Slice key, const Entry& entry, std::string* skip_until);
  [[nodiscard]] bool IsHidden(const Entry& entry) const;
  // InvalidArgument that names the filter and the key.
  Status Illegal(Slice key, const std::string& what) const;
  // `entry`: the one that the filter was asked about.
  Result<FilterVerdict> Change(Slice key, const Entry& entry);
  // The version of an inline value that takes the place of `entry`: a filter is no writer. 0 in a family without.
  Result<SequenceNumber> VersionOf(Slice key, const Entry& entry) const;

  const Family& family_;
  const OptionsInForce& in_force_;
  const SequenceNumber newest_;  // no entry in the layers is newer
  const bool keeps_versions_;
  const Surroundings surroundings_;
  ChangedValues changed_;
  std::unique_ptr<CompactionFilter> owned_;     // made by a factory
  const CompactionFilter* filter_ = nullptr;    // null: all values are kept
  int level_ = 0;
  std::optional<std::string> skip_until_;       // keys before it are removed without asking
  std::string buffer_;
  std::string new_value_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace cambium
