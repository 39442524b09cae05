// RecordReads: the reads that fetch a set of records, including short gaps between them.
//
//   records, by place   [a] [b]      [c][d]            [e]
//   reads               [-----]      [----]            [-]      no gap above kGcReadGapMax, no read above kGcReadMax
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gc/live_records.h"

namespace cambium {

// The longest read, unless a single record is longer.
inline constexpr std::uint64_t kGcReadMax = 1u << 20;

struct RecordRead {
  std::uint32_t source = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::size_t first = 0;  // index in RecordReads::by_place
  std::size_t count = 0;
};

struct RecordReads {
  std::vector<std::size_t> by_place;  // indices of records, ordered by source and offset
  std::vector<RecordRead> reads;      // in the order of by_place

  [[nodiscard]] std::uint64_t bytes() const;
};

[[nodiscard]] RecordReads PlanReads(std::span<const GcRecord> records);

}  // namespace cambium
