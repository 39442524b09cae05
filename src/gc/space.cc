#include "gc/space.h"

#include <algorithm>
#include <limits>

#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::uint64_t Minus(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

// With an eighth of the slack in each, no segment is so large that waiting for it takes all of the slack.
std::uint64_t SegmentBytes(double slack, std::uint64_t most) {
  if (MutantIs(Mutant::kSealOnlyFull)) return most;
  const auto eighth = static_cast<std::uint64_t>(slack / 8);
  return std::clamp(eighth, std::min(kSegmentBytesLeast, most), most);
}

std::uint64_t IndexFilePercentMax(double slack, std::uint64_t index_live_bytes) {
  constexpr double kLeast = 15;  // for each page that dies seven are copied then; at a twentieth it would be twenty
  constexpr double kMost = 100;
  if (index_live_bytes == 0) return 200;
  const double dead_percent = 100 * (slack / 2) / static_cast<double>(index_live_bytes);
  return 100 + static_cast<std::uint64_t>(std::clamp(dead_percent, kLeast, kMost));
}

}  // namespace

std::uint64_t SpaceFigures::live() const {
  return std::max(Minus(log_live_bytes, hidden_bytes + tail_hides_bytes), tail_live_bytes) + index_live_bytes;
}

std::uint64_t StepBytesMax(std::uint64_t write_buffer_size) {
  return std::clamp<std::uint64_t>(write_buffer_size, 1u << 20, 64u << 20);
}

SpacePlan PlanSpace(const SpaceFigures& figures, const SpacePolicy& policy) {
  SpacePlan plan;
  if (policy.max_space_amplification == 0) {
    plan.segment_bytes = policy.segment_bytes_max;
    plan.step_bytes = std::min(policy.step_bytes_max, policy.segment_bytes_max);
    plan.work_at = plan.spare_until = plan.slow_at = plan.stop_at = kNever;
    return plan;
  }
  const std::uint64_t live = figures.live();
  const double slack = (policy.max_space_amplification - 1) * static_cast<double>(live);
  plan.segment_bytes = SegmentBytes(slack, policy.segment_bytes_max);
  plan.step_bytes = std::min(policy.step_bytes_max, plan.segment_bytes);
  plan.index_file_percent_max = IndexFilePercentMax(slack, figures.index_live_bytes);
  const auto limit = static_cast<std::uint64_t>(policy.max_space_amplification * static_cast<double>(live));
  // Writers know what jobs have in flight, but a step of log GC, and a flush that rewrites a tree, may begin when they have
  // come to the end already; with what waits to be removed that is more than one of the segments above the limit. In a
  // small database steps are small, and one that is smaller than an eighth of a segment has nothing to do and to wait for.
  const auto share = static_cast<std::uint64_t>(slack / 16);
  const std::uint64_t in_flight = std::min(plan.segment_bytes, share) + std::min(figures.index_bytes, share);
  plan.spare_until = limit + plan.segment_bytes / 8;
  plan.slow_at = Minus(plan.spare_until, in_flight);
  plan.stop_at = limit + plan.segment_bytes - in_flight;
  plan.work_at = Minus(plan.slow_at, static_cast<std::uint64_t>(slack / 8));

  // What is about to go is there, and writers wait for it; but no job makes it go sooner. One that moved values meanwhile
  // would give whoever removes files only more to do.
  const std::uint64_t leaving = MutantIs(Mutant::kWorksForWhatLeaves) ? 0 : figures.leaving_bytes;
  const std::uint64_t on_disk = Minus(figures.on_disk(), leaving);
  if (on_disk < plan.work_at) return plan;
  // Of what is wasted in the log, each kind has its share before its job is begun. When there is nothing to collect, the
  // shares do not count: whatever there is has to become garbage that can be.
  const bool is_short = on_disk >= plan.slow_at + (plan.stop_at - plan.slow_at) / 2;
  const bool is_starved = is_short && figures.collectable_bytes < plan.segment_bytes / 4;
  const auto part = [&](int n) { return static_cast<std::uint64_t>(slack / n); };
  // Of a tail that is next to nothing a flush makes nothing either but a run, and the runs of a row of them take more than
  // they give back.
  plan.flush = std::max(figures.tail_bytes, figures.tail_hides_bytes) > part(is_starved ? 32 : 8) ||
               (is_starved && figures.tail_range_deletes > 0);
  plan.compact =
      figures.hidden_bytes > part(4) || (is_starved && figures.hidden_bytes + figures.index_hidden_bytes > 0);
  plan.collect = figures.collectable_bytes > 0;
  plan.seal = is_starved;
  return plan;
}

double PacedRate(double part, double freed_per_second) {
  if (part <= 0) return std::numeric_limits<double>::infinity();
  return part >= 1 ? 0 : freed_per_second * (1 - part) / part;
}

}  // namespace cambium
