#include "gc/record_reads.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "gc/forecast.h"

namespace cambium {

std::uint64_t RecordReads::bytes() const {
  return std::accumulate(reads.begin(), reads.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RecordRead& read) { return sum + read.size; });
}

RecordReads PlanReads(std::span<const GcRecord> records) {
  RecordReads plan;
  plan.by_place.resize(records.size());
  std::iota(plan.by_place.begin(), plan.by_place.end(), std::size_t{0});
  std::ranges::sort(plan.by_place, {}, [&](std::size_t i) { return std::pair(records[i].source, records[i].offset); });
  for (std::size_t i = 0; i < plan.by_place.size(); ++i) {
    const GcRecord& record = records[plan.by_place[i]];
    if (!plan.reads.empty()) {
      RecordRead& last = plan.reads.back();
      const std::uint64_t end = last.offset + last.size;
      if (last.source == record.source && record.offset >= end && record.offset - end <= kGcReadGapMax &&
          record.offset + record.size - last.offset <= kGcReadMax) {
        last.size = record.offset + record.size - last.offset;
        ++last.count;
        continue;
      }
    }
    plan.reads.push_back({record.source, record.offset, record.size, i, 1});
  }
  assert(plan.reads.size() <= records.size());
  return plan;
}

}  // namespace cambium
