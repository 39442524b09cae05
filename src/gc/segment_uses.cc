#include "gc/segment_uses.h"

#include <algorithm>
#include <cassert>

#include "util/mutant.h"

namespace cambium {
namespace {

// A segment is worth punching only if at least one part in kLiveParts of it is live. Otherwise its live values are
// copied, and the file is dropped.
constexpr std::uint64_t kLiveParts = 64;

bool IsWorthPunching(const SegmentInfo& info, const Account& account, std::uint64_t garbage, std::uint64_t least,
                     const PunchedUse& punched) {
  if (least == 0 || !info.has_footer || account.references <= 0) return false;
  const auto live = static_cast<std::uint64_t>(account.bytes);
  if (live / static_cast<std::uint64_t>(account.references) < least || live < info.file_size / kLiveParts) return false;
  return garbage >= punched.garbage_at_look + std::max(least, info.file_size / 16);
}

// Header and key of a punched value take space as long as the segment exists. If the segment is worth keeping, they are
// not counted as garbage.
std::uint64_t KeptByPunching(const SegmentInfo& info, const Account& account, const PunchedUse& punched) {
  const bool is_kept =
      static_cast<std::uint64_t>(std::max<std::int64_t>(account.bytes, 0)) >= info.file_size / kLiveParts;
  return is_kept ? punched.kept : 0;
}

}  // namespace

GcStanding FindSegmentUse(const ManifestState& state, const StateIndex& index, const SegmentInfo& info,
                          std::uint64_t min_punch_size,
                          const std::function<std::optional<PunchedUse>(std::uint64_t number)>& punched,
                          SegmentUse* use) {
  const Account account = index.TotalOf(info.slot);
  assert(account.references >= 0 && account.bytes >= 0);
  *use = SegmentUse();
  use->number = info.number;
  use->live_bytes = static_cast<std::uint64_t>(account.bytes);
  use->live_records = static_cast<std::uint64_t>(account.references);
  use->made_at = info.last_sequence;
  use->generation = info.generation;
  // The first record of a log segment says where the segment before it ends. If that segment is unsealed, nothing else
  // says so.
  const bool is_log = info.kind == SegmentKind::kLog;
  const bool is_after_unsealed = is_log && index.FirstUnsealedLog().value_or(info.number) < info.number;
  if (is_after_unsealed && !MutantIs(Mutant::kGcDropsSuccessorOfUnsealed)) return GcStanding::kAfterUnsealed;
  if (info.kind == SegmentKind::kLargeValue) return GcStanding::kLargeValue;
  if (!info.sealed) return GcStanding::kNotSealed;
  assert(info.file_size >= info.sealed_length);
  const bool is_replayed = is_log && state.replay < LogPosition{info.number, info.sealed_length};
  if (is_replayed && !MutantIs(Mutant::kGcAheadOfReplay)) return GcStanding::kInReplay;
  const std::optional<PunchedUse> known = punched(info.number);
  if (!known.has_value() && info.MayHaveHoles()) return GcStanding::kHolesUnknown;
  PunchedUse its = known.value_or(PunchedUse());
  if (!info.MayHaveHoles()) its.holes = its.kept = 0;  // log GC looked at it and left it as it is
  use->live_bytes = std::min(use->live_bytes, its.live_most);
  // The replay position may still be in the segment. Then Open reads the segment's first record.
  use->can_cut = info.has_footer && (info.kind == SegmentKind::kRelocation || info.number < state.replay.segment);
  use->bytes = info.file_size - its.holes;
  use->hole_bytes = its.holes;
  use->overhead_bytes = kFileHeaderSize + (info.file_size - info.sealed_length) + KeptByPunching(info, account, its);
  use->is_worth_punching = IsWorthPunching(info, account, use->garbage(), min_punch_size, its);
  return GcStanding::kMember;
}

void VisitSegmentUses(const ManifestState& state, const StateIndex& index, std::uint64_t min_punch_size,
                      const std::function<std::optional<PunchedUse>(std::uint64_t number)>& punched,
                      const std::function<void(const SegmentInfo&, GcStanding, SegmentUse)>& visit) {
  for (const auto& [number, info] : state.segments) {
    SegmentUse use;
    const GcStanding standing = FindSegmentUse(state, index, info, min_punch_size, punched, &use);
    visit(info, standing, use);
  }
}

}  // namespace cambium
