#include "upkeep/log_gc/clusterer.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <new>
#include <utility>

#include "gc/clustering.h"
#include "index/merge_cursor.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// The jumps that a step tolerates: one to the values that earlier steps have put in order, and one back.
constexpr std::uint64_t kBreaksOfOthers = 2;
// The most keys that a step passes.
constexpr std::size_t kKeysOfStep = 1u << 20;

// True if the record lies directly, or nearly, after the previous one, so that one read brings both.
bool AreNeighbours(const GcRecord& before, const GcRecord& record) {
  constexpr std::uint64_t kGapMax = 4096;
  return before.source == record.source && record.offset >= before.offset &&
         record.offset - before.offset <= before.size + kGapMax;
}

// True if a scan of the records spends no more time on jumps than on reading.
bool AreInOrder(std::span<const GcRecord> records) {
  std::uint64_t breaks = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    breaks += i == 0 || AreNeighbours(records[i - 1], records[i]) ? 0 : 1;
    bytes += records[i].size;
  }
  return breaks <= kBreaksOfOthers + bytes / kBytesOfJump;
}

// Moves the cursor to where the walk goes on.
void SeekTo(const ClusterWalk& walk, const Comparator& comparator, MergeCursor* cursor) {
  if (!walk.position.has_value()) return cursor->SeekToFirst();
  cursor->Seek(*walk.position);
  const bool is_done = walk.is_position_done && cursor->Valid();
  if (is_done && comparator.Compare(cursor->key(), *walk.position) == 0) cursor->Next();
}

bool IsSmall(const Entry& entry) {
  return entry.HasAddress() && entry.address.kind() != EntryKind::kLargeValue && entry.address.size() <= kClusteredValueMax;
}

}  // namespace

Clusterer::Clusterer(DbState* state, GcSegments* segments, Relocator* relocator)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      space_(state->space),
      segments_(*segments),
      relocator_(*relocator) {}

std::map<Slot, SegmentInfo> Clusterer::PinMovable(GcPick* pick) {
  std::map<Slot, SegmentInfo> movable;
  const CommitLock lock(commits_);
  pick->view = commits_.view().Pin();
  pick->step_bytes = segments_.Policy().step_bytes;
  std::vector<Slot> slots;
  for (const SegmentUse& use : segments_.Uses()) {
    const SegmentInfo& info = commits_.seen_state().segments.at(use.number);
    if (!use.is_damaged && movable.emplace(info.slot, info).second) slots.push_back(info.slot);
  }
  pick->slots = commits_.HoldSlots(std::move(slots));
  return movable;
}

// Picks the records of the walk's next step, and their sources.
Result<ClusterFinds> Clusterer::Pick(const std::shared_ptr<Family>& family, const ClusterWalk& walk, GcPick* pick,
                                     Arena* keys, std::vector<GcRecord>* records) {
  assert(pick->sources.empty() && records->empty() && "the records refer to sources by their place");
  ClusterFinds finds;
  const std::map<Slot, SegmentInfo> movable = PinMovable(pick);
  pick->AddFamilies();
  const FamilyView* const its = pick->view->Find(family->id);
  if (its == nullptr) return finds;  // dropped
  const Comparator* const comparator = family->options().comparator;
  std::vector<MergeChild> children;
  its->layers->AppendCursors(&children);
  MergeCursor cursor(comparator, std::move(children));
  SeekTo(walk, *comparator, &cursor);
  std::map<Slot, std::uint32_t> sources;
  std::uint64_t bytes = 0;
  std::uint64_t jumps = 0;
  std::size_t marks = 0;  // number of the walk's marks that were passed
  for (std::size_t passed = 0; cursor.Valid() && passed < kKeysOfStep; cursor.Next(), ++passed) {
    if (walk.end.has_value() && comparator->Compare(cursor.key(), *walk.end) > 0) break;
    const Entry entry = cursor.entry();
    const auto segment = IsSmall(entry) ? movable.find(entry.address.slot()) : movable.end();
    if (segment != movable.end() && bytes > 0 && bytes + entry.address.size() > pick->step_bytes) break;
    for (; marks < walk.heat.size() && comparator->Compare(walk.heat[marks].key, cursor.key()) <= 0; ++marks) {
      if (marks > 0) finds.marks.push_back({records->size(), bytes, jumps});
      jumps += walk.heat[marks].jumps;
    }
    if (entry.HasAddress()) finds.bytes_passed += entry.address.size();
    if (segment != movable.end()) {
      bytes += entry.address.size();
      const auto [source, is_new] = sources.emplace(segment->first, static_cast<std::uint32_t>(sources.size()));
      if (is_new) pick->sources.push_back({pick->view->segments.Find(segment->first), segment->second});
      CAMBIUM_TRY(const Slice key, CopyKey(cursor.key(), keys));
      records->push_back({family->id, source->second, key, entry.address.offset(), entry.address.size()});
    }
    finds.has_more = true;
    finds.last_key = cursor.key().ToString();
  }
  CAMBIUM_RETURN_IF_ERROR(cursor.status());
  assert(sources.size() == pick->sources.size());
  if (marks > 0) finds.marks.push_back({records->size(), bytes, jumps});
  return finds;
}

Result<bool> Clusterer::MoveIntoOrder(GcPick* pick, std::span<const GcRecord> records) {
  if (AreInOrder(records)) return false;
  pick->reason = GcReason::kClustering;
  GcReport report = relocator_.Begin(*pick, /*empties=*/false);
  CAMBIUM_FAULT_POINT("Cluster:picked");
  const Status done = relocator_.Move(*pick, records, &report);
  relocator_.Report(*pick, report, done);
  CAMBIUM_RETURN_IF_ERROR(done);
  return true;
}

Result<ClusterFinds> Clusterer::RunStep(const std::shared_ptr<Family>& family, ClusterWalk* walk, bool has_room) {
  GcPick pick;
  Arena keys;
  std::vector<GcRecord> records;
  CAMBIUM_TRY(ClusterFinds finds, Pick(family, *walk, &pick, &keys, &records));
  finds.lacks_room = !has_room && !AreInOrder(records);
  if (finds.lacks_room) return finds;
  CAMBIUM_RETURN_IF_ERROR(MoveIntoOrder(&pick, records).status());
  walk->position = finds.last_key;
  walk->is_position_done = true;
  return finds;
}

Result<bool> Clusterer::RunRequested() {
  std::shared_ptr<Request> request;
  bool has_room = false;
  {
    const CommitLock lock(commits_);
    request = request_;
    has_room = HasRoom();
  }
  if (request == nullptr) return false;
  CAMBIUM_TRY(const ClusterFinds finds, RunStep(request->family, &request->walk, has_room));
  if (finds.lacks_room) return false;
  request->is_done = !finds.has_more;
  ++request->steps;
  return true;
}

bool Clusterer::HasRoom() const {
  if (db_.is_offline) return false;
  if (db_.max_space_amplification.load(std::memory_order_relaxed) == 0) return true;
  if (MutantIs(Mutant::kClusterWithoutRoom)) return true;
  return space_.figures.on_disk() + space_.plan.step_bytes <= space_.plan.spare_until;
}

void Clusterer::NoteJumps(const Family& family, Slice from, const Slice* to, std::uint64_t jumps) noexcept {
  if (db_.read_only || family.options().value_clustering != ValueClustering::kAuto) return;
  try {
    if (!family.scan_heat.Add(from, to, jumps, kJumpsOfLook)) return;
  } catch (const std::bad_alloc&) {  // these jumps are not counted; the scan goes on
    return;
  }
  static_cast<void>(jobs_.ScheduleIfPossible(Job::kCollect));
}

bool Clusterer::PassIsDue(const Family& family) const {
  const auto state = commits_.state().families.find(family.id);
  if (state == commits_.state().families.end()) return false;  // dropped
  PassFigures figures;
  figures.max_space_amplification = db_.max_space_amplification.load(std::memory_order_relaxed);
  figures.is_idle = space_.is_idle.load(std::memory_order_relaxed);
  for (const auto& [slot, account] : state->second.accounts) {
    figures.live_bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(account.bytes, 0));
  }
  const std::uint64_t written = space_.written.load(std::memory_order_relaxed);
  assert(written >= family.pass.paid_until && "no pass pays for writes to come");
  figures.written_bytes = written - family.pass.paid_until;
  figures.passed_bytes = family.pass.bytes_passed;
  return IsPassDue(figures);
}

std::shared_ptr<Family> Clusterer::FamilyDue() const {
  if (!HasRoom()) return nullptr;
  const ViewLook view(commits_.view());
  for (const FamilyView& each : view->families) {
    const ValueClustering how = each.family->options().value_clustering;
    if (how == ValueClustering::kFull && PassIsDue(*each.family)) return each.family;
    if (how == ValueClustering::kAuto && each.family->scan_heat.IsLookDue(kJumpsOfLook)) return each.family;
  }
  return nullptr;
}

Result<bool> Clusterer::RunOnItsOwn() {
  std::shared_ptr<Family> family;
  {
    const CommitLock lock(commits_);
    family = FamilyDue();
  }
  if (family == nullptr) {
    // If there is no room for a step, this keeps each further scan from scheduling the job again.
    const ViewLook view(commits_.view());
    for (const FamilyView& each : view->families) {
      if (each.family->scan_heat.IsLookDue(kJumpsOfLook)) each.family->scan_heat.ReportNoWork();
    }
    return false;
  }
  const bool is_full = family->options().value_clustering == ValueClustering::kFull;
  CAMBIUM_RETURN_IF_ERROR(is_full ? RunPassStep(family) : RunHotStep(family));
  jobs_.Schedule(Job::kCollect);  // there may be more to do
  return true;
}

// A pass pays at least for all bytes that were written before it began; see ClusterPass::paid_until.
Status Clusterer::RunPassStep(const std::shared_ptr<Family>& family) {
  ClusterPass& pass = family->pass;
  if (!std::exchange(pass.is_under_way, true)) {
    pass.walk = {};
    const CommitLock lock(commits_);
    pass.begun_at = space_.written.load(std::memory_order_relaxed);
    pass.bytes_passed = 0;
  }
  CAMBIUM_TRY(const ClusterFinds finds, RunStep(family, &pass.walk, true));
  const CommitLock lock(commits_);
  pass.bytes_passed += finds.bytes_passed;
  if (finds.has_more) return Status::OK();
  const std::uint64_t owed =
      WrittenPerPass(db_.max_space_amplification.load(std::memory_order_relaxed), pass.bytes_passed);
  const std::uint64_t now = space_.written.load(std::memory_order_relaxed);
  assert(pass.is_under_way && pass.begun_at <= now);
  pass.paid_until = std::clamp(pass.paid_until + owed, pass.begun_at, now);
  pass.is_under_way = false;
  pass.bytes_passed = 0;
  return Status::OK();
}

// Starts where scans have jumped most, and ends where the saved jumps exceed the cost by most.
Status Clusterer::RunHotStep(const std::shared_ptr<Family>& family) {
  ClusterWalk walk;
  walk.heat = family->scan_heat.FromHottest(db_.NowMicros());
  if (walk.heat.empty()) return Status::OK();
  walk.position = walk.heat.front().key;
  GcPick pick;
  Arena keys;
  std::vector<GcRecord> records;
  CAMBIUM_TRY(const ClusterFinds finds, Pick(family, walk, &pick, &keys, &records));
  const WalkMark* const end = MostWorthwhile(finds.marks);
  if (end == nullptr) {
    family->scan_heat.ReportNoWork();
    return Status::OK();
  }
  assert(end->records <= records.size());
  CAMBIUM_TRY(const bool has_moved, MoveIntoOrder(&pick, std::span(records).first(end->records)));
  const auto passed = static_cast<std::size_t>(end - finds.marks.data()) + 1;
  const Slice next = passed < walk.heat.size() ? Slice(walk.heat[passed].key) : Slice();
  family->scan_heat.Forget(*walk.position, passed < walk.heat.size() ? &next : nullptr);
  if (has_moved) {
    family->scan_heat.ReportWork();
  } else {
    family->scan_heat.ReportNoWork();
  }
  return Status::OK();
}

Status Clusterer::ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit) {
  const std::shared_ptr<const View> view = commits_.view().Pin();
  for (const FamilyView& each : view->families) {
    ClusterWalk walk;
    for (bool has_more = true; has_more;) {
      GcPick pick;
      Arena keys;
      std::vector<GcRecord> records;
      CAMBIUM_TRY(const ClusterFinds finds, Pick(each.family, walk, &pick, &keys, &records));
      const bool is_moved = !AreInOrder(records);
      if (is_moved && !dry) {
        const Status moved = MoveIntoOrder(&pick, records).status();
        if (moved.severity() == Status::Severity::kFatal) jobs_.SetFatal(moved, BackgroundErrorReason::kLogGc);
        CAMBIUM_RETURN_IF_ERROR(moved);
      }
      if (is_moved && !visit(records)) return Status::Incomplete("stopped by the caller");
      walk.position = finds.last_key;
      walk.is_position_done = true;
      has_more = finds.has_more;
    }
  }
  return Status::OK();
}

}  // namespace cambium
