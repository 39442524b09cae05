// Compaction filters: the job that asks a filter during a compaction, and the files of the values that the filter has
// changed.
#include <cassert>
#include <utility>

#include "options/options_check.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/compact/filter_job.h"
#include "upkeep/new_value_file.h"
#include "util/mutant.h"

namespace cambium {

// The segments are those of the current view, and the layers are not newer. So each value that the layers refer to is
// in one of the segments, or log GC has moved it since.
std::unique_ptr<FilterJob> Compactor::NewFilterJob(const Family& family, const CompactionRequest* request,
                                                const CompactionInput& input,
                                                Creations* creations) {
  const OptionsInForce& options = family.in_force();
  if (!HasFilter(options.options)) return nullptr;
  FilterJob::Surroundings surroundings;
  surroundings.is_manual = request != nullptr && request->asks_filter;
  surroundings.is_abandoned = input.is_abandoned;
  ChangedValues::Rules rules;
  {
    const CommitLock lock(commits_);
    surroundings.segments = commits_.view().Pin()->segments;
    surroundings.emptied = commits_.state().shadowed_slots;
    rules.sequence = commits_.state().last_sequence;
  }
  rules.family = family.id;
  rules.write_time = static_cast<std::uint32_t>(db_.options.clock->WallSeconds());
  rules.codec = options.codec;
  rules.before_write = input.before_write;
  rules.large_from = options.options.large_value_size;
  rules.segment_bytes = db_.blob_file_size;
  if (const std::uint64_t bytes = space_.segment_bytes.load(std::memory_order_relaxed); bytes != 0) {
    rules.segment_bytes = bytes;
  }
  const auto make = [this, creations](FileKind kind) -> Result<NewRelocationFile> {
    CAMBIUM_TRY(NewRelocationFile file, commits_.MakeValueFile(kind, head_.published()));
    NewValueFile made(&db_, &commits_, std::move(file));
    const FileHeader& header = made.header();
    creations->emplace(header.number, db_.BeginBlobFile(header, BlobFileCreationReason::kCompactionFilter));
    db_.events.Deliver();
    return made.Take();
  };
  return std::make_unique<FilterJob>(family, std::move(surroundings), rules, make);
}

// Called before the sync of the directory, which precedes the record that names the files.
Status Compactor::SyncChanged(FilterJob* filter) {
  CAMBIUM_RETURN_IF_ERROR(filter->changed().Finish());
  if (MutantIs(Mutant::kFilterCommitsUnsynced)) return Status::OK();
  for (const ChangedValues::Made& made : filter->changed().files()) {
    assert(made.info.sealed && made.file != nullptr);
    CAMBIUM_RETURN_IF_ERROR(DbContext::JudgeSync(made.file->SyncData()));
  }
  return Status::OK();
}

// Removes files that no record names. If that fails, or after a failed sync, they remain as orphans, which the next
// Open removes.
void Compactor::EndFilterJob(FilterJob* filter, const Status& done,
                          Creations* creations) {
  std::vector<ChangedValues::Made>& files = filter->changed().files();
  if (files.empty()) return;
  for (ChangedValues::Made& made : files) {
    const auto creation = creations->find(made.info.number);
    if (creation != creations->end()) creation->second.Done(done, done.ok() ? made.info.file_size : 0);
    if (filter->is_named || done.severity() == Status::Severity::kFatal) continue;
    made.file.reset();
    static_cast<void>(db_.Unlink(FileKindOf(made.info.kind), made.info.number));
  }
  for (const ChangedValues::Made& made : files) commits_.ReleaseSlot(made.info.slot);
}

// While a compaction for `request` was under way, log GC may have added runs on top with relocated values that the
// filter has not been asked about. Returns a request for these runs, or nothing if there are none. `taken` holds the
// runs of earlier requests.
std::optional<CompactionRequest> Compactor::RequestForMoved(const Family& family, const CompactionRequest& request,
                                                            std::set<std::uint64_t>* taken) const {
  const std::shared_ptr<const Layers> layers = commits_.LayersOf(family);
  if (layers == nullptr || MutantIs(Mutant::kFilterMissesRelocated)) return std::nullopt;
  const std::shared_ptr<const FilteredPart> filtered = FilteredOf(family);
  taken->insert(request.runs.begin(), request.runs.end());
  CompactionRequest moved;
  moved.begin = request.begin;
  moved.end = request.end;
  moved.asks_filter = moved.only_runs = true;
  for (const auto& run : layers->runs()) {
    const bool is_moved = run->info().kind == RunKind::kRelocation;
    const bool was_filtered = filtered != nullptr && filtered->HasFile(run->number());
    if (is_moved && !was_filtered && !taken->contains(run->number())) moved.runs.push_back(run->number());
  }
  return moved.runs.empty() ? std::nullopt : std::optional(std::move(moved));
}

}  // namespace cambium
