// RecordReads: which reads bring a set of records, and the bytes between them that are read along.
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

// One read is no longer than that, unless one record is.
inline constexpr std::uint64_t kGcReadMax = 1u << 20;

struct RecordRead {
  std::uint32_t source = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::size_t first = 0;  // of RecordReads::by_place
  std::size_t count = 0;
};

struct RecordReads {
  std::vector<std::size_t> by_place;  // indexes of records
  std::vector<RecordRead> reads;      // in the order of by_place

  [[nodiscard]] std::uint64_t bytes() const;
};

[[nodiscard]] RecordReads PlanReads(std::span<const GcRecord> records);

}  // namespace cambium
