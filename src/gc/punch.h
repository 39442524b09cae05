// Large values that nothing refers to any more become holes in their segments: nothing is copied, and what lives beside them
// stays where it is.
//
//   record   header  key | value ............................... | next record
//   file     |  block  |  block  |  block  |  block  |  block  |  block  |
//                      └──────────── hole ─────────────┘
//
// Whole blocks inside the value go; header and key stay, so that whoever walks the segment finds his way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gc/live_records.h"

namespace cambium {

// Of every file system that this library meets; where blocks are larger, what does not fill one is written over with zeros.
inline constexpr std::uint64_t kPunchBlock = 4096;

struct Hole {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t length = 0;  // 0: the value has no whole block
};
[[nodiscard]] Hole HoleOf(std::uint64_t record_offset, std::uint64_t record_size, std::size_t key_size);

// What punching would do to a segment.
struct PunchPlan {
  std::vector<std::uint64_t> offsets;  // of dead records that are no holes yet, ascending
  std::uint64_t hole_bytes = 0;        // that these give back
  std::uint64_t kept_bytes = 0;        // that stay of them
};

// `listed`: all records of the source; `live`: those that are alive, in any order. Records of fewer than `least` bytes are
// left alone.
[[nodiscard]] PunchPlan PlanPunch(const GcSource& source, std::span<const GcRecord> listed,
                                  std::span<const GcRecord> live, std::uint64_t least);

}  // namespace cambium
