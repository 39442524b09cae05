// A forecast of the bytes that emptying a segment costs and frees: a pure function of its account.
//
// Log GC writes the live records and frees the rest. It reads the segment's footer, the live records, and the gaps
// between them that are cheaper to read than to skip. Live records, a share u of all, are assumed to be spread at
// random: the gap after a live record is k dead records long with probability u (1-u)^k. Gaps of more than K records
// are not read. Per live record, these gaps have
//
//   sum over k > K of k u (1-u)^k  =  (1-u)^(K+1) * (K + 1 + (1-u) / u)    records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gc/victims.h"

namespace cambium {

// The longest gap between two records that log GC reads instead of skipping. In bytes.
inline constexpr std::uint64_t kGcReadGapMax = 16 * 1024;

struct GcCost {
  std::size_t segments = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;  // records only: the new segment's header and footer do not count
  std::uint64_t bytes_freed = 0;    // net of bytes_written

  void Add(const SegmentUse& use);
  // Adds a segment that is punched. Assumes that all of its garbage is large values, which become holes, and that
  // punching reads only the segment's footer.
  void AddPunched(const SegmentUse& use);
};

// The cost of the next step of log GC, and of all steps until none is due.
struct GcOutlook {
  GcReason reason = GcReason::kNone;  // of the next step
  GcCost punch;
  GcCost next;
  GcCost all;                          // including `punch`
  std::vector<std::uint64_t> numbers;  // all segments, in the order in which they are punched and emptied
};
// Computed from the accounts, which count hidden garbage as live: the real cost may be lower, and more may be freed. If
// `punches`, segments that are worth punching are punched first.
[[nodiscard]] GcOutlook ForecastGc(std::vector<SegmentUse> uses, const VictimPolicy& policy, SequenceNumber now,
                                   GcUrgency urgency, bool punches);

[[nodiscard]] const char* NameOf(GcReason reason);

}  // namespace cambium
