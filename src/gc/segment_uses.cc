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

void VisitSegmentUses(const ManifestState& state, const StateIndex& index, std::uint64_t min_punch_size,
                      const std::function<std::optional<PunchedUse>(std::uint64_t number)>& punched,
                      const std::function<void(const SegmentInfo&, GcStanding, SegmentUse)>& visit) {
  // The first record of a log segment says where the segment before it ends. If that segment is unsealed, nothing else
  // says so.
  bool is_after_unsealed = false;
  for (const auto& [number, info] : state.segments) {
    const Account account = index.TotalOf(info.slot);
    assert(account.references >= 0 && account.bytes >= 0);
    SegmentUse use;
    use.number = number;
    use.live_bytes = static_cast<std::uint64_t>(account.bytes);
    use.live_records = static_cast<std::uint64_t>(account.references);
    use.made_at = info.last_sequence;
    use.generation = info.generation;
    if (info.kind == SegmentKind::kLog && is_after_unsealed && !MutantIs(Mutant::kGcDropsSuccessorOfUnsealed)) {
      visit(info, GcStanding::kAfterUnsealed, use);
      continue;
    }
    is_after_unsealed = is_after_unsealed || (info.kind == SegmentKind::kLog && !info.sealed);
    if (info.kind == SegmentKind::kLargeValue || !info.sealed) {
      visit(info, info.kind == SegmentKind::kLargeValue ? GcStanding::kLargeValue : GcStanding::kNotSealed, use);
      continue;
    }
    assert(info.file_size >= info.sealed_length);
    const bool is_replayed = info.kind == SegmentKind::kLog && state.replay < LogPosition{number, info.sealed_length};
    if (is_replayed && !MutantIs(Mutant::kGcAheadOfReplay)) {
      visit(info, GcStanding::kInReplay, use);
      continue;
    }
    const std::optional<PunchedUse> known = punched(number);
    if (!known.has_value() && info.MayHaveHoles()) {
      visit(info, GcStanding::kHolesUnknown, use);
      continue;
    }
    PunchedUse its = known.value_or(PunchedUse());
    if (!info.MayHaveHoles()) its.holes = its.kept = 0;  // log GC looked at it and left it as it is
    use.live_bytes = std::min(use.live_bytes, its.live_most);
    // The replay position may still be in the segment. Then Open reads the segment's first record.
    use.can_cut = info.has_footer && (info.kind == SegmentKind::kRelocation || number < state.replay.segment);
    use.bytes = info.file_size - its.holes;
    use.hole_bytes = its.holes;
    use.overhead_bytes = kFileHeaderSize + (info.file_size - info.sealed_length) + KeptByPunching(info, account, its);
    use.is_worth_punching = IsWorthPunching(info, account, use.garbage(), min_punch_size, its);
    visit(info, GcStanding::kMember, use);
  }
}

}  // namespace cambium
