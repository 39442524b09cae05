// Recovery, the second part of Open: from the state of the MANIFEST to a database that serves.
#include <algorithm>
#include <cassert>
#include <map>
#include <string>
#include <utility>

#include "api/file_logger.h"
#include "api/held_messages.h"
#include "api/memory_promise.h"
#include "api/opener.h"
#include "index/dead_stretches.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "manifest/state_index.h"
#include "options/options_check.h"
#include "recovery/open_files.h"
#include "recovery/open_layers.h"
#include "util/epoch.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// In addition to max_background_jobs: threads for flushes, and for seals and removals, which mostly wait for the
// device.
constexpr int kUrgentThreads = 2;

// After an Open that had to read more log segments than this, the memtables are flushed.
constexpr std::ptrdiff_t kReplaySegmentsMax = 16;

// True only in a mutant: it treats a missing segment of the log as an empty one.
bool IgnoresMissing(const DbContext& db, const SegmentInfo& info) {
  if (!MutantIs(Mutant::kIgnoreMissingSegment) || info.kind != SegmentKind::kLog) return false;
  FileInfo found;
  return !db.fs->GetInfo(db.PathOf(FileKind::kLog, info.number), &found).ok();
}

}  // namespace

Status Opener::Recover(ManifestState state, std::uint64_t largest_number) {
  db_.database_id = state.database_id;
  if (db_.executor == nullptr) {
    db_.executor = Executor::NewThreadPool(db_.options.max_background_jobs, kUrgentThreads);
  }
  for (const auto& [id, family] : state.families) CAMBIUM_RETURN_IF_ERROR(OpenFamily(state, family));
  assert(state_.default_family != nullptr && "state and caller name it: CheckDefaultFamily, CheckDescriptors");
  HeldMessages messages;
  CAMBIUM_RETURN_IF_ERROR(OpenSegments(state, &messages));
  CAMBIUM_RETURN_IF_ERROR(CheckStrayFiles(*db_.fs, db_.path, state));
  LogApplier applier(db_.path, commits_.view(), state, !db_.read_only);
  CAMBIUM_RETURN_IF_ERROR(Replay(state, &applier, &messages));
  if (db_.logger == nullptr) {
    db_.logger = db_.read_only ? NullLogger()
                               : NewFileLogger(db_.fs, db_.options.clock, db_.path, db_.options.statistics);
  }
  messages.PassOn(db_.logger.get());
  if (!replayed_.torn.empty()) db_.logger->Log(InfoLogLevel::kInfo, "the log ends early: " + replayed_.torn);
  CAMBIUM_RETURN_IF_ERROR(AdoptSegments(&state));
  const std::set<std::uint64_t> rejected = Rejected(state);
  const SegmentEnd predecessor = Predecessor(state, rejected);
  if (db_.read_only) {
    for (const std::uint64_t number : rejected) state.segments.erase(number);
    commits_.OpenForReading(std::move(state));
    FindGaps();
    return Status::OK();
  }
  for (const std::uint64_t number : rejected) {
    const Slot slot = state.segments.at(number).slot;
    commits_.view().Update([&](View* view) { view->segments = view->segments.Without(slot); });
    state.segments.erase(number);
  }
  CAMBIUM_RETURN_IF_ERROR(StartManifest(&state, largest_number));
  state_.head.Start(predecessor);
  assert(state_.head.log() != nullptr);
  CAMBIUM_RETURN_IF_ERROR(RemoveOrphans());
  // If space cannot be freed now, a later commit frees it: the database can serve.
  const Status dropped = commits_.DropUnreferenced();
  if (dropped.severity() == Status::Severity::kFatal) return dropped;
  if (!dropped.ok()) db_.logger->Log(InfoLogLevel::kWarn, "dropping segments: " + dropped.ToString());
  db_.logger->Log(InfoLogLevel::kInfo, "opened at sequence number " + std::to_string(state_.head.published()) +
                                           ", epoch " + std::to_string(db_.epoch) + ", after reading " +
                                           std::to_string(replayed_.bytes_read) + " bytes of log");
  if (MutantIs(Mutant::kOpenFindsGapsEarly)) FindGaps();
  CAMBIUM_RETURN_IF_ERROR(ReplayRest(&applier));
  assert(state_.head.published() == recovered_ && "nothing is written before Open returns");
  FindGaps();
  CAMBIUM_RETURN_IF_ERROR(CreateMissing());
  CountSegmentsToReplay();
  return families_.PersistAtOpen();
}

Status Opener::OpenFamily(const ManifestState& state, const FamilyState& stored) {
  const ColumnFamilyDescriptor* const wanted = WantedAs(stored.name);
  if (wanted == nullptr) return Status::OK();  // a reader need not name all families
  ColumnFamilyOptions options = wanted->options;
  options.page_size = stored.page_size;
  auto family = std::make_shared<Family>(stored.id, stored.name, options, db_.share);
  family->index = families_.MakeIndex(family.get());
  if (stored.versions_since.has_value()) family->versions_since = *stored.versions_since;
  const auto open_file = [&](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
    CAMBIUM_TRY(std::unique_ptr<File> file, OpenLayerFile(*db_.fs, db_.path, state, kind, number));
    return commits_.obsolete().Track(number, std::move(file), true);
  };
  CAMBIUM_TRY(std::shared_ptr<const Layers> layers, OpenLayers(stored, options.comparator, db_.pool.get(), open_file));
  families_.Add(family, std::move(layers));
  if (stored.id == 0) state_.default_family = std::move(family);
  return Status::OK();
}

Status Opener::OpenSegments(const ManifestState& state, Logger* logger) {
  SegmentTable table;
  for (const auto& [number, info] : state.segments) {
    if (IgnoresMissing(db_, info)) continue;
    std::string damage;
    CAMBIUM_TRY(std::shared_ptr<Segment> segment,
                OpenSegment(*db_.fs, db_.path, state, info, !db_.read_only, commits_.WhenReleased(),
                            HeaderRuleOf(db_.options.wal_recovery_mode), &damage));
    if (!damage.empty()) {
      logger->Log(InfoLogLevel::kError, damage + "; its records are read all the same, as kPointInTimeRecovery allows");
    }
    if (db_.options.allow_mmap_reads && info.kind != SegmentKind::kLargeValue) {
      // A segment of an earlier Open takes no more appends. Its footer, and space allocated ahead, hold no values.
      FileInfo found;
      CAMBIUM_RETURN_IF_ERROR(segment->file().GetInfo(&found));
      const std::uint64_t end = info.sealed ? std::min(info.sealed_length, found.size) : found.size;
      segment->AllowMap(end);
      segment->map()->Complete(end);
    }
    table = table.With(info.slot, std::move(segment));
  }
  commits_.view().Update([&](View* view) { view->segments = std::move(table); });
  return Status::OK();
}

// Replays all of the log, or as much as the memtables may take.
Status Opener::Replay(const ManifestState& state, LogApplier* applier, Logger* logger) {
  CAMBIUM_TRY(replayed_, ReplayInto(state, applier, logger));
  recovered_ = replayed_.last_sequence;
  for (const auto& [id, family] : state.families) recovered_ = std::max(recovered_, family.flushed_sequence);
  state_.head.SetRecovered(recovered_, replayed_.end, applier->logged_bytes());
  return Status::OK();
}

Result<ReplayResult> Opener::ReplayInto(const ManifestState& state, LogApplier* applier, Logger* logger) const {
  ReplayRequest request;
  request.fs = db_.fs.get();
  request.directory = db_.path;
  request.state = &state;
  request.mode = db_.options.wal_recovery_mode;
  request.logger = logger;
  std::shared_ptr<const View> view = commits_.view().Pin();
  for (const FamilyView& each : view->families) {
    request.inline_below[each.family->id] = each.family->in_force().separate_from;
  }
  if (!MutantIs(Mutant::kReplayPinsTables)) view = nullptr;  // it has the memtables, which a flush is to release
  Result<ReplayResult> replayed =
      ReplayLog(request, [&](const std::vector<ReplayedOp>& ops) { return applier->Take(ops); });
  applier->EndPass();
  return replayed;
}

// Replays what did not fit into the memtables. A crash meanwhile does no harm: the end of the log is already final, and
// each flush moves the replay position as at any other time. So the next Open replays what is left.
Status Opener::ReplayRest(LogApplier* applier) {
  if (!applier->has_stopped() || MutantIs(Mutant::kForgetRestOfReplay)) return Status::OK();
  db_.logger->Log(InfoLogLevel::kInfo, "the log holds more than the memtables may take: flushing while it is replayed");
  applier->GoOn([&](const std::vector<std::shared_ptr<Family>>& families, const LogPlace& end) {
    return FlushReplayed(families, end, applier->logged_bytes());
  });
  const ManifestState state = [this] {
    const CommitLock lock(commits_);
    return commits_.state();
  }();
  const Result<ReplayResult> rest = ReplayInto(state, applier, db_.logger.get());
  CAMBIUM_RETURN_IF_ERROR(rest.status());
  const bool is_same = rest->end == replayed_.end && rest->last_sequence == replayed_.last_sequence;
  if (is_same && rest->torn.empty()) {
    state_.head.SetRecovered(recovered_, replayed_.end, applier->logged_bytes());
    return Status::OK();
  }
  return Status::Corruption(db_.path + ": the log was read twice, and the second time it ended with operation " +
                            std::to_string(rest->last_sequence) + " instead of " +
                            std::to_string(replayed_.last_sequence) + ": " + rest->torn);
}

void Opener::FindGaps() {
  SequenceNumber sequence = 0;
  const std::shared_ptr<const View> view = state_.head.PinView(&sequence);
  for (const FamilyView& each : view->families) {
    if (HasFilter(each.family->options())) continue;
    const Comparator* const order = each.family->options().comparator;
    const std::vector<DeadStretch> stretches =
        FindDeadStretches(order, *each.active, sequence, [&](std::vector<MergeChild>* children) {
          for (const FrozenTable& frozen : each.frozen) {
            children->emplace_back(frozen.table->NewCursor(sequence));
            children->back().cover = frozen.table->CoverAt(sequence);
          }
          each.layers->AppendCursors(children);
        });
    for (std::size_t i = 0; i < std::min(stretches.size(), kGapsMax); ++i) {
      Gaps::Watch watch;
      if (state_.head.TryWatch(*each.family, sequence, &watch) != WriteHead::Watching::kBegun) break;
      each.family->gaps.Add(&watch, sequence, {stretches[i].first, true}, {stretches[i].last, true});
    }
  }
}

Status Opener::FlushReplayed(const std::vector<std::shared_ptr<Family>>& families, const LogPlace& end,
                             std::uint64_t logged_bytes) {
  if (!MutantIs(Mutant::kFlushReplayAtLogEnd)) state_.head.SetRecovered(end.sequence, end.position, logged_bytes);
  Status flushed;
  for (const std::shared_ptr<Family>& family : families) {
    {
      const AppendLock lock(state_.head);
      state_.head.Freeze(family.get(), FlushReason::kRecovery);
    }
    flushed = upkeep_.flusher.FlushDuringOpen(family);
    if (!flushed.ok()) break;
  }
  if (!flushed.ok()) {
    db_.logger->Log(InfoLogLevel::kWarn, "a flush during recovery has failed, and the rest of the log is kept in memory: " +
                                          flushed.ToString());
  }
  EpochCollect();  // releases the memtables
  const Status removed = commits_.RemoveObsolete();
  if (!removed.ok()) db_.logger->Log(InfoLogLevel::kWarn, "removing files during recovery: " + removed.ToString());
  return flushed;
}

// A segment that was replayed must be as durable as the records that will follow it.
Status Opener::AdoptSegments(ManifestState* state) {
  const std::shared_ptr<const View> view = commits_.view().Pin();
  for (const ReplayedSegment& adopted : replayed_.adopted) {
    const std::shared_ptr<Segment>& segment = view->segments.Find(state->segments.at(adopted.number).slot);
    assert(segment != nullptr && segment->number() == adopted.number);
    if (segment->map() != nullptr) segment->map()->Complete(adopted.length);
  }
  // A footer lists the values that were separated when it was written. Under the current options, replay may have
  // separated others, so log GC does not use the footers of replayed segments: it reads them record by record.
  for (auto& [number, info] : state->segments) {
    if (info.kind == SegmentKind::kLog && state->replay < LogPosition{number, info.sealed_length}) info.has_footer = false;
  }
  for (const ReplayedSegment& adopted : replayed_.adopted) {
    SegmentInfo& info = state->segments.at(adopted.number);
    if (!db_.read_only && !info.sealed && !MutantIs(Mutant::kSkipAdoptSync)) {
      const Status synced = view->segments.Find(info.slot)->file().SyncData();
      if (!synced.ok()) return synced.WithContext("syncing the recovered log").Fatal();
    }
    if (MutantIs(Mutant::kSkipNeutralise)) continue;
    assert(!info.sealed || adopted.length <= info.sealed_length);
    info.sealed = true;
    info.has_footer = false;
    info.sealed_length = info.file_size = adopted.length;
    info.last_sequence = adopted.last_sequence;
  }
  return Status::OK();
}

std::set<std::uint64_t> Opener::Rejected(const ManifestState& state) {
  std::set<std::uint64_t> rejected;
  if (!MutantIs(Mutant::kSkipNeutralise)) rejected.insert(replayed_.rejected.begin(), replayed_.rejected.end());
  const SequenceNumber last = state_.head.published();
  const CommitLock lock(commits_);
  const StateIndex index(state);
  for (const auto& [number, info] : state.segments) {
    if (info.kind != SegmentKind::kLargeValue) continue;
    if (const auto referred = replayed_.large_values.find(number); referred != replayed_.large_values.end()) {
      commits_.LargeValueReplayed(number, referred->second, last);
    } else if (index.TotalOf(info.slot).references == 0) {
      rejected.insert(number);  // no whole batch refers to it
    }
  }
  return rejected;
}

// Returns the end of the last segment of the log that has records.
SegmentEnd Opener::Predecessor(const ManifestState& state, const std::set<std::uint64_t>& rejected) const {
  const std::shared_ptr<const View> view = commits_.view().Pin();
  SegmentEnd predecessor;
  for (const auto& [number, info] : state.segments) {
    const bool has_records = info.kind == SegmentKind::kLog && info.sealed && info.sealed_length > kFileHeaderSize;
    if (!has_records || rejected.contains(number)) continue;
    predecessor = {view->segments.Find(info.slot), info.sealed_length, info.last_sequence};
  }
  predecessor.last_sequence = state_.head.published();
  return predecessor;
}

Status Opener::StartManifest(ManifestState* state, std::uint64_t largest_number) {
  state->epoch += 1;
  db_.epoch = state->epoch;
  state->last_sequence = std::max(state->last_sequence, state_.head.published());
  state->durable_sequence = state_.head.published();
  state->clean_shutdown = false;
  const std::uint64_t manifest_number = std::max(state->next_file_number, largest_number + 1);
  state->next_file_number = manifest_number + 1;
  assert(manifest_number > largest_number && "no file has the number");
  CAMBIUM_RETURN_IF_ERROR(state->Check());
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(*db_.fs, db_.path));
  DiskKeeper& disk = upkeep_.disk_keeper;
  disk.AdoptReserve(files);
  had_reserve_ = disk.reserve_number() != 0;
  disk.MakeRoomForManifest(*state);
  const CommitLock lock(commits_);
  commits_.SetNextFileNumber(state->next_file_number);
  return commits_.Create(db_.HeaderFor(FileKind::kManifest, manifest_number), manifest_number, *state);
}

Status Opener::RemoveOrphans() {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(*db_.fs, db_.path));
  const std::uint64_t reserve_number = upkeep_.disk_keeper.reserve_number();
  const CommitLock lock(commits_);
  const ManifestState& state = commits_.state();
  for (const NumberedFile& file : files) {
    bool named = false;
    switch (file.kind) {
      case FileKind::kManifest: named = file.number >= commits_.manifest_number(); break;
      case FileKind::kLog:
      case FileKind::kRelocation:
      case FileKind::kLargeValue: named = state.segments.contains(file.number); break;
      case FileKind::kIndex:
      case FileKind::kRun:
        named = std::ranges::any_of(state.families, [&](const auto& each) { return HasFile(each.second, file.number); });
        break;
      case FileKind::kOptions: named = true; break;  // old ones are removed when a new one is written
      case FileKind::kTemporary: break;
      case FileKind::kReserve: named = file.number == reserve_number; break;
    }
    if (named || MutantIs(Mutant::kKeepOrphans)) continue;
    const Status removed = db_.Unlink(file.kind, file.number);
    if (!removed.ok() && !removed.IsPathNotFound()) {
      db_.logger->Log(InfoLogLevel::kWarn, "could not remove an orphan: " + removed.ToString());
    }
  }
  return Status::OK();
}

Status Opener::CreateMissing() {
  std::vector<const ColumnFamilyDescriptor*> missing;
  {
    const CommitLock lock(commits_);
    for (const ColumnFamilyDescriptor& wanted : wanted_) {
      if (!commits_.index().HasFamilyNamed(wanted.name)) missing.push_back(&wanted);
    }
  }
  if (missing.empty()) return Status::OK();
  const FamiliesLock lock(families_);
  return families_.Make(missing);
}

void Opener::CountSegmentsToReplay() {
  const CommitLock lock(commits_);
  const ManifestState& state = commits_.state();
  segments_to_replay_ = std::ranges::count_if(state.segments, [&](const auto& segment) {
    return segment.second.kind == SegmentKind::kLog && segment.first >= state.replay.segment;
  });
}

void Opener::StartJobs() {
  assert(!db_.read_only);
  state_.jobs.Start();
  if (commits_.obsolete().HasReady()) state_.jobs.Schedule(Job::kRemove);
  const std::shared_ptr<const View> opened = commits_.view().Pin();
  for (const FamilyView& each : opened->families) {
    // Each Open for writing leaves a segment, and each later Open reads all of them again until a flush.
    if (segments_to_replay_ > kReplaySegmentsMax && !each.active->empty() && !MutantIs(Mutant::kKeepTinySegments)) {
      const AppendLock lock(state_.head);
      state_.head.Freeze(each.family.get(), FlushReason::kRecovery);
    }
    if (!each.frozen.empty()) state_.jobs.Schedule(Job::kFlush, each.family);  // its flush during recovery failed
    if (upkeep_.compactor.IsDue(*each.family)) state_.jobs.Schedule(Job::kCompact, each.family);
  }
  upkeep_.space_keeper.Begin();
  upkeep_.disk_keeper.Begin(had_reserve_);
  upkeep_.puncher.Resume();
  upkeep_.memory_keeper.Begin();
  WarnOfMemoryLimit(db_, *opened);
}

}  // namespace cambium
