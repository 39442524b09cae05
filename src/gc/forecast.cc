#include "gc/forecast.h"

#include <algorithm>
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
  bytes_freed += use.bytes - live;
  if (use.live_records == 0 || live == 0) return;
  const double each = static_cast<double>(live) / static_cast<double>(use.live_records);
  const double u = static_cast<double>(live) / static_cast<double>(records);
  const double longest = std::floor(static_cast<double>(kGcReadGapMax) / each);  // K
  const double skipped = std::pow(1 - u, longest + 1) * (longest + 1 + (1 - u) / u);
  const double dead = std::max(0.0, (1 - u) / u - skipped);  // read along, per record that is alive
  bytes_read += std::min(records, live + static_cast<std::uint64_t>(dead * static_cast<double>(live)));
}

}  // namespace cambium
