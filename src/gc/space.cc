#include "gc/space.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::uint64_t Minus(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

// A flush of fewer bytes is not worth its syncs. Nor is a flush of memtables that have fewer bytes than the second
// bound on average: each file takes at least a block, and the first one of a tree two pages.
constexpr std::uint64_t kFlushBytesLeast = 512u << 10;
constexpr std::uint64_t kFlushBytesOfTableLeast = 16u << 10;

// A segment has an eighth of the slack, so the garbage in it cannot take up the slack before it is full and can be
// collected.
std::uint64_t SegmentBytes(std::uint64_t slack, std::uint64_t most) {
  if (MutantIs(Mutant::kSealOnlyFull)) return most;
  return std::clamp(slack / 8, std::min(kSegmentBytesLeast, most), most);
}

// The bytes above the live ones that the ceiling allows, without the A of space.h. Slack and A together must fit into
// min_space_limit. A is three segments, each of an eighth of the slack or of the least size; so the slack is 8 / 11 of
// the limit, or the limit minus three segments of the least size.
std::uint64_t Slack(const SpacePolicy& policy, std::uint64_t live) {
  const double its = (policy.max_space_amplification - 1) * static_cast<double>(live);
  if (MutantIs(Mutant::kIgnoreMinSpaceLimit)) return static_cast<std::uint64_t>(its);
  const std::uint64_t limit =
      std::min(policy.min_space_limit / 11 * 8, Minus(policy.min_space_limit, 3 * kSegmentBytesLeast));
  return std::max(static_cast<std::uint64_t>(its), Minus(limit, live));
}

// How many bytes of addresses and footers count as live: none up to a quarter of the slack, all from a half on. If they
// took most of the slack, little of it could be garbage in the log, or none: then log GC could free no space, and the
// ceiling could not be kept.
std::uint64_t LiveAddressBytes(const SpaceFigures& figures, std::uint64_t slack) {
  if (MutantIs(Mutant::kAddressesAreNotLive)) return 0;
  const std::uint64_t bytes = figures.index_address_bytes + figures.live_footer_bytes;
  return std::min(bytes, 2 * Minus(bytes, slack / 4));
}

// The bytes beyond the live ones that the database has or may get.
std::uint64_t RoomOnDisk(const SpaceFigures& figures, std::uint64_t live) {
  const std::uint64_t beyond = Minus(figures.on_disk(), live);
  const bool is_unknown = figures.free_bytes > kNever - beyond || MutantIs(Mutant::kSlackIgnoresDisk);
  return is_unknown ? kNever : beyond + figures.free_bytes;
}

// `room`: the most bytes that dead pages may take. `page_bytes`: the index's pages without dead ones.
std::uint64_t IndexFilePercentMax(std::uint64_t room, std::uint64_t page_bytes) {
  constexpr double kLeast = 10;  // then ten pages are copied for each dead one; at 5 per cent it would be twenty
  constexpr double kMost = 100;
  if (page_bytes == 0) return kFilePercentUnbounded;
  const double dead_percent = 100 * static_cast<double>(room) / static_cast<double>(page_bytes);
  return 100 + static_cast<std::uint64_t>(std::clamp(dead_percent, kLeast, kMost));
}

// A plan with the sizes that follow from the slack and from the room on the disk.
SpacePlan PlanSizes(const SpaceFigures& figures, const SpacePolicy& policy, std::uint64_t slack, std::uint64_t room) {
  SpacePlan plan;
  plan.slack_bytes = std::min(slack, room);
  plan.is_bound_by_disk = room < slack;
  plan.segment_bytes = SegmentBytes(plan.slack_bytes, policy.segment_bytes_max);
  assert(plan.segment_bytes <= policy.segment_bytes_max);
  plan.step_bytes = std::min(policy.step_bytes_max, plan.segment_bytes);
  plan.index_file_percent_max =
      IndexFilePercentMax(plan.slack_bytes / 5 * 2, figures.index_live_bytes + figures.index_address_bytes);
  return plan;
}

// Sets the values of D at which jobs start, and writers slow down and stop, from the plan's sizes. `limit`: the live
// bytes and the slack.
void SetLimits(const SpaceFigures& figures, std::uint64_t slack, std::uint64_t limit, SpacePlan* plan) {
  // A writer's check counts the bytes that jobs have in flight. But a flush or a compaction that rewrites a part of an
  // index may begin after that check, and its old files wait for removal. So the limits are lowered by `in_flight`. A
  // step of log GC, which is no larger than a segment, needs no allowance here: the A of space.h has room for it.
  const std::uint64_t in_flight = std::min(figures.index_bytes + figures.tail_index_bytes, slack / 8);
  // After the flush these pages are on the disk, and count in `in_flight` too. Entries that a sweep adds to a tree take
  // their space twice until the sweep ends. They have at most two fifths of the sweep's room, unless that is small.
  const std::uint64_t swept = MutantIs(Mutant::kSweptRunsNeedNoRoom) ? 0 : figures.index_swept_bytes;
  const std::uint64_t to_come = std::min(figures.tail_index_bytes, slack / 8) + std::min(swept, slack / 5 * 2);
  // A quarter of a segment, but an eighth if the index is large.
  const std::uint64_t beyond = plan->segment_bytes / 8 + std::min(plan->segment_bytes / 8, slack / 8 - in_flight);
  plan->spare_until = limit + beyond;
  // The A of space.h has room for two segments and a step. The step is left out of the figures that the limits are
  // compared with, so writers may come nearer to the bound. The rest is for bytes that are counted late: the footer and
  // the run of a step, and zeros ahead of the log. If the index is large, its steps need that room, and `for_log` is 0;
  // likewise while range deletes come, because fewer bytes may be live than we know.
  const bool is_live_known = figures.tail_range_deletes == 0 && !figures.had_range_deletes;
  const std::uint64_t for_log = is_live_known ? std::min(plan->segment_bytes, slack / 8 - in_flight) : 0;
  plan->step_room = std::min(plan->step_bytes, for_log);
  plan->slow_at = Minus(plan->spare_until, in_flight + to_come) + plan->step_room / 2;
  // While values of the log are deleted, fewer bytes are live than at the last look, and log GC needs some time.
  const std::uint64_t for_deletes =
      figures.log_bytes > figures.index_bytes ? std::min(in_flight, plan->segment_bytes) / 8 : 0;
  // Writers take a part of the room of a step, not of a segment: the copies of a segment with more live bytes than a
  // step takes are all written before its space is free.
  plan->stop_at = limit + plan->segment_bytes - in_flight - to_come - for_deletes + plan->step_room / 8 * 5;
  assert(plan->slow_at < plan->stop_at);
  // For the log, jobs start late: the slack that is used until then is garbage that log GC collects. A large index
  // needs an earlier start, because each of its steps takes space before it frees any.
  plan->work_at = Minus(plan->slow_at, slack / 16 - plan->step_room / 4 + in_flight / 2);
}

// When writers have added this many bytes, memtables are flushed.
std::uint64_t FlushIn(const SpaceFigures& figures, std::uint64_t slack) {
  const std::uint64_t flush_from =
      std::max({slack / 8, kFlushBytesLeast, figures.active_tables * kFlushBytesOfTableLeast});
  return MutantIs(Mutant::kRunsIgnoreRoom) ? kNever : Minus(flush_from, figures.active_bytes);
}

// Sets what to start now, because D is at work_at or above.
void ChooseJobs(const SpaceFigures& figures, std::uint64_t slack, std::uint64_t on_disk, SpacePlan* plan) {
  // Each kind of waste in the log may take a share of the slack before its job is started. If space is short and log GC
  // has nothing to collect, the shares are smaller or zero, so that all waste becomes garbage that log GC can collect.
  const bool is_short = on_disk >= plan->slow_at + (plan->stop_at - plan->slow_at) / 2;
  const bool is_starved = is_short && figures.collectable_bytes < plan->segment_bytes / 4;
  // Flushing a tiny tail only makes a run, and many such runs take more space than they free.
  plan->flush = plan->flush || std::max(figures.tail_bytes, figures.tail_hides_bytes) > slack / (is_starved ? 32 : 8) ||
               (is_starved && figures.tail_range_deletes > 0);
  const std::uint64_t compactable = figures.hidden_bytes + figures.index_covered_bytes;
  plan->compact = compactable > slack / 8 || (is_starved && compactable + figures.index_hidden_bytes > 0);
  plan->collect = figures.collectable_bytes > 0;
  plan->seal = is_starved;
}

}  // namespace

std::uint64_t SpaceFigures::live() const {
  const std::uint64_t in_families = Minus(log_live_bytes, hidden_bytes) + tail_new_bytes;
  return std::max(Minus(in_families, tail_hides_bytes), tail_live_bytes) + index_live_bytes;
}

SpacePlan PlanSpace(const SpaceFigures& figures, const SpacePolicy& policy) {
  const bool has_ceiling = policy.max_space_amplification != 0;
  std::uint64_t live = figures.live();
  if (has_ceiling) live += LiveAddressBytes(figures, Slack(policy, live));
  const std::uint64_t slack = has_ceiling ? Slack(policy, live) : kNever;
  SpacePlan plan = PlanSizes(figures, policy, slack, RoomOnDisk(figures, live));
  if (!has_ceiling) {
    plan.flush_in = plan.work_at = plan.spare_until = plan.slow_at = plan.stop_at = kNever;
    return plan;
  }
  SetLimits(figures, slack, live + slack, &plan);
  plan.flush_in = FlushIn(figures, plan.slack_bytes);
  plan.flush = plan.flush_in == 0;
  // Files that are about to be removed still take space, and writers wait for their removal. But no job removes them
  // sooner, and a job that moved values meanwhile would only make more files to remove.
  const std::uint64_t leaving = MutantIs(Mutant::kGcIgnoresPendingDeletes) ? 0 : figures.leaving_bytes;
  const std::uint64_t on_disk = Minus(figures.on_disk(), leaving);
  if (on_disk >= plan.work_at) ChooseJobs(figures, slack, on_disk, &plan);
  return plan;
}

double PacedRate(double part, double freed_per_second) {
  assert(freed_per_second >= 0);
  if (part <= 0) return std::numeric_limits<double>::infinity();
  return part >= 1 ? 0 : freed_per_second * (1 - part) / part;
}

}  // namespace cambium
