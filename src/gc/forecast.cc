#include "gc/forecast.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace cambium {

void GcCost::AddPunched(const SegmentUse& use) {
  ++segments;
  bytes_read += use.overhead_bytes;
  bytes_freed += use.garbage();
}

void GcCost::Add(const SegmentUse& use) {
  const std::uint64_t records = use.bytes - std::min(use.bytes, use.overhead_bytes);
  const std::uint64_t live = std::min(use.live_bytes, records);
  ++segments;
  bytes_read += use.overhead_bytes;
  bytes_written += live;
  assert(live <= use.bytes);
  bytes_freed += use.bytes - live;
  if (use.live_records == 0 || live == 0) return;
  const double each = static_cast<double>(live) / static_cast<double>(use.live_records);
  const double u = static_cast<double>(live) / static_cast<double>(records);
  const double longest = std::floor(static_cast<double>(kGcReadGapMax) / each);  // K
  const double skipped = std::pow(1 - u, longest + 1) * (longest + 1 + (1 - u) / u);
  const double dead = std::max(0.0, (1 - u) / u - skipped);  // read per live record
  bytes_read += std::min(records, live + static_cast<std::uint64_t>(dead * static_cast<double>(live)));
}

GcOutlook ForecastGc(std::vector<SegmentUse> uses, const VictimPolicy& policy, SequenceNumber now, GcUrgency urgency,
                     bool punches) {
  GcOutlook outlook;
  for (SegmentUse& use : uses) {
    if (!punches || !use.is_worth_punching) continue;
    outlook.punch.AddPunched(use);
    outlook.all.AddPunched(use);
    outlook.numbers.push_back(use.number);
    use.bytes -= use.garbage();
  }
  for (bool is_first = true;; is_first = false) {
    const VictimChoice choice = PickGcVictims(uses, policy, now, urgency);
    GcCost step;
    std::erase_if(uses, [&](const SegmentUse& use) {
      if (std::ranges::find(choice.numbers, use.number) == choice.numbers.end()) return false;
      step.Add(use);
      outlook.all.Add(use);
      return true;
    });
    if (is_first) outlook.reason = choice.reason;
    if (is_first) outlook.next = step;
    if (choice.numbers.empty()) return outlook;
    outlook.numbers.insert(outlook.numbers.end(), choice.numbers.begin(), choice.numbers.end());
  }
}

const char* NameOf(GcReason reason) {
  switch (reason) {
    case GcReason::kNone: return "none";
    case GcReason::kForceThreshold: return "force threshold";
    case GcReason::kSmallSegments: return "small segments";
    case GcReason::kCostBenefit: return "garbage, while idle";
    case GcReason::kCeiling: return "ceiling";
    case GcReason::kFullDisk: return "full disk";
    case GcReason::kRequested: return "requested";
    case GcReason::kClustering: return "clustering";
  }
  return "unknown";
}

}  // namespace cambium
