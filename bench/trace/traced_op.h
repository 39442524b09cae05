// TracedOp: one operation of a trace, for replay, analysis and text. Each key of a batch or MultiGet is an operation of
// its own, and a scan knows its length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cambium::bench {

enum class TracedKind : unsigned char {
  kGet,
  kMultiGet,
  kPut,
  kDelete,
  kSingleDelete,
  kDeleteRange,
  kSeek,
  kSeekForPrev,
  kSeekToFirst,
  kSeekToLast,
};
// Their names in text.
inline constexpr std::array<std::string_view, 10> kTracedKinds = {
    "get", "multiget", "put", "delete", "single_delete", "delete_range", "seek", "seek_for_prev", "seek_to_first",
    "seek_to_last"};

struct TracedOp {
  std::uint64_t micros = 0;  // since the trace began
  TracedKind kind = TracedKind::kGet;
  std::uint32_t family = 0;
  std::string key;      // for a range delete: where it begins
  std::string end_key;  // for a range delete: where it ends
  // The size of the value put, or found by a lookup; nothing if it found none.
  std::optional<std::uint64_t> value_size;
  // For a scan: calls of Next and Prev; nothing if unknown.
  std::optional<std::uint64_t> scan_length;
  bool sync = false;  // for writes
  bool more = false;  // the next operation belongs to the same call

  [[nodiscard]] bool IsScan() const { return kind >= TracedKind::kSeek; }
  [[nodiscard]] bool IsLookup() const { return kind <= TracedKind::kMultiGet; }
  [[nodiscard]] bool IsWrite() const { return !IsScan() && !IsLookup(); }
  [[nodiscard]] std::string_view Name() const { return kTracedKinds[static_cast<std::size_t>(kind)]; }

  friend bool operator==(const TracedOp&, const TracedOp&) = default;
};

}  // namespace cambium::bench
