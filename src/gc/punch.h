// Punching: dead large values become holes in their segment. Nothing is copied, and live values next to them stay in
// place.
//
//   record   header  key | value ............................... | next record
//   file     |  block  |  block  |  block  |  block  |  block  |  block  |
//                      └──────────── hole ─────────────┘
//
// Only whole blocks inside the value are freed. Header and key remain, so that the segment can still be scanned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gc/live_records.h"
#include "io/file_block.h"

namespace cambium {

// If the blocks of the file system are larger, partial blocks are overwritten with zeros instead.
inline constexpr std::uint64_t kPunchBlock = kFileBlock;

struct Hole {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t length = 0;  // 0: the value has no whole block
};
[[nodiscard]] Hole HoleOf(std::uint64_t record_offset, std::uint64_t record_size, std::size_t key_size);
// The hole of a segment whose records below `cut` are dead: all whole blocks between the file header's block and the
// cut. No hole if `cut` is 0.
[[nodiscard]] Hole HoleOfCut(std::uint64_t cut);

// The effect that punching would have on one segment.
struct PunchPlan {
  std::vector<std::uint64_t> offsets;  // of dead records that are not punched yet, ascending
  std::uint64_t hole_bytes = 0;        // freed by punching them
  std::uint64_t kept_bytes = 0;        // bytes of these records that remain
};

// `listed`: all records of the source. `live`: the live ones, in any order. Records of fewer than `least` bytes are not
// punched.
[[nodiscard]] PunchPlan PlanPunch(const GcSource& source, std::span<const GcRecord> listed,
                                  std::span<const GcRecord> live, std::uint64_t least);

}  // namespace cambium
