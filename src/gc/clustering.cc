#include "gc/clustering.h"

#include <algorithm>

namespace cambium {
namespace {

// h: half of the slack below the ceiling; flushes, compactions and log GC share the other half.
double Slack(double max_space_amplification) {
  constexpr double kWithoutCeiling = 1;
  constexpr double kLeast = 1.0 / 16;  // writes 17 bytes per byte; with less slack there is no room to move values
  if (max_space_amplification == 0) return kWithoutCeiling;
  return std::max((max_space_amplification - 1) / 2, kLeast);
}

// In idle time, a pass is due once users have written one byte for this many live bytes.
constexpr std::uint64_t kIdleOneIn = 64;

}  // namespace

const WalkMark* MostWorthwhile(std::span<const WalkMark> marks) {
  const WalkMark* best = nullptr;
  std::uint64_t best_surplus = 0;
  for (const WalkMark& mark : marks) {
    const std::uint64_t gain = mark.jumps * kBytesOfJump;
    const std::uint64_t cost = mark.bytes * kRewriteCost + kBytesOfStep;
    if (gain <= cost || gain - cost <= best_surplus) continue;
    best_surplus = gain - cost;
    best = &mark;
  }
  return best;
}

std::uint64_t WrittenPerPass(double max_space_amplification, std::uint64_t live_bytes) {
  return static_cast<std::uint64_t>(Slack(max_space_amplification) * static_cast<double>(live_bytes));
}

bool IsPassDue(const PassFigures& figures) {
  if (figures.live_bytes == 0 || figures.written_bytes == 0) return false;
  if (figures.is_idle && figures.written_bytes >= figures.live_bytes / kIdleOneIn) return true;
  // The pass may progress in proportion to what users have written.
  const auto per_pass = static_cast<double>(WrittenPerPass(figures.max_space_amplification, figures.live_bytes));
  const double owed = static_cast<double>(figures.written_bytes) / per_pass;
  return static_cast<double>(figures.passed_bytes) < owed * static_cast<double>(figures.live_bytes);
}

}  // namespace cambium
