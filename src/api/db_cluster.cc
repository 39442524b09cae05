// Clustering: the values of a range of keys are written anew in the order of their keys, so that a scan finds them side by
// side. A step is one of log GC whose records are chosen by key instead of by segment:
//
//   commit_mutex_: pin the view ─▶ walk its layers from the cursor on, as far as a step goes ─▶ copied and committed as
//   log GC does it ─▶ cursor
//
// What lies side by side already is passed over. Values that recovery may still read, and large ones, stay where they
// are. The old copies are garbage for the accounts as merges carry the new addresses down.
//
// A CompactRange asks for a range; without being asked, ValueClustering::kAuto goes where scans have jumped, and kFull
// over all keys, one pass after the other. gc/clustering.h has the rules. Steps are log GC's job, in turn with its own.
#include <algorithm>

#include "api/db_impl.h"
#include "gc/clustering.h"
#include "index/merge_cursor.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Where what was put in order before, by other steps, ends and begins.
constexpr std::uint64_t kBreaksOfOthers = 2;
// A step passes no more, whatever there is to be moved.
constexpr std::size_t kKeysOfStep = 1u << 20;
// A record of the step at hand lies right behind the one before it, or nearly: one read brings both.
bool AreNeighbours(const GcRecord& before, const GcRecord& record) {
  constexpr std::uint64_t kGapMax = 4096;
  return before.source == record.source && record.offset >= before.offset &&
         record.offset - before.offset <= before.size + kGapMax;
}

// Jumps among them take a scan no longer than reading them does.
bool AreInOrder(std::span<const GcRecord> records) {
  std::uint64_t breaks = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    breaks += i == 0 || AreNeighbours(records[i - 1], records[i]) ? 0 : 1;
    bytes += records[i].size;
  }
  return breaks <= kBreaksOfOthers + bytes / kBytesOfJump;
}

}  // namespace

// The next records of the walk, as far as a step goes, and what they come from.
Result<ClusterFinds> DbImpl::PickClusterStep(const std::shared_ptr<Family>& family, const ClusterWalk& walk,
                                             GcStep* step, Arena* keys, std::vector<GcRecord>* records) {
  ClusterFinds finds;
  std::map<Slot, SegmentInfo> movable;
  {
    const std::lock_guard lock(commit_mutex_);
    step->view = view_.Pin();
    step->step_bytes = GcPolicy().step_bytes;
    std::vector<Slot> slots;
    for (const SegmentUse& use : SegmentUses()) {
      const SegmentInfo& info = SeenState().segments.at(use.number);
      if (!use.is_damaged && movable.emplace(info.slot, info).second) slots.push_back(info.slot);
    }
    step->slots = HoldSlots(std::move(slots));
  }
  AddGcFamilies(step);
  const FamilyView* const its = step->view->Find(family->id);
  if (its == nullptr) return finds;  // dropped
  const Comparator* const comparator = family->options().comparator;
  std::vector<MergeChild> children;
  its->layers->AppendCursors(&children);
  MergeCursor cursor(comparator, std::move(children));
  if (walk.position.has_value()) {
    cursor.Seek(*walk.position);
    const bool is_done = walk.is_position_done && cursor.Valid();
    if (is_done && comparator->Compare(cursor.key(), *walk.position) == 0) cursor.Next();
  } else {
    cursor.SeekToFirst();
  }
  std::map<Slot, std::uint32_t> sources;
  std::uint64_t bytes = 0;
  std::uint64_t jumps = 0;
  std::size_t marks = 0;  // of the walk's, passed
  for (std::size_t passed = 0; cursor.Valid() && passed < kKeysOfStep; cursor.Next(), ++passed) {
    if (walk.end.has_value() && comparator->Compare(cursor.key(), *walk.end) > 0) break;
    const Entry entry = cursor.entry();
    const bool is_small =
        entry.HasAddress() && entry.address.kind() != EntryKind::kLargeValue && entry.address.size() <= kClusteredValueMax;
    const auto segment = is_small ? movable.find(entry.address.slot()) : movable.end();
    if (segment != movable.end() && bytes > 0 && bytes + entry.address.size() > step->step_bytes) break;
    for (; marks < walk.heat.size() && comparator->Compare(walk.heat[marks].key, cursor.key()) <= 0; ++marks) {
      if (marks > 0) finds.marks.push_back({records->size(), bytes, jumps});
      jumps += walk.heat[marks].jumps;
    }
    if (entry.HasAddress()) finds.bytes_passed += entry.address.size();
    if (segment != movable.end()) {
      bytes += entry.address.size();
      const auto [source, is_new] = sources.emplace(segment->first, static_cast<std::uint32_t>(sources.size()));
      if (is_new) step->sources.push_back({step->view->segments.Find(segment->first), segment->second});
      CAMBIUM_TRY(const Slice key, CopyKey(cursor.key(), keys));
      records->push_back({family->id, source->second, key, entry.address.offset(), entry.address.size()});
    }
    finds.has_more = true;
    finds.last_key = cursor.key().ToString();
  }
  CAMBIUM_RETURN_IF_ERROR(cursor.status());
  if (marks > 0) finds.marks.push_back({records->size(), bytes, jumps});
  return finds;
}

// False: there was nothing to move.
Result<bool> DbImpl::MoveIntoOrder(GcStep* step, std::span<const GcRecord> records) {
  if (AreInOrder(records)) return false;
  step->begun_micros = options_.clock->NowMicros();
  step->job_id = events_.NewJobId();
  step->is_emptied.assign(step->sources.size(), false);
  step->reason = GcReason::kClustering;
  CAMBIUM_FAULT_POINT("Cluster:picked");
  const Status done = MoveRecords(step, records);
  if (events_.is_on()) TellOfGcStep(*step, done);
  CAMBIUM_RETURN_IF_ERROR(done);
  return true;
}

Result<ClusterFinds> DbImpl::RunClusterStep(const std::shared_ptr<Family>& family, ClusterWalk* walk, bool has_room) {
  GcStep step;
  Arena keys;
  std::vector<GcRecord> records;
  CAMBIUM_TRY(ClusterFinds finds, PickClusterStep(family, *walk, &step, &keys, &records));
  finds.lacks_room = !has_room && !AreInOrder(records);
  if (finds.lacks_room) return finds;
  CAMBIUM_RETURN_IF_ERROR(MoveIntoOrder(&step, records).status());
  walk->position = finds.last_key;
  walk->is_position_done = true;
  return finds;
}

// Near the ceiling what a step writes would be missing to everybody else: log GC and merges have their turn first.
bool DbImpl::HasRoomToCluster() const {
  if (is_offline_) return false;
  if (max_space_amplification_.load(std::memory_order_relaxed) == 0) return true;
  if (MutantIs(Mutant::kClusterWithoutRoom)) return true;
  return space_.figures.on_disk() + space_.plan.step_bytes <= space_.plan.spare_until;
}

// ---- What nobody has asked for ----

void DbImpl::NoteJumps(const Family& family, Slice from, const Slice* to, std::uint64_t jumps) noexcept {
  if (read_only_ || family.options().value_clustering != ValueClustering::kAuto) return;
  try {
    if (!family.scan_heat.Add(from, to, jumps, kJumpsOfLook)) return;
  } catch (const std::bad_alloc&) {  // then nobody knows of these; the scan goes on
    return;
  }
  static_cast<void>(ScheduleIfPossible(Job::kCollect));
}

bool DbImpl::PassIsDue(const Family& family) const {
  const auto state = manifest_->state().families.find(family.id);
  if (state == manifest_->state().families.end()) return false;  // dropped
  PassFigures figures;
  figures.max_space_amplification = max_space_amplification_.load(std::memory_order_relaxed);
  figures.is_idle = space_.is_idle.load(std::memory_order_relaxed);
  for (const auto& [slot, account] : state->second.accounts) {
    figures.live_bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(account.bytes, 0));
  }
  figures.written_bytes = space_.written.load(std::memory_order_relaxed) - family.pass.paid_until;
  figures.passed_bytes = family.pass.bytes_passed;
  return IsPassDue(figures);
}

std::shared_ptr<Family> DbImpl::FamilyToCluster() const {
  if (!HasRoomToCluster()) return nullptr;
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    const ValueClustering how = each.family->options().value_clustering;
    if (how == ValueClustering::kFull && PassIsDue(*each.family)) return each.family;
    if (how == ValueClustering::kAuto && each.family->scan_heat.IsLookDue(kJumpsOfLook)) return each.family;
  }
  return nullptr;
}

Result<bool> DbImpl::ClusterUnasked() {
  std::shared_ptr<Family> family;
  {
    const std::lock_guard lock(commit_mutex_);
    family = FamilyToCluster();
  }
  if (family == nullptr) {
    // Where there is no room, readers are not to ask each time.
    const std::shared_ptr<const View> view = view_.Pin();
    for (const FamilyView& each : view->families) {
      if (each.family->scan_heat.IsLookDue(kJumpsOfLook)) each.family->scan_heat.Disappoint();
    }
    return false;
  }
  const bool is_full = family->options().value_clustering == ValueClustering::kFull;
  CAMBIUM_RETURN_IF_ERROR(is_full ? RunPassStep(family) : RunHotStep(family));
  Schedule(Job::kCollect);  // as long as there is something to do
  return true;
}

// A pass pays for what was written before it began, at least.
Status DbImpl::RunPassStep(const std::shared_ptr<Family>& family) {
  ClusterPass& pass = family->pass;
  if (!std::exchange(pass.is_under_way, true)) {
    pass.walk = {};
    const std::lock_guard lock(commit_mutex_);
    pass.begun_at = space_.written.load(std::memory_order_relaxed);
    pass.bytes_passed = 0;
  }
  CAMBIUM_TRY(const ClusterFinds finds, RunClusterStep(family, &pass.walk, true));
  const std::lock_guard lock(commit_mutex_);
  pass.bytes_passed += finds.bytes_passed;
  if (finds.has_more) return Status::OK();
  const std::uint64_t owed =
      WrittenPerPass(max_space_amplification_.load(std::memory_order_relaxed), pass.bytes_passed);
  const std::uint64_t now = space_.written.load(std::memory_order_relaxed);
  pass.paid_until = std::clamp(pass.paid_until + owed, pass.begun_at, now);
  pass.is_under_way = false;
  pass.bytes_passed = 0;
  return Status::OK();
}

// From where scans have jumped most, as far as it is worth it.
Status DbImpl::RunHotStep(const std::shared_ptr<Family>& family) {
  ClusterWalk walk;
  walk.heat = family->scan_heat.FromHottest(options_.clock->NowMicros());
  if (walk.heat.empty()) return Status::OK();
  walk.position = walk.heat.front().key;
  GcStep step;
  Arena keys;
  std::vector<GcRecord> records;
  CAMBIUM_TRY(const ClusterFinds finds, PickClusterStep(family, walk, &step, &keys, &records));
  const WalkMark* const end = MostWorthwhile(finds.marks);
  if (end == nullptr) {
    family->scan_heat.Disappoint();
    return Status::OK();
  }
  CAMBIUM_TRY(const bool has_moved, MoveIntoOrder(&step, std::span(records).first(end->records)));
  const auto passed = static_cast<std::size_t>(end - finds.marks.data()) + 1;
  const Slice behind = passed < walk.heat.size() ? Slice(walk.heat[passed].key) : Slice();
  family->scan_heat.Forget(*walk.position, passed < walk.heat.size() ? &behind : nullptr);
  if (has_moved) {
    family->scan_heat.Encourage();
  } else {
    family->scan_heat.Disappoint();
  }
  return Status::OK();
}

// ---- CompactRange ----

// Steps run in the background, where log GC has its own, so that there is one at a time.
Status DbImpl::ClusterRange(ColumnFamilyHandle* handle, const Slice* begin, const Slice* end) {
  CAMBIUM_TRY(Family* const its, FamilyOf(handle));
  const auto request = std::make_shared<ClusterRequest>();
  request->family = FindFamily(its->id);
  if (request->family == nullptr) return Status::OK();  // dropped since
  if (begin != nullptr) request->walk.position = begin->ToString();
  if (end != nullptr) request->walk.end = end->ToString();
  std::uint64_t steps_seen = 0;
  bool has_waited = false;  // for everything that could make room
  while (true) {
    std::uint64_t seen = 0;
    {
      const std::lock_guard commit_lock(commit_mutex_);
      cluster_request_ = request;
      const std::lock_guard lock(background_mutex_);
      ScheduleLocked(Job::kCollect, nullptr);
      if (!StateOf(Job::kCollect, nullptr)->scheduled) break;  // closing, or broken
      seen = StateOf(Job::kCollect, nullptr)->ended;
    }
    Status s = WaitUntil([&] { return StateOf(Job::kCollect, nullptr)->ended != seen; });
    {
      const std::lock_guard commit_lock(commit_mutex_);
      if (cluster_request_ == request) cluster_request_ = nullptr;
      const std::lock_guard lock(background_mutex_);
      if (s.ok()) s = StateOf(Job::kCollect, nullptr)->last;
      if (!s.ok()) return s;
      if (request->is_done) return Health();
      if (request->steps != steps_seen) {
        steps_seen = request->steps;
        has_waited = false;
        continue;
      }
    }
    if (has_waited) {
      return Status::Incomplete("max_space_amplification leaves no room to write values in the order of their keys");
    }
    // All that is hidden is made garbage, and all garbage is collected.
    SpacePlan plan;
    plan.merge = plan.collect = true;
    StartSpaceJobs(plan);
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([this] { return !HasSpaceJob(); }));
    const std::lock_guard lock(commit_mutex_);
    has_waited = !HasRoomToCluster();
  }
  const Status health = Health();
  return health.ok() ? Status::ShutdownInProgress("the database is closing") : health;
}

// ---- CompactLog ----

Status DbImpl::ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit) {
  const Delivery delivery(&events_);
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    ClusterWalk walk;
    for (bool has_more = true; has_more;) {
      GcStep step;
      Arena keys;
      std::vector<GcRecord> records;
      CAMBIUM_TRY(const ClusterFinds finds, PickClusterStep(each.family, walk, &step, &keys, &records));
      const bool is_moved = !AreInOrder(records);
      if (is_moved && !dry) {
        const Status moved = MoveIntoOrder(&step, records).status();
        if (moved.severity() == Status::Severity::kFatal) SetFatal(moved, BackgroundErrorReason::kLogGc);
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
