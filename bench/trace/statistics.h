// TraceStatistics: counts the operations, keys, sizes and times of a trace, in one walk. It needs memory for every key.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/fit.h"
#include "trace/source.h"
#include "trace/traced_op.h"

namespace cambium::bench {

// The groups of operations that trace_analyzer's flags and files distinguish.
enum class OpGroup : unsigned char { kGet, kMultiGet, kPut, kDelete, kSingleDelete, kDeleteRange, kIterator };
inline constexpr std::array<std::string_view, 7> kOpGroups = {"get",          "multiget",     "put",     "delete",
                                                              "single_delete", "delete_range", "iterator"};
[[nodiscard]] constexpr OpGroup GroupOf(TracedKind kind) {
  return kind >= TracedKind::kSeek ? OpGroup::kIterator : static_cast<OpGroup>(kind);
}

struct KeyAccesses {
  std::uint64_t count = 0;
  std::uint64_t value_size = 0;  // the last one seen
};

// Operations of one group in one family.
struct GroupStatistics {
  std::uint64_t ops = 0;
  std::uint64_t found = 0;  // lookups that found a value
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::unordered_map<std::string, KeyAccesses> keys;  // operations without a key are not in it
  Counts value_sizes;                                 // of values put, or found by lookups
  Counts scan_lengths;
  Counts per_second;              // second -> operations
};

class TraceStatistics {
 public:
  using Place = std::pair<OpGroup, std::uint32_t>;  // group and family

  void Add(const TracedOp& op);

  [[nodiscard]] const std::map<Place, GroupStatistics>& groups() const { return groups_; }
  [[nodiscard]] std::uint64_t ops() const { return ops_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }  // a batch or MultiGet is one
  [[nodiscard]] std::uint64_t last_micros() const { return last_micros_; }
  // These are for one group, over all families. SizesOf(): of puts or lookups.
  [[nodiscard]] std::uint64_t OpsOf(OpGroup group) const;
  [[nodiscard]] Counts SizesOf(OpGroup group) const;
  [[nodiscard]] Counts ScanLengths() const;
  // Operations in each second, of all groups. Seconds without operations are absent: a trace may claim any end time.
  [[nodiscard]] Counts PerSecond() const;
  // Accesses to each key by all groups, in the order of families and keys.
  [[nodiscard]] std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> Accesses() const;

 private:
  std::map<Place, GroupStatistics> groups_;
  std::uint64_t ops_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t last_micros_ = 0;
};

}  // namespace cambium::bench
