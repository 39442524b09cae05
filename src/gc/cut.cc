#include "gc/cut.h"

#include <algorithm>
#include <cassert>

#include "gc/punch.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Partly filled blocks of the new files: a segment, a run of a few pages, and the MANIFEST.
constexpr std::uint64_t kStepCost = 4 * kPunchBlock;
// The part of kStepCost that stays, on average, once the next compaction has merged the run.
constexpr std::uint64_t kStepCostKept = kPunchBlock / 2;
// Bytes that a record has in the footer and in the run, in addition to its key.
constexpr std::uint64_t kEntryCost = 16;

std::uint64_t EntryOf(const GcRecord& record) { return record.key.size() + kEntryCost; }
std::uint64_t CostOf(const GcRecord& record) { return record.size + 2 * EntryOf(record); }

// The bytes of a step that stay on disk after the next compaction.
class Kept {
 public:
  // An entry of the new footer is no larger than the record's entry in the old one, if there is one.
  Kept(const SegmentInfo& info, std::size_t live, bool runs_stay)
      : of_footer_((info.file_size - info.sealed_length) / std::max<std::size_t>(live, 1)), runs_stay_(runs_stay) {}
  [[nodiscard]] std::uint64_t OfStep() const { return runs_stay_ ? kStepCost : kStepCostKept; }
  [[nodiscard]] std::uint64_t Of(const GcRecord& record) const {
    const std::uint64_t in_footer = of_footer_ == 0 ? EntryOf(record) : std::min(of_footer_, EntryOf(record));
    return record.size + in_footer + (runs_stay_ ? EntryOf(record) : 0);
  }

 private:
  const std::uint64_t of_footer_;
  const bool runs_stay_;
};

// Bytes that a cut at this offset frees, in addition to the holes of punched records.
class Freed {
 public:
  Freed(const SegmentInfo& info, std::span<const GcRecord> punched) : info_(info), punched_(punched) {}
  // `cut`: no smaller than in the call before.
  std::uint64_t By(std::uint64_t cut) {
    assert(cut >= info_.cut);
    for (; next_ < punched_.size() && punched_[next_].offset < cut; ++next_) {
      const Hole hole = HoleOf(punched_[next_].offset, punched_[next_].size, punched_[next_].key.size());
      holes_ += hole.length;
      kept_ += punched_[next_].size - hole.length;
    }
    const std::uint64_t all = HoleOfCut(cut).length - HoleOfCut(info_.cut).length;
    return all - std::min(all, holes_);
  }
  // The bytes that punching has kept of the punched records before the cut of the last call.
  [[nodiscard]] std::uint64_t kept() const { return kept_; }

 private:
  const SegmentInfo& info_;
  const std::span<const GcRecord> punched_;
  std::size_t next_ = 0;
  std::uint64_t holes_ = 0;
  std::uint64_t kept_ = 0;
};

// Whether emptying the whole segment in steps of at most `room` bytes frees more than it writes, without losing more
// than half of the room on the way.
bool IsWholeWorthIt(const SegmentInfo& info, std::span<const GcRecord> live, std::span<const GcRecord> punched,
                    std::uint64_t room, const Kept& kept) {
  Freed freed(info, punched);
  std::uint64_t in_step = kStepCost;
  std::uint64_t written = kStepCost;
  std::uint64_t stays = kept.OfStep();  // the part of `written` that stays
  for (const GcRecord& record : live) {
    if (in_step + CostOf(record) > room) {
      written += kStepCost;
      stays += kept.OfStep();
      in_step = kStepCost;
    }
    in_step += CostOf(record);
    written += CostOf(record);
    stays += kept.Of(record);
    if (written > freed.By(record.offset) + room / 2 + kStepCost) return false;
  }
  return stays < freed.By(info.sealed_length) + (info.file_size - info.sealed_length);
}

}  // namespace

CutPlan PlanCut(const SegmentInfo& info, std::span<const GcRecord> live, std::span<const GcRecord> punched,
                std::uint64_t room, bool runs_stay) {
  assert(info.sealed && info.file_size >= info.sealed_length);
  assert(std::ranges::is_sorted(live, {}, &GcRecord::offset) && std::ranges::is_sorted(punched, {}, &GcRecord::offset));
  const Kept kept(info, live.size(), runs_stay || MutantIs(Mutant::kCutCountsMergedRuns));
  CutPlan plan;
  if (live.empty()) {
    plan.empties = true;
    return plan;
  }
  std::uint64_t left = 0;
  for (const GcRecord& record : live) left += record.size;
  plan.live_left = left;
  std::size_t fits = 0;    // the number of records that fit into the room
  std::size_t best = 0;    // the number of records with which the step gains the most
  std::int64_t gain = 0;   // of `best`
  std::uint64_t cost = 0;
  std::uint64_t stays = kept.OfStep();  // the part of `cost` that stays
  Freed freed_by(info, punched);
  for (std::size_t count = 0; count <= live.size(); ++count) {
    if (count > 0) {
      cost += CostOf(live[count - 1]);
      stays += kept.Of(live[count - 1]);
    }
    const std::uint64_t all = count == 0 ? kPunchBlock : cost + kStepCost;
    if (count > 0 && all > room) break;
    fits = count;
    const bool is_all = count == live.size();
    const std::uint64_t rest = info.file_size - info.sealed_length;
    const std::uint64_t freed = is_all ? freed_by.By(info.sealed_length) + rest : freed_by.By(live[count].offset);
    const std::int64_t its = static_cast<std::int64_t>(freed) - static_cast<std::int64_t>(stays);
    if (its > 0 && its >= gain) {
      gain = its;
      best = count;
    }
  }
  if (gain <= 0 && !MutantIs(Mutant::kCutAtALoss)) {
    if (fits == 0 || !IsWholeWorthIt(info, live, punched, room, kept)) return plan;
  }
  if (gain <= 0) best = fits;
  if (best == live.size()) {
    plan.empties = true;
    return plan;
  }
  plan.cut = live[best].offset;
  if (plan.cut <= info.FirstRecord()) {
    plan.cut = 0;
    return plan;
  }
  for (std::size_t i = 0; i < best; ++i) left -= live[i].size;
  plan.live_left = left;
  Freed freed(info, punched);
  plan.hole_bytes = freed.By(plan.cut);
  plan.covered_kept = freed.kept();
  return plan;
}

}  // namespace cambium
