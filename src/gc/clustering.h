// Clustering: which values are rewritten in the order of their keys, and when. Pure functions of numbers; Clusterer
// carries out what they choose.
//
// A scan jumps once per value if values lie in the order in which they were written, and hardly at all if they lie in
// the order of their keys. Moving a value into that order costs a read, a write, and later log GC of the old copy.
//
//   auto  A range is rewritten once scans have spent as much on its jumps as the rewrite costs. The total
//         is at most twice the optimum in hindsight, for any scans (the ski rental problem; Karlin and others,
//         "Competitive Snoopy Caching", 1988).
//   full  Passes over all keys, one after the other. With slack h and L live bytes, there is one pass per h * L bytes
//         that users write. Then the log holds h * L of garbage, and each pass writes L. In all, 1 + 1 / h bytes are
//         written per byte that users write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vlog/value_reads.h"

namespace cambium {

// Larger values are not moved.
inline constexpr std::uint64_t kClusteredValueMax = ValueReads::kSmallValueMax;
// The bytes that a device reads sequentially in the time of one jump: 2.3 GB/s and 60,000 reads a second give 38 KiB.
inline constexpr std::uint64_t kBytesOfJump = 32u << 10;
// The cost of rewriting a byte: one read, one write, and one more for log GC.
inline constexpr std::uint64_t kRewriteCost = 3;
// The fixed cost of a step: files, syncs and a commit.
inline constexpr std::uint64_t kBytesOfStep = 1u << 20;
// The least number of jumps for which Clusterer looks for values to move: fewer cannot pay for a step, and a look walks
// through the index.
inline constexpr std::uint64_t kJumpsOfLook = 256;

// A place in a walk along the keys: what a step that ends here would rewrite, and the jumps it would save.
struct WalkMark {
  std::size_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t jumps = 0;
};

// The mark with the largest surplus of saved jumps over cost; null if no mark has one.
[[nodiscard]] const WalkMark* MostWorthwhile(std::span<const WalkMark> marks);

// Figures of one family, in bytes.
struct PassFigures {
  double max_space_amplification = 1.5;
  bool is_idle = false;               // there have been no writes for a while
  std::uint64_t live_bytes = 0;       // of values in the log
  std::uint64_t written_bytes = 0;    // by users since the previous pass began, or since Open
  std::uint64_t passed_bytes = 0;     // by this pass
};

// Whether a pass may begin or continue.
[[nodiscard]] bool IsPassDue(const PassFigures& figures);
// How much a pass subtracts from written_bytes when it ends.
[[nodiscard]] std::uint64_t WrittenPerPass(double max_space_amplification, std::uint64_t live_bytes);

}  // namespace cambium
