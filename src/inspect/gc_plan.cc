#include "inspect/gc_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/db_inside.h"
#include "recovery/open_files.h"
#include "gc/punch.h"
#include "gc/space.h"
#include "vlog/segment_footer.h"

namespace cambium {
namespace {

GcVerdict VerdictBy(GcStanding standing) {
  switch (standing) {
    case GcStanding::kLargeValue:
      return GcVerdict::kLargeValue;
    case GcStanding::kNotSealed:
      return GcVerdict::kNotSealed;
    case GcStanding::kAfterUnsealed:
      return GcVerdict::kAfterUnsealed;
    case GcStanding::kInReplay:
      return GcVerdict::kInReplay;
    default:
      return GcVerdict::kDamaged;
  }
}

// Returns the space that punching has freed and left in a segment, by its footer. Corruption if the footer is damaged.
Result<std::optional<PunchedUse>> ReadPunched(InspectedDatabase* database, const SegmentInfo& info) {
  CAMBIUM_TRY(const std::shared_ptr<Segment> segment,
              OpenSegment(database->fs(), database->path(), database->state(),
                          database->state().segments.at(info.number), false, nullptr));
  PunchedUse use;
  use.holes = HoleOfCut(info.cut).length;
  if (!info.has_footer) return std::optional(use);
  CAMBIUM_RETURN_IF_ERROR(ReadSegmentFooter(segment->file(), segment->seed(), kFileHeaderSize, info.sealed_length,
                                            info.file_size, [&](const FooterEntry& entry) {
                                              if (!std::ranges::binary_search(info.punched, entry.offset))
                                                return Status::OK();
                                              const Hole hole = HoleOf(entry.offset, entry.size, entry.key.size());
                                              use.holes += hole.length;
                                              use.kept += entry.size - hole.length;
                                              return Status::OK();
                                            }));
  return std::optional(use);
}

// Returns the state that Open for writing would leave: segments that recovery adopts are sealed, those that it rejects
// are removed, and footers of replayed segments do not count.
ManifestState StateOnceOpen(const InspectedDatabase& database) {
  ManifestState state = database.state();
  if (!database.has_tail()) return state;
  for (auto& [number, info] : state.segments) {
    if (info.kind == SegmentKind::kLog && state.replay < LogPosition{number, info.sealed_length})
      info.has_footer = false;
  }
  for (const ReplayedSegment& adopted : database.replayed().adopted) {
    SegmentInfo& info = state.segments.at(adopted.number);
    info.sealed = true;
    info.has_footer = false;
    info.sealed_length = info.file_size = adopted.length;
    info.last_sequence = adopted.last_sequence;
  }
  for (const std::uint64_t number : database.replayed().rejected) state.segments.erase(number);
  return state;
}

class Planner {
 public:
  Planner(InspectedDatabase* database, const DBOptions& options,
          const std::vector<ColumnFamilyDescriptor>& families, const GcRound& round)
      : database_(database), state_(StateOnceOpen(*database)), options_(options), round_(round) {
    for (const ColumnFamilyDescriptor& each : families) {
      if (each.name == kDefaultColumnFamilyName) family_ = each.options;
    }
  }

  Result<GcPlan> Run() {
    for (const auto& [number, info] : state_.segments) {
      if (info.kind == SegmentKind::kLargeValue || !info.sealed) continue;
      Result<std::optional<PunchedUse>> use = ReadPunched(database_, info);
      CAMBIUM_RETURN_IF_ERROR(database_->problems().Note(use.status()));
      if (use.ok()) punched_[number] = **use;
    }
    Place();
    ChooseRound();
    ForecastIdleWork();
    return std::move(plan_);
  }

 private:
  // Finds the standing of each segment. Members of F that Open would keep are added to uses_.
  void Place() {
    const auto punched = [this](std::uint64_t number) -> std::optional<PunchedUse> {
      const auto found = punched_.find(number);
      return found == punched_.end() ? std::nullopt : std::optional(found->second);
    };
    VisitSegmentUses(state_, index_, options_.min_punch_size, punched,
                     [&](const SegmentInfo& info, GcStanding standing, SegmentUse use) {
                       GcPlanSegment segment{info, use, 0, VerdictBy(standing)};
                       if (standing == GcStanding::kMember) {
                         segment.use.is_damaged = !punched_.contains(info.number);
                         segment.benefit = GcBenefit(use, state_.last_sequence);
                         segment.verdict = use.live_records == 0 ? GcVerdict::kUnreferenced : GcVerdict::kTooYoung;
                         if (use.live_records == 0) plan_.unreferenced_bytes += use.bytes;
                         if (use.live_records != 0) uses_.push_back(segment.use);
                       }
                       plan_.segments.push_back(std::move(segment));
                     });
    plan_.member_count = uses_.size();
  }

  void ChooseRound() {
    VictimPolicy policy = Policy();
    if (round_.cutoff >= 0 && round_.cutoff <= 1) policy.age_cutoff = round_.cutoff;
    plan_.age_cutoff = policy.age_cutoff;
    plan_.eligible_count = EligibleByAge(uses_.size(), policy.age_cutoff);
    const std::set<std::uint64_t> wanted = WorthRequesting(uses_, policy, round_.all);
    std::map<std::uint64_t, std::size_t> place;  // index in F, by number
    for (std::size_t i = 0; i < uses_.size(); ++i) place[uses_[i].number] = i;
    for (GcPlanSegment& segment : plan_.segments) {
      const auto its = place.find(segment.use.number);
      if (its == place.end()) continue;
      segment.verdict = VerdictOf(segment.use, its->second < plan_.eligible_count, wanted.contains(segment.use.number));
      if (segment.verdict == GcVerdict::kPunched) plan_.punched.AddPunched(segment.use);
      if (segment.verdict == GcVerdict::kMoved) plan_.moved.Add(segment.use);
    }
  }

  GcVerdict VerdictOf(const SegmentUse& use, bool is_old_enough, bool is_wanted) const {
    constexpr std::uint64_t kGarbageLeast = 4096;  // the same threshold as in log GC
    if (use.is_damaged) return GcVerdict::kDamaged;
    // The job punches first, segments of any age. If `all`, it then also relocates what is left in the wanted segments.
    const bool is_moved_too = is_wanted && round_.all;
    if (use.is_worth_punching && family_.enable_blob_garbage_collection && !is_moved_too) return GcVerdict::kPunched;
    if (is_wanted) return GcVerdict::kMoved;
    if (!is_old_enough) return GcVerdict::kTooYoung;
    return use.garbage() < kGarbageLeast ? GcVerdict::kNoGarbage : GcVerdict::kLittleGarbage;
  }

  [[nodiscard]] VictimPolicy Policy() const {
    VictimPolicy policy;
    policy.age_cutoff = family_.blob_garbage_collection_age_cutoff;
    policy.force_threshold = family_.blob_garbage_collection_force_threshold;
    policy.target_bytes = family_.blob_file_size;
    return policy;
  }

  void ForecastIdleWork() {
    plan_.is_enabled = family_.enable_blob_garbage_collection;
    if (!plan_.is_enabled) return;
    SpaceFigures figures;
    for (const auto& [number, info] : state_.segments) {
      figures.log_live_bytes += static_cast<std::uint64_t>(index_.TotalOf(info.slot).bytes);
    }
    SpacePolicy space;
    space.max_space_amplification = options_.max_space_amplification;
    space.segment_bytes_max = family_.blob_file_size;
    const SpacePlan sizes = PlanSpace(figures, space);
    VictimPolicy policy = Policy();
    policy.target_bytes = sizes.segment_bytes;
    policy.step_bytes = sizes.step_bytes;
    if (space.max_space_amplification != 0) {
      policy.space_garbage_least = std::min(policy.space_garbage_least, (space.max_space_amplification - 1) / 4);
    }
    plan_.by_itself = ForecastGc(uses_, policy, state_.last_sequence, GcUrgency::kIdle, true);
  }

  InspectedDatabase* const database_;
  const ManifestState state_;
  const StateIndex index_{state_};
  const DBOptions& options_;
  ColumnFamilyOptions family_;         // of the default column family
  const GcRound round_;
  std::map<std::uint64_t, PunchedUse> punched_;  // of segments whose footers are whole
  std::vector<SegmentUse> uses_;
  GcPlan plan_;
};

}  // namespace

const char* NameOf(GcVerdict verdict) {
  switch (verdict) {
    case GcVerdict::kMoved:
      return "chosen: live values are moved, and the file is removed";
    case GcVerdict::kPunched:
      return "chosen: large dead values are punched";
    case GcVerdict::kUnreferenced:
      return "nothing refers to it: the next open for writing removes it";
    case GcVerdict::kTooYoung:
      return "too young by blob_garbage_collection_age_cutoff";
    case GcVerdict::kNoGarbage:
      return "no garbage";
    case GcVerdict::kLittleGarbage:
      return "less than a quarter garbage";
    case GcVerdict::kDamaged:
      return "damaged";
    case GcVerdict::kLargeValue:
      return "the file of a large value: removed with its last reference";
    case GcVerdict::kNotSealed:
      return "not sealed: still written to, or until the next open for writing";
    case GcVerdict::kAfterUnsealed:
      return "an older segment is not sealed";
    case GcVerdict::kInReplay:
      return "not flushed: recovery would read it";
  }
  return "unknown";
}

Result<GcPlan> PlanGc(InspectedDatabase* database, const DBOptions& options,
                      const std::vector<ColumnFamilyDescriptor>& families, const GcRound& round) {
  return Planner(database, options, families, round).Run();
}

Status RunGcRound(DB* db, const GcRound& round) {
  DbInside* const inside = DbInside::Of(db);
  if (inside == nullptr) return Status::InvalidArgument("the database was not opened by this library");
  return inside->CollectOnce(round.all, round.cutoff);
}

}  // namespace cambium
