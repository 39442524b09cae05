// Log GC: values that are alive leave segments that are mostly garbage, and the segments go.
//
//   commit_mutex_: pin the view, choose victims among its segments ─▶ look up, read, check, copy
//        ─▶ a run per family that says where the values are now ─▶ commit_mutex_: still the newest? commit
//
// The run lies on top of all durable layers and below all memory tables: whatever was written since hides it by position,
// deletes too. Between the look-up and the commit a flush may have brought a newer entry of a key, which would then lie
// below that run; so every key is looked up again in the layers of the commit, and what is no longer the newest is left
// out. A step that is not committed leaves files without a name.
#include <algorithm>
#include <map>
#include <optional>

#include "api/db_impl.h"
#include "gc/live_records.h"
#include "gc/relocation.h"
#include "gc/segment_uses.h"
#include "gc/victims.h"
#include "index/filter.h"
#include "manifest/file_names.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// What a run is written from: moved values of a family, in order.
class MovedCursor final : public EntryCursor {
 public:
  explicit MovedCursor(const std::vector<MovedValue>& values) : values_(values) {}
  void SeekToFirst() override { at_ = 0; }
  void SeekToLast() override { at_ = values_.empty() ? 0 : values_.size() - 1; }
  void Seek(Slice) override { at_ = values_.size(); }  // nobody looks for a key in it
  void SeekForPrev(Slice) override { at_ = values_.size(); }
  void Next() override { ++at_; }
  void Prev() override { at_ = at_ == 0 ? values_.size() : at_ - 1; }
  [[nodiscard]] bool Valid() const override { return at_ < values_.size(); }
  [[nodiscard]] Slice key() const override { return values_[at_].key; }
  [[nodiscard]] Entry entry() const override { return values_[at_].to; }
  [[nodiscard]] Status status() const override { return Status::OK(); }

 private:
  const std::vector<MovedValue>& values_;
  std::size_t at_ = 0;
};

// Leaves the values that `layers` still have where they were taken from.
Status KeepNewest(const Layers& layers, std::vector<MovedValue>* values) {
  constexpr std::size_t kTogether = 256;
  std::size_t kept = 0;
  for (std::size_t from = 0; from < values->size(); from += kTogether) {
    const std::size_t to = std::min(values->size(), from + kTogether);
    std::vector<Lookup> lookups;
    lookups.reserve(to - from);
    for (std::size_t i = from; i < to; ++i) lookups.emplace_back((*values)[i].key, FilterHash((*values)[i].key));
    layers.FindTogether(lookups);
    for (std::size_t i = from; i < to; ++i) {
      const Lookup& lookup = lookups[i - from];
      CAMBIUM_RETURN_IF_ERROR(lookup.status);
      if (lookup.is_found && lookup.entry.HasAddress() && lookup.entry.address == (*values)[i].from) {
        (*values)[kept++] = (*values)[i];
      }
    }
  }
  values->resize(kept);
  return Status::OK();
}

LogGcReason ReasonOf(GcReason reason) {
  switch (reason) {
    case GcReason::kForceThreshold: return LogGcReason::kForced;
    case GcReason::kSmallSegments: return LogGcReason::kSmallSegments;
    case GcReason::kCeiling:
    case GcReason::kFullDisk: return LogGcReason::kSpace;
    case GcReason::kRequested: return LogGcReason::kManualCompaction;
    case GcReason::kClustering: return LogGcReason::kClustering;
    default: return LogGcReason::kGarbage;
  }
}

}  // namespace

// F of gc/victims.h. commit_mutex_ held.
std::vector<SegmentUse> DbImpl::SegmentUses() const {
  const std::uint64_t least = cannot_punch_.load(std::memory_order_relaxed)
                                  ? 0
                                  : min_punch_size_.load(std::memory_order_relaxed);
  const auto punched = [this](std::uint64_t number) -> std::optional<PunchedUse> {
    if (!punched_.Knows(number)) return std::nullopt;  // how much it takes is found out just now
    const PunchedBytes bytes = punched_.Of(number);
    return PunchedUse{bytes.holes, bytes.kept, bytes.garbage_at_look};
  };
  std::vector<SegmentUse> uses;
  VisitSegmentUses(SeenState(), least, punched, [&](const SegmentInfo&, GcStanding standing, SegmentUse use) {
    if (standing != GcStanding::kMember) return;
    use.is_damaged = damaged_segments_.contains(use.number);
    uses.push_back(use);
  });
  return uses;
}

// The default family's options are those of log GC, as the log is everybody's.
VictimPolicy DbImpl::GcPolicy() const {
  const ColumnFamilyOptions& options = default_handle_->family()->options();
  VictimPolicy policy;
  policy.age_cutoff = options.blob_garbage_collection_age_cutoff;
  policy.force_threshold = options.blob_garbage_collection_force_threshold;
  policy.target_bytes = blob_file_size_;
  policy.step_bytes = PolicyOfSpace().step_bytes_max;
  if (const std::uint64_t bytes = space_.segment_bytes.load(std::memory_order_relaxed); bytes != 0) {
    policy.target_bytes = bytes;
    policy.step_bytes = space_.step_bytes.load(std::memory_order_relaxed);
  }
  // A log that is all of segments with less garbage than this has to fit below the ceiling.
  const double ceiling = max_space_amplification_.load(std::memory_order_relaxed);
  if (ceiling != 0) policy.space_garbage_least = std::min(policy.space_garbage_least, (ceiling - 1) / 4);
  if (IsDiskFull()) static_cast<void>(fs_->FreeSpace(path_, &policy.free_bytes));
  return policy;
}

// With a ceiling, moving values waits until space is needed or nobody writes: later, less of a victim is alive.
GcUrgency DbImpl::UrgencyOfGc() const {
  if (IsDiskFull()) return GcUrgency::kFull;
  if (space_.is_short.load(std::memory_order_relaxed)) return GcUrgency::kSpace;
  const bool has_ceiling = max_space_amplification_.load(std::memory_order_relaxed) != 0;
  return has_ceiling && !space_.is_idle.load(std::memory_order_relaxed) ? GcUrgency::kForced : GcUrgency::kIdle;
}

VictimChoice DbImpl::ChooseVictims(const VictimPolicy& policy) {
  const std::vector<SegmentUse> uses = SegmentUses();
  if (!requested_segments_.empty()) {
    VictimChoice requested = PickRequested(uses, requested_segments_, policy);
    if (!requested.numbers.empty()) return requested;
  }
  const GcUrgency urgency = UrgencyOfGc();
  if (!MayCollect(urgency)) return {};
  return PickGcVictims(uses, policy, published_.load(), urgency);
}

bool DbImpl::MayCollect(GcUrgency urgency) const {
  if (is_offline_) return false;
  if (!default_handle_->family()->options().enable_blob_garbage_collection) return false;
  return gc_holds_.load(std::memory_order_relaxed) == 0 || urgency == GcUrgency::kSpace ||
         urgency == GcUrgency::kFull;
}

bool DbImpl::GcIsDue() {
  const std::lock_guard lock(commit_mutex_);
  if (MayCollect(UrgencyOfGc()) && std::ranges::any_of(SegmentUses(), &SegmentUse::is_worth_punching)) return true;
  return FamilyToCluster() != nullptr || !ChooseVictims(GcPolicy()).numbers.empty();
}

// Victims, layers and replay position are those of one moment: of a segment that is absorbed only afterwards, the layers
// know nothing.
std::shared_ptr<const void> DbImpl::HoldSlots(std::vector<Slot> slots) {
  held_slots_.insert(slots.begin(), slots.end());
  return {static_cast<const void*>(this), [this, its = std::move(slots)](const void*) {
            const std::lock_guard lock(commit_mutex_);
            for (const Slot slot : its) held_slots_.erase(held_slots_.find(slot));
          }};
}

bool DbImpl::PickGcStep(GcStep* step) {
  std::shared_ptr<const View> early;
  if (MutantIs(Mutant::kGcChoosesLate)) {
    early = view_.Pin();
    CAMBIUM_FAULT_POINT("Gc:choose late");
  }
  const std::lock_guard lock(commit_mutex_);
  const VictimPolicy policy = GcPolicy();
  const VictimChoice choice = ChooseVictims(policy);
  if (choice.numbers.empty()) return false;
  step->view = view_.Pin();
  step->reason = choice.reason;
  step->step_bytes = policy.step_bytes;
  std::vector<Slot> slots;
  for (const std::uint64_t number : choice.numbers) {
    const SegmentInfo& info = manifest_->state().segments.at(number);
    step->sources.push_back({step->view->segments.Find(info.slot), info});
    slots.push_back(info.slot);
  }
  step->slots = HoldSlots(std::move(slots));
  if (early != nullptr) step->view = std::move(early);
  AddGcFamilies(step);
  return true;
}

void DbImpl::AddGcFamilies(GcStep* step) {
  for (const FamilyView& each : step->view->families) {
    const OptionsInForce& options = each.family->in_force();
    step->families.push_back({each.family->id, options.options.comparator, each.family->equal_by, each.layers,
                              options.separate_from, options.codec});
  }
}

Status DbImpl::CollectGarbage() {
  if (GcStep punch; PickPunchStep(&punch)) {
    const Status done = RunPunchStep(&punch);
    if (events_.is_on()) TellOfGcStep(punch, done);
    return done;
  }
  std::shared_ptr<ClusterRequest> request;
  bool has_room = false;
  {
    const std::lock_guard lock(commit_mutex_);
    request = cluster_request_;
    has_room = HasRoomToCluster();
  }
  if (request != nullptr) {
    CAMBIUM_TRY(const ClusterFinds finds, RunClusterStep(request->family, &request->walk, has_room));
    if (!finds.lacks_room) {
      request->is_done = !finds.has_more;
      ++request->steps;
      return Status::OK();
    }
  }
  if (std::exchange(is_turn_to_cluster_, !is_turn_to_cluster_)) {
    CAMBIUM_TRY(const bool has_clustered, ClusterUnasked());
    if (has_clustered) return Status::OK();
  }
  GcStep step;
  step.begun_micros = options_.clock->NowMicros();
  if (!PickGcStep(&step)) return ClusterUnasked().status();
  step.job_id = events_.NewJobId();
  const Stopwatch watch(&meter_, LOG_GC_TIME);
  const Status done = RunGcStep(&step);
  if (events_.is_on()) TellOfGcStep(step, done);
  return done;
}

void DbImpl::TellOfGcStep(const GcStep& step, const Status& done) {
  LogGcJobInfo info;
  info.db_name = events_.db_name();
  info.job_id = step.job_id;
  info.reason = cambium::ReasonOf(step.reason);
  info.status = done;
  info.elapsed_micros = options_.clock->NowMicros() - step.begun_micros;
  info.bytes_read = step.bytes_read;
  info.bytes_written = step.bytes_written;
  if (done.ok()) {
    for (const GcMoves& moves : step.moves) info.keys_relocated += moves.values.size();
  }
  if (done.ok()) info.bytes_freed = step.bytes_freed;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    const std::string& path = step.sources[i].segment->path();
    info.input_files.push_back(path);
    if (done.ok() && step.is_emptied[i]) info.emptied_files.push_back(path);
    if (done.ok() && step.punched.contains(i)) info.punched_files.push_back(path);
  }
  events_.Add([this, info = std::move(info)](EventListener* listener) { listener->OnLogGcCompleted(this, info); });
}

// What was eligible when the merges had ended, until none of it is left. Steps run in the background, one at a time.
Status DbImpl::CollectFor(const CompactRangeOptions& options, bool all_keys) {
  using Policy = BlobGarbageCollectionPolicy;
  const bool all = options.blob_garbage_collection_policy == Policy::kForce;
  const bool is_enabled = default_handle_->family()->options().enable_blob_garbage_collection;
  if (!all && (options.blob_garbage_collection_policy == Policy::kDisable || !is_enabled || !all_keys)) return Status::OK();
  return CollectRound(all, options.blob_garbage_collection_age_cutoff);
}

Status DbImpl::CollectRound(bool all, double cutoff) {
  VictimPolicy policy;
  std::set<std::uint64_t> left;
  {
    const std::lock_guard lock(commit_mutex_);
    policy = GcPolicy();
    if (cutoff >= 0 && cutoff <= 1) policy.age_cutoff = cutoff;
    left = WorthRequesting(SegmentUses(), policy, all);
  }
  while (!left.empty()) {
    std::uint64_t seen = 0;
    {
      const std::lock_guard commit_lock(commit_mutex_);
      // Others have gone, were punched, or are damaged; what has become old enough since is not meant.
      // The cutoff has chosen already: fewer segments are fewer that are old enough.
      VictimPolicy any_age = policy;
      any_age.age_cutoff = 1;
      const std::set<std::uint64_t> worth = WorthRequesting(SegmentUses(), any_age, all);
      std::erase_if(left, [&](std::uint64_t number) { return !worth.contains(number); });
      if (left.empty()) break;
      requested_segments_.insert(left.begin(), left.end());
      const std::lock_guard lock(background_mutex_);
      ScheduleLocked(Job::kCollect, nullptr);
      if (!StateOf(Job::kCollect, nullptr)->scheduled) break;  // closing, or broken
      seen = StateOf(Job::kCollect, nullptr)->ended;
    }
    Status s = WaitUntil([&] { return StateOf(Job::kCollect, nullptr)->ended != seen; });
    const std::lock_guard commit_lock(commit_mutex_);
    for (const std::uint64_t number : left) requested_segments_.erase(number);
    const std::lock_guard lock(background_mutex_);
    if (s.ok()) s = StateOf(Job::kCollect, nullptr)->last;
    if (!s.ok()) return s;
  }
  const Status health = Health();
  if (!health.ok()) return health;
  return closing_.load() ? Status::ShutdownInProgress("the database is closing") : Status::OK();
}

// A record that does not validate is no reason to stop: its segment stays, is reported once, and is left alone until the
// database is opened again.
void DbImpl::MarkDamaged(const GcSource& source, const Status& why) {
  const std::lock_guard lock(commit_mutex_);
  if (!MutantIs(Mutant::kForgetDamage) && !damaged_segments_.emplace(source.info.number, std::string(why.message())).second) return;
  logger_->Log(InfoLogLevel::kError, "log GC leaves a damaged segment alone: " + why.ToString());
  TellOfError(BackgroundErrorReason::kLogGc, why);
}

Result<NewRelocationFile> DbImpl::MakeValueFile(FileKind kind) {
  NewRelocationFile made;
  {
    const std::lock_guard lock(commit_mutex_);
    CAMBIUM_TRY(made.slot, FreeSlot());
    made.header = HeaderFor(kind, next_file_number_++);
    reserved_slots_.insert(made.slot);
  }
  if (!MutantIs(Mutant::kSegmentsAsOldAsValues)) made.made_at = published_.load(std::memory_order_acquire);
  const Status opened =
      fs_->Open(FilePath(path_, kind, made.header.number), OpenMode::kCreateNew, {}, &made.file);
  if (opened.ok()) return made;
  const std::lock_guard lock(commit_mutex_);
  reserved_slots_.erase(made.slot);
  return opened;
}

Status DbImpl::RunGcStep(GcStep* step) {
  Arena keys;
  std::vector<GcRecord> records;
  step->is_emptied.assign(step->sources.size(), true);
  for (std::size_t i = 0; i < step->sources.size(); ++i) {
    const SegmentInfo& info = step->sources[i].info;
    const Status listed = ListRecords(step->sources[i], static_cast<std::uint32_t>(i), &keys, &records);
    stats_.gc_bytes_read.fetch_add(info.has_footer ? info.file_size - info.sealed_length : info.sealed_length);
    if (!listed.IsCorruption()) {
      CAMBIUM_RETURN_IF_ERROR(listed);
      continue;
    }
    MarkDamaged(step->sources[i], listed);
    step->is_emptied[i] = false;
    std::erase_if(records, [i](const GcRecord& record) { return record.source == i; });
  }
  CAMBIUM_RETURN_IF_ERROR(KeepLive(step->families, step->sources, &records));
  if (MutantIs(Mutant::kGcLooksIntoMemory)) {
    std::erase_if(records, [&](const GcRecord& record) {
      Entry newer;
      return View::FindInMemory(*step->view->Find(record.family), record.key, kMaxSequenceNumber, &newer);
    });
  }
  // What is too much for one step stays for the next, which finds less alive.
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  while (count < records.size() && (count == 0 || bytes + records[count].size <= step->step_bytes)) {
    bytes += records[count++].size;
  }
  for (std::size_t i = count; i < records.size(); ++i) step->is_emptied[records[i].source] = false;
  records.resize(count);
  return MoveRecords(step, records);
}

// One segment takes them, and it is named, or it goes.
Status DbImpl::MoveRecords(GcStep* step, std::span<const GcRecord> records) {
  const std::uint32_t generation = std::min(kGenerationMax, step->sources.front().info.generation + 1);
  RelocationWriter writer(
      [this, step]() -> Result<NewRelocationFile> {
        CAMBIUM_TRY(NewRelocationFile made, MakeValueFile(FileKind::kRelocation));
        step->creation.emplace(BeginBlobFile(made.header, BlobFileCreationReason::kLogGc));
        events_.Deliver();
        return made;
      },
      generation, PermitFor(FILE_BYTES_GC, [this] { return PriorityOfGc(); }));
  bool is_named = false;
  Status done = MoveValues(step, records, &writer, &is_named);
  if (writer.empty()) return done;
  step->creation->Done(done, done.ok() ? writer.info().file_size : 0);
  if (is_named) step->file_bytes = writer.info().file_size;
  if (!is_named) static_cast<void>(Unlink(FileKind::kRelocation, writer.info().number));
  const std::lock_guard lock(commit_mutex_);
  reserved_slots_.erase(writer.info().slot);
  return done;
}

Status DbImpl::MoveValues(GcStep* step, std::span<const GcRecord> records, RelocationWriter* writer, bool* is_named) {
  CAMBIUM_TRY(Relocation moved, Relocate(step->families, step->sources, records, &read_queues_, &copy_buffers_, writer));
  for (const DamagedSource& damaged : moved.damaged) {
    MarkDamaged(step->sources[damaged.source], damaged.why);
    step->is_emptied[damaged.source] = false;
  }
  if (!writer->empty()) {
    CAMBIUM_RETURN_IF_ERROR(writer->Finish());
    if (!MutantIs(Mutant::kGcCommitsUnsynced)) CAMBIUM_RETURN_IF_ERROR(Judge(SyncValues(writer->file())));
  }
  for (FamilyMoves& each : moved.families) {
    const FamilyView* const found = step->view->Find(each.family);
    step->moves.push_back({found->family, std::move(each.values), found->layers, {}, {}});
  }
  CAMBIUM_FAULT_POINT("Gc:copied");
  while (true) {
    for (GcMoves& moves : step->moves) CAMBIUM_RETURN_IF_ERROR(WriteGcRuns(&moves, step->job_id));
    CAMBIUM_RETURN_IF_ERROR(SyncDirectory());
    CAMBIUM_TRY(const bool is_committed, CommitGcStep(step, writer, is_named));
    if (is_committed) break;
  }
  stats_.gc_bytes_read.fetch_add(moved.bytes_read);
  stats_.gc_bytes_written.fetch_add(moved.bytes_written);
  step->bytes_read = moved.bytes_read;
  step->bytes_written = moved.bytes_written;
  for (std::size_t i = 0; i < step->sources.size(); ++i) {
    if (!step->is_emptied[i]) continue;
    const GcSource& source = step->sources[i];
    const std::uint64_t bytes = BytesOf(source.info);
    step->bytes_freed += bytes;
    punched_.Forget(source.info.number);
    source.segment->MakeObsolete();
    if (MutantIs(Mutant::kUnlinkWhilePinned)) obsolete_.Add(source.segment->path());
  }
  CountGcStep(*step);
  for (const GcMoves& moves : step->moves) {
    if (CompactionIsDue(*moves.family)) Schedule(Job::kCompact, moves.family);
  }
  return DropUnreferenced();
}

void DbImpl::CountGcStep(const GcStep& step) const {
  for (const GcMoves& moves : step.moves) meter_.Tick(BLOB_DB_GC_NUM_KEYS_RELOCATED, moves.values.size());
  meter_.Tick(LOG_GC_BYTES_FREED, step.bytes_freed);
  meter_.Tick(BLOB_DB_GC_BYTES_RELOCATED, step.bytes_written);
  meter_.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, step.bytes_written);
  meter_.Tick(BLOB_DB_BLOB_FILE_BYTES_READ, step.bytes_read);
}

// Unless they are written already.
Status DbImpl::WriteGcRuns(GcMoves* moves, int job_id) {
  if (!moves->runs.empty() || moves->values.empty()) return Status::OK();
  MovedCursor cursor(moves->values);
  moves->accounts = {};
  while (cursor.Valid()) {
    CAMBIUM_TRY(std::shared_ptr<const Run> run,
                WriteOneRun(*moves->family, &cursor, nullptr, &moves->accounts, job_id, RunKind::kRelocation));
    moves->family->index_stats.AddRun(run->info());
    moves->runs.push_back(std::move(run));
  }
  return Status::OK();
}

// How much more of a family's log is hidden once the step is committed: where values were moved from, as long as the
// segment stays; less what was hidden in segments that go, which is all that the accounts still count in them.
std::int64_t DbImpl::HiddenAfter(const GcStep& step, const GcMoves& moves) const {
  std::int64_t bytes = 0;
  for (const MovedValue& value : moves.values) bytes += static_cast<std::int64_t>(value.from.size());
  const auto family = manifest_->state().families.find(moves.family->id);
  if (family == manifest_->state().families.end()) return 0;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    if (!step.is_emptied[i]) continue;
    const auto account = family->second.accounts.find(step.sources[i].info.slot);
    if (account != family->second.accounts.end()) bytes -= account->second.bytes;
  }
  return bytes;
}

// How fast space comes back while steps follow one another, for the pace of writers.
void DbImpl::NoteCollected(const GcStep& step, std::uint64_t moved_bytes) {
  constexpr std::uint64_t kGapMicros = 100'000;  // longer, and they do not
  constexpr double kWeight = 0.2;                // of the last step
  std::uint64_t gone = 0;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    if (step.is_emptied[i]) gone += BytesOf(step.sources[i].info);
  }
  if (gone == 0) return;  // its time is the next one's, which empties what this one has begun
  const std::uint64_t now = options_.clock->NowMicros();
  const std::uint64_t last = std::exchange(space_.last_freed_micros, now);
  const bool follows = step.begun_micros < last + kGapMicros;
  const std::uint64_t micros = std::max<std::uint64_t>(now - (follows ? last : step.begun_micros), 1);
  const double rate = static_cast<double>(gone - std::min(gone, moved_bytes)) * 1e6 / static_cast<double>(micros);
  const double before = space_.freed_per_second.load(std::memory_order_relaxed);
  space_.freed_per_second.store(std::max(before + kWeight * (rate - before), 1e6), std::memory_order_relaxed);
}

// False: a flush or a merge was faster, and some values are no longer the newest of their keys. They are left out, and
// the runs have to be written again.
Result<bool> DbImpl::CommitGcStep(GcStep* step, RelocationWriter* writer, bool* is_named) {
  const std::lock_guard lock(commit_mutex_);
  bool is_stale = false;
  bool is_used = false;
  for (GcMoves& moves : step->moves) {
    std::shared_ptr<const Layers> current = LayersOf(*moves.family);
    if (current == nullptr) {  // the family was dropped
      moves.values.clear();
      moves.runs.clear();
      moves.accounts = {};
      continue;
    }
    if (current != moves.newest_in && !MutantIs(Mutant::kGcCommitsWithoutLook)) {
      const std::size_t before = moves.values.size();
      CAMBIUM_RETURN_IF_ERROR(KeepNewest(*current, &moves.values));
      if (moves.values.size() != before) {
        is_stale = true;
        moves.runs.clear();
        moves.accounts = {};
      }
    }
    moves.newest_in = std::move(current);
    is_used = is_used || !moves.accounts.empty();
  }
  if (is_stale) return false;

  const ManifestState& state = manifest_->state();
  Edit edit;
  if (is_used) edit.set_segments.push_back(writer->info());
  for (std::size_t i = 0; i < step->sources.size(); ++i) {
    const SegmentInfo& info = step->sources[i].info;
    if (!state.segments.contains(info.number)) step->is_emptied[i] = false;  // a merge took its last reference, and it went
    if (!step->is_emptied[i]) continue;
    edit.drop_segments.push_back(info.number);
    if (state.TotalAccount(info.slot).references != 0) edit.shadow_slots.push_back(info.slot);
  }
  std::vector<std::shared_ptr<const Layers>> next;
  for (const GcMoves& moves : step->moves) {
    next.push_back(moves.newest_in);
    if (moves.runs.empty()) continue;
    FamilyEdit change;
    change.id = moves.family->id;
    for (const auto& run : moves.runs) {
      change.add_runs.push_back(run->info());
      next.back() = next.back()->WithNewestRun(run);
    }
    change.layers.emplace();
    for (const auto& run : next.back()->runs()) change.layers->push_back(run->number());
    change.accounts = moves.accounts;
    edit.families.push_back(std::move(change));
  }
  if (edit.drop_segments.empty() && edit.families.empty()) return true;  // nothing is left to be said
  *is_named = is_used;  // also if the commit fails: it may be on disk all the same
  // Before the accounts of what goes are gone.
  std::vector<std::pair<GcMoves*, std::int64_t>> hidden;
  for (GcMoves& moves : step->moves) hidden.emplace_back(&moves, HiddenAfter(*step, moves));
  CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
  // At once: who looks at space next must find these bytes here or there.
  for (std::size_t i = 0; i < step->sources.size(); ++i) {
    const GcSource& source = step->sources[i];
    if (step->is_emptied[i]) obsolete_.Leaves(source.segment->path(), {BytesOf(source.info), true});
  }
  for (const auto& [moves, bytes] : hidden) {
    moves->family->hidden_bytes.fetch_add(bytes, std::memory_order_relaxed);
    // Each entry of these runs hides one like it.
    std::int64_t run_bytes = 0;
    for (const auto& run : moves->runs) run_bytes += static_cast<std::int64_t>(run->info().file_size);
    moves->family->hidden_index_bytes.fetch_add(run_bytes, std::memory_order_relaxed);
  }
  NoteCollected(*step, is_used ? writer->info().file_size : 0);

  std::shared_ptr<Segment> target;
  if (is_used) {
    const SegmentInfo& info = writer->info();
    target = std::make_shared<Segment>(info.number, info.slot, FilePath(path_, FileKind::kRelocation, info.number),
                                       writer->TakeFile(), writer->header(),
                                       [this](const std::string& gone) { obsolete_.Add(gone); });
    if (options_.allow_mmap_reads) {
      target->AllowMap(info.sealed_length);
      target->map()->Complete(info.sealed_length);
    }
  }
  view_.Update([&](View* view) {
    if (target != nullptr) view->segments = view->segments.With(target->slot(), target);
    for (std::size_t i = 0; i < step->sources.size(); ++i) {
      if (step->is_emptied[i]) view->segments = view->segments.Without(step->sources[i].info.slot);
    }
    for (std::size_t i = 0; i < step->moves.size(); ++i) {
      FamilyView* const family = view->Find(step->moves[i].family->id);
      if (family != nullptr && !step->moves[i].runs.empty()) SetLayers(family, next[i]);
    }
  });
  return true;
}

}  // namespace cambium
