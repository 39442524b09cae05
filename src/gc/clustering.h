// Clustering: which values are written anew in the order of their keys, and when: pure functions of numbers. The database
// carries out what they say.
//
// A scan jumps once per value where values lie in the order in which they were written, and hardly at all where they lie
// in the order of their keys. To bring them there costs a read, a write, and the collection of the copy left behind.
//
//   auto  A range is rewritten once scans have spent as much on its jumps as the rewrite costs: whatever they do next, that
//         is at most twice what somebody had spent who knew (the ski rental problem; Karlin and others, "Competitive
//         Snoopy Caching", 1988).
//   full  One pass after the other goes over all keys, each while a slack's worth of values is written. With a pass for
//         each h * L bytes written, L bytes alive, the log keeps h * L of garbage, and a pass writes L: 1 + 1 / h bytes
//         per byte of the user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vlog/value_reads.h"

namespace cambium {

// What is larger stays where it is.
inline constexpr std::uint64_t kClusteredValueMax = ValueReads::kSmallValueMax;
// As many bytes one after the other take a device as long as one jump: 2.3 GB/s beside 60,000 reads a second are 38 KiB.
inline constexpr std::uint64_t kBytesOfJump = 32u << 10;
// Read, written, and another one for log GC.
inline constexpr std::uint64_t kRewriteCost = 3;
// Of a step, whatever it moves: files, syncs, a commit.
inline constexpr std::uint64_t kBytesOfStep = 1u << 20;
// Fewer jumps can pay for no step; to look costs a walk through the index.
inline constexpr std::uint64_t kJumpsOfLook = 256;

// A place in a walk along the keys: what a step that ends there would rewrite, and what jumps it saves.
struct WalkMark {
  std::size_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t jumps = 0;
};

// The mark at which jumps exceed the cost by most; null if they do so nowhere.
[[nodiscard]] const WalkMark* MostWorthwhile(std::span<const WalkMark> marks);

// Of one family. Bytes.
struct PassFigures {
  double max_space_amplification = 1.5;
  bool is_idle = false;               // nobody has written for a while
  std::uint64_t live_bytes = 0;       // of values in the log
  std::uint64_t written_bytes = 0;    // by users, since the pass before this one began, or since the opening
  std::uint64_t passed_bytes = 0;     // by this pass
};

// Whether a pass may go on, or begin.
[[nodiscard]] bool IsPassDue(const PassFigures& figures);
// What a pass pays off of written_bytes when it ends.
[[nodiscard]] std::uint64_t WrittenPerPass(double max_space_amplification, std::uint64_t live_bytes);

}  // namespace cambium
