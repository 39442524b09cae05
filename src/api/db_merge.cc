// Merges of layers: in the background step by step as they are due, and CompactRange in turns with these.
#include <algorithm>

#include "api/db_impl.h"
#include "api/filter_job.h"
#include "manifest/file_names.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

// Commits a merge, and with it, if `table` is given, the flush of that table.
Status DbImpl::CommitCompaction(Family* family, CompactionOutcome* outcome, const FrozenTable* table, FilterJob* filter,
                           CompactedFiles* files) {
  if (filter != nullptr) CAMBIUM_RETURN_IF_ERROR(SyncChanged(filter));
  CAMBIUM_RETURN_IF_ERROR(SyncDirectory());
  std::vector<NumberedFile> old_files;
  std::vector<NumberedFile> new_files;
  {
    const std::lock_guard lock(commit_mutex_);
    const std::shared_ptr<const Layers> current = LayersOf(*family);
    if (current == nullptr) return Status::OK();  // the family was dropped, and what was made goes
    Edit edit;
    FamilyEdit change;
    change.id = family->id;
    CAMBIUM_TRY(std::shared_ptr<const Layers> next, outcome->Stage(*current, &change));
    if (table != nullptr) AbsorbTable(*family, *table, &edit, &change);
    edit.families.push_back(std::move(change));
    if (filter != nullptr) {
      for (const ChangedValues::Made& made : filter->changed().files()) edit.set_segments.push_back(made.info);
      filter->is_named = true;  // also if the commit fails: it may be on disk all the same
    }
    const auto filtered = static_cast<std::int64_t>(outcome->stats().value_bytes_filtered);
    const std::int64_t uncharged = std::max<std::int64_t>(UnchargedBy(edit.families.back().accounts) - filtered, 0);
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    outcome->Committed();
    NoteCompacted(family, *current, *next, uncharged);
    family->index_stats.AddMerge(outcome->stats(), *next, table != nullptr);
    CountCompaction(outcome->stats(), table != nullptr);
    current->AppendFiles(&old_files);
    next->AppendFiles(&new_files);
    if (table != nullptr) {
      InstallFlushed(family, *table, std::move(next));
    } else {
      view_.Update([&](View* view) {
        if (filter != nullptr) InstallChanged(filter, view);
        SetLayers(view->Find(family->id), std::move(next));
      });
    }
  }
  std::sort(old_files.begin(), old_files.end());
  std::sort(new_files.begin(), new_files.end());
  std::ranges::set_difference(new_files, old_files, std::back_inserter(files->new_files));
  std::ranges::set_difference(old_files, new_files, std::back_inserter(files->old_files));
  for (const NumberedFile& file : files->old_files) {
    obsolete_.MakeObsolete(file.number);
    if (MutantIs(Mutant::kUnlinkIndexWhilePinned)) obsolete_.Add(FilePath(path_, file.kind, file.number));
  }
  return Status::OK();
}

std::vector<std::string> DbImpl::PathsOf(const std::vector<NumberedFile>& files) const {
  std::vector<std::string> paths;
  for (const NumberedFile& file : files) paths.push_back(FilePath(path_, file.kind, file.number));
  return paths;
}

void DbImpl::CountCompaction(const CompactionStats& stats, bool is_flush) const {
  meter_.Tick(COMPACTION_KEYS_DROPPED, stats.entries_dropped);
  meter_.Tick(COMPACT_READ_BYTES, stats.bytes_read);
  meter_.Tick(is_flush ? FLUSH_WRITE_BYTES : COMPACT_WRITE_BYTES, stats.bytes_written);
}

bool DbImpl::ClaimCompaction(Family* family) {
  const std::lock_guard lock(background_mutex_);
  return !std::exchange(family->merging, true);
}

void DbImpl::ReleaseCompaction(Family* family) {
  const std::lock_guard lock(background_mutex_);
  family->merging = false;
  ++family->merges_ended;
  background_changed_.notify_all();
}

bool DbImpl::CompactionIsDue(const Family& family) const {
  const std::shared_ptr<const Layers> layers = LayersOf(family);
  if (layers == nullptr) return false;
  const bool is_urgent = family.merges_urgently.load(std::memory_order_relaxed);
  return family.index->IsCompactionDue(*layers, is_urgent) || (is_urgent && HidesInLevels(family, *layers));
}

// What lies above the last level of an LSM hides what lies there, as long as no compaction carries it down.
bool DbImpl::HidesInLevels(const Family& family, const Layers& layers) {
  if (family.options().index_type != IndexKind::kLsm) return false;
  const LayersShape shape = layers.shape();
  std::uint64_t tombstones = 0;
  for (std::size_t i = 0; i + 1 < shape.levels.size(); ++i) tombstones += shape.levels[i].tombstones;
  // As MeasureFamily finds it.
  const bool hides = tombstones > 0 || family.hidden_bytes.load(std::memory_order_relaxed) > 0 ||
                     family.hidden_index_bytes.load(std::memory_order_relaxed) > 0 ||
                     family.replaced_share.load(std::memory_order_relaxed) > 0;
  return hides && (shape.levels.size() > 1 || (shape.levels.size() == 1 && shape.levels[0].tier_count > 1));
}

// One step of a merge that is due.
Status DbImpl::CompactDue(Family* family) {
  if (!ClaimCompaction(family)) return Status::OK();  // somebody merges; his end looks again
  Status s;
  if (const std::shared_ptr<const Layers> layers = LayersOf(*family); layers != nullptr) {
    const bool is_urgent = family->merges_urgently.load(std::memory_order_relaxed);
    if (family->index->IsCompactionDue(*layers, is_urgent)) {
      const bool is_due_anyway = !is_urgent || family->index->IsCompactionDue(*layers, false);
      s = CompactStep(family, layers, nullptr, is_due_anyway ? UsualReason(*family) : CompactionReason::kSpace);
    } else if (is_urgent && HidesInLevels(*family, *layers)) {
      s = SqueezeStep(family, layers);
    } else {
      family->squeeze.reset();
    }
  }
  ReleaseCompaction(family);
  return s;
}

// The same as a CompactRange of everything, a step of it.
Status DbImpl::SqueezeStep(Family* family, const std::shared_ptr<const Layers>& layers) {
  const std::uint64_t flushes = [&] {
    const std::lock_guard lock(background_mutex_);
    return family->flush.ended;
  }();
  if (!family->squeeze.has_value()) {
    family->squeeze.emplace();
    family->flushes_before_squeeze = flushes;
  }
  if (family->index->IsCompactionDue(*layers, &*family->squeeze)) {
    return CompactStep(family, layers, &*family->squeeze, CompactionReason::kSpace);
  }
  family->squeeze.reset();
  // What was flushed since may hide more, and may lie in a level above the last one by now.
  if (flushes == family->flushes_before_squeeze) {
    family->hidden_bytes.store(0, std::memory_order_relaxed);
    family->hidden_index_bytes.store(0, std::memory_order_relaxed);
    family->replaced_share.store(0, std::memory_order_relaxed);  // else the next step would be due for ever
  }
  return Status::OK();
}

CompactionReason DbImpl::UsualReason(const Family& family) {
  return family.options().index_type == IndexKind::kLsm ? CompactionReason::kLevels : CompactionReason::kSweep;
}

// A step of a merge commits after as many bytes of new pages as a memory table may hold, where it can, so that it neither
// holds much unpublished nor starts from the beginning after a crash. A step of an LSM's level 0 takes all of level 1 with
// it; neither Close nor the end of a family waits for that.
std::uint64_t DbImpl::StepBytes(const Family& family) const {
  std::uint64_t bytes = family.options().write_buffer_size;
  // Nor does it take more of what is above the ceiling than it is left. Nobody has looked at that of one that tools work
  // with, which would take a step for each key.
  if (!is_offline_ && max_space_amplification_.load(std::memory_order_relaxed) != 0) {
    bytes = std::min(bytes, space_.step_bytes.load(std::memory_order_relaxed));
  }
  return IsDiskFull() ? std::min<std::uint64_t>(bytes, StepOnFullDisk()) : bytes;
}

// The family's merge is claimed.
Status DbImpl::CompactStep(Family* family, std::shared_ptr<const Layers> layers, CompactionRequest* request,
                         CompactionReason reason) {
  CompactionJobInfo info;
  info.db_name = events_.db_name();
  info.cf_name = family->name;
  info.cf_id = family->id;
  info.job_id = events_.NewJobId();
  info.compaction_reason = reason;
  events_.Add([this, info](EventListener* listener) { listener->OnCompactionBegin(this, info); });
  events_.Deliver();
  const Stopwatch watch(&meter_, COMPACTION_TIME);
  const std::uint64_t start = options_.clock->NowMicros();
  TableFiles files = FilesOf(*family, TableFileCreationReason::kCompaction, info.job_id);
  family->merge_files = &files;
  info.status = CompactAndCommit(family, std::move(layers), request, &info);
  family->merge_files = nullptr;
  files.Done(info.status);
  info.elapsed_micros = options_.clock->NowMicros() - start;
  events_.Add([this, info](EventListener* listener) { listener->OnCompactionCompleted(this, info); });
  events_.Deliver();
  return info.status.IsShutdownInProgress() ? Status::OK() : info.status;
}

Status DbImpl::CompactAndCommit(Family* family, std::shared_ptr<const Layers> layers, CompactionRequest* request,
                              CompactionJobInfo* info) {
  CompactionInput input;
  input.layers = std::move(layers);
  input.request = request;
  input.max_output_bytes = StepBytes(*family);
  input.file_percent_max = space_.index_file_percent_max.load(std::memory_order_relaxed);
  input.is_abandoned = [this, family] {
    return closing_.load(std::memory_order_relaxed) || family->dropped.load(std::memory_order_relaxed);
  };
  input.before_write = PermitFor(FILE_BYTES_MERGE, [this, family] { return PriorityOfCompaction(*family); });
  std::map<std::uint64_t, BlobFileCreation> creations;  // by number
  const std::unique_ptr<FilterJob> filter = NewFilterJob(*family, request, input, &creations);
  input.filter = filter.get();
  const Status done = CompactWith(family, std::move(input), filter.get(), info);
  if (filter != nullptr) EndFilterJob(filter.get(), done, &creations);
  return done;
}

Status DbImpl::CompactWith(Family* family, CompactionInput input, FilterJob* filter, CompactionJobInfo* info) {
  const Result<std::unique_ptr<CompactionOutcome>> outcome = family->index->Compact(input);
  CAMBIUM_RETURN_IF_ERROR(outcome.status());
  CAMBIUM_FAULT_POINT("Merge:written");
  input.layers.reset();
  const CompactionStats& stats = (*outcome)->stats();
  info->base_input_level = static_cast<int>(stats.level);
  info->output_level = static_cast<int>(stats.output_level);
  info->bytes_read = stats.bytes_read;
  info->bytes_written = stats.bytes_written;
  info->entries_merged = stats.entries_merged;
  info->entries_dropped = stats.entries_dropped;
  CompactedFiles files;
  CAMBIUM_RETURN_IF_ERROR(CommitCompaction(family, outcome->get(), nullptr, filter, &files));
  info->input_files = PathsOf(files.old_files);
  info->output_files = PathsOf(files.new_files);
  CAMBIUM_RETURN_IF_ERROR(DropUnreferenced());
  EpochCollect();
  return Status::OK();
}

// The family's merge is claimed, and will be claimed again at once. What is due meanwhile, runs that keep coming above
// all, must not wait until a long request has ended.
Status DbImpl::TakeTurnOfBackground(Family* family) {
  std::shared_ptr<const Layers> layers = LayersOf(*family);
  if (layers == nullptr || !family->index->IsCompactionDue(*layers, false)) return Status::OK();
  const Status s = CompactStep(family, std::move(layers), nullptr, UsualReason(*family));
  if (s.ok() || s.severity() == Status::Severity::kFatal) return s;
  logger_->Log(InfoLogLevel::kWarn, "could not merge what is due beside CompactRange: " + s.ToString());
  return Status::OK();  // what was asked for may lie elsewhere
}

// Merges in the caller's thread, step by step, and takes turns with the background.
Status DbImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle, const Slice* begin,
                            const Slice* end) {
  const Delivery delivery(&events_);
  using Policy = BlobGarbageCollectionPolicy;
  const Policy policy = options.blob_garbage_collection_policy;
  if (policy > Policy::kUseDefault) {
    return Status::InvalidArgument("blob_garbage_collection_policy is " + std::to_string(static_cast<int>(policy)) +
                                   "; BlobGarbageCollectionPolicy has kForce, kDisable and kUseDefault");
  }
  const bool holds_gc = policy == Policy::kDisable;
  if (holds_gc) gc_holds_.fetch_add(1);
  Status s = CompactKeys(handle, begin, end);
  if (s.ok() && options.cluster_values) s = ClusterRange(handle, begin, end);
  if (s.ok() && options.cluster_values) s = CompactKeys(handle, begin, end);  // so that the old copies are garbage
  if (s.ok()) s = CollectFor(options, begin == nullptr && end == nullptr);
  if (holds_gc && gc_holds_.fetch_sub(1) == 1 && s.ok() && GcIsDue()) Schedule(Job::kCollect);
  return s;
}

Status DbImpl::CompactKeys(ColumnFamilyHandle* handle, const Slice* begin, const Slice* end, bool rewrites) {
  CAMBIUM_RETURN_IF_ERROR(Flush({}, handle));
  CAMBIUM_TRY(Family* const its, FamilyOf(handle));
  const std::shared_ptr<Family> family = FindFamily(its->id);
  std::shared_ptr<const Layers> layers = LayersOf(*its);
  if (family == nullptr || layers == nullptr) return Status::OK();  // dropped since
  CompactionRequest request;
  if (begin != nullptr) request.begin = begin->ToString();
  if (end != nullptr) request.end = end->ToString();
  for (const auto& run : layers->runs()) request.runs.push_back(run->number());
  layers.reset();
  const bool has_filter = HasFilter(family->options());
  request.asks_filter = has_filter || rewrites;
  request.rewrites = rewrites;
  Status s = CarryOut(family, &request);
  std::set<std::uint64_t> asked;
  while (s.ok() && has_filter) {
    std::optional<CompactionRequest> moved = RequestForMoved(*family, request, &asked);
    if (!moved.has_value()) break;
    request = std::move(*moved);
    s = CarryOut(family, &request);
  }
  if (s.severity() == Status::Severity::kFatal) SetFatal(s, BackgroundErrorReason::kCompaction);
  if (s.ok() && CompactionIsDue(*family)) Schedule(Job::kCompact, family);
  return s;
}

Status DbImpl::CarryOut(const std::shared_ptr<Family>& family, CompactionRequest* request) {
  Status s;
  for (bool more = true; more && s.ok();) {
    while (!ClaimCompaction(family.get())) {
      CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return !family->merging; }));
    }
    if (request->asks_filter && request->first_new_file == 0) {
      // No merge is under way, so what is written from here on is written by one that asks.
      family->index->SealFiles();
      const std::lock_guard lock(commit_mutex_);
      request->first_new_file = next_file_number_;
    }
    std::shared_ptr<const Layers> layers = LayersOf(*family);
    more = layers != nullptr && family->index->IsCompactionDue(*layers, request);
    if (more) s = CompactStep(family.get(), std::move(layers), request, CompactionReason::kManualCompaction);
    if (more && s.ok()) s = TakeTurnOfBackground(family.get());
    layers.reset();
    ReleaseCompaction(family.get());
    if (s.ok()) s = Health();
    if (s.ok() && closing_.load(std::memory_order_relaxed)) return Status::ShutdownInProgress("the database is closing");
  }
  return s;
}

}  // namespace cambium
