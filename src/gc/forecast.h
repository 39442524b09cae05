// What emptying a segment costs and brings, before it is done: a pure function of what the accounts say of it.
//
// Written are the records that are alive, freed is the rest. Read are the segment's index, the records, and the gaps
// between them that are read along because a read of its own would cost more. Records that are alive, a part u of all,
// are taken to lie anywhere: the gap behind one is k dead records long with probability u (1-u)^k, and those longer than K
// are not read. Per record that is alive these have
//
//   sum over k > K of k u (1-u)^k  =  (1-u)^(K+1) * (K + 1 + (1-u) / u)    records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gc/victims.h"

namespace cambium {

// Bytes between two records that are read along by log GC.
inline constexpr std::uint64_t kGcReadGapMax = 16 * 1024;

struct GcCost {
  std::size_t segments = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;  // of records; headers and index of the new segment are not among them
  std::uint64_t bytes_freed = 0;    // net of what is written

  void Add(const SegmentUse& use);
  // Its garbage is taken for large values that become holes: only its index is read.
  void AddPunched(const SegmentUse& use);
};

// The next step of log GC, and all of them until none is due.
struct GcOutlook {
  GcReason reason = GcReason::kNone;  // of the next step
  GcCost punch;
  GcCost next;
  GcCost all;                          // with `punch`
  std::vector<std::uint64_t> numbers;  // that are emptied or punched, in the order in which they go
};
// As the accounts have it: what newer runs hide still counts as alive, so that the fact may be cheaper, and free more.
// `punches`: segments that are worth it get holes first.
[[nodiscard]] GcOutlook ForetellGc(std::vector<SegmentUse> uses, const VictimPolicy& policy, SequenceNumber now,
                                   GcUrgency urgency, bool punches);

[[nodiscard]] const char* NameOf(GcReason reason);

}  // namespace cambium
