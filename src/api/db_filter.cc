// Compaction filters: what a merge needs to ask one, and the files of what it changes.
#include "api/db_impl.h"
#include "api/filter_job.h"
#include "manifest/file_names.h"
#include "util/mutant.h"

namespace cambium {

// The segments are those of now, and the layers not newer: what they refer to is there, or log GC has moved it since.
std::unique_ptr<FilterJob> DbImpl::NewFilterJob(const Family& family, const CompactionRequest* request,
                                                const CompactionInput& input,
                                                std::map<std::uint64_t, BlobFileCreation>* creations) {
  const OptionsInForce& options = family.in_force();
  if (!HasFilter(options.options)) return nullptr;
  FilterJob::Surroundings surroundings;
  surroundings.is_manual = request != nullptr && request->asks_filter;
  surroundings.is_abandoned = input.is_abandoned;
  ChangedValues::Rules rules;
  {
    const std::lock_guard lock(commit_mutex_);
    surroundings.segments = view_.Pin()->segments;
    surroundings.emptied = manifest_->state().shadowed_slots;
    rules.sequence = manifest_->state().last_sequence;
  }
  rules.family = family.id;
  rules.write_time = static_cast<std::uint32_t>(options_.clock->WallSeconds());
  rules.codec = options.codec;
  rules.before_write = input.before_write;
  rules.large_from = options.options.large_value_size;
  rules.segment_bytes = blob_file_size_;
  if (const std::uint64_t bytes = space_.segment_bytes.load(std::memory_order_relaxed); bytes != 0) {
    rules.segment_bytes = bytes;
  }
  const auto make = [this, creations](FileKind kind) -> Result<NewRelocationFile> {
    CAMBIUM_TRY(NewRelocationFile made, MakeValueFile(kind));
    creations->emplace(made.header.number, BeginBlobFile(made.header, BlobFileCreationReason::kCompactionFilter));
    events_.Deliver();
    return made;
  };
  return std::make_unique<FilterJob>(family, std::move(surroundings), rules, make);
}

// Before the record that names them, and before the sync of the directory.
Status DbImpl::SyncChanged(FilterJob* filter) {
  CAMBIUM_RETURN_IF_ERROR(filter->changed().Finish());
  if (MutantIs(Mutant::kFilterCommitsUnsynced)) return Status::OK();
  for (const ChangedValues::Made& made : filter->changed().files()) {
    CAMBIUM_RETURN_IF_ERROR(Judge(made.file->SyncData()));
  }
  return Status::OK();
}

// commit_mutex_ held; the record that names them is durable.
void DbImpl::InstallChanged(FilterJob* filter, View* view) {
  for (ChangedValues::Made& made : filter->changed().files()) {
    const FileKind kind = FileKindOf(made.info.kind);
    auto segment = std::make_shared<Segment>(made.info.number, made.info.slot, FilePath(path_, kind, made.info.number),
                                             std::move(made.file), made.header,
                                             [this](const std::string& gone) { obsolete_.Add(gone); });
    if (options_.allow_mmap_reads && kind == FileKind::kRelocation) {
      segment->AllowMap(made.info.sealed_length);
      segment->map()->Complete(made.info.sealed_length);
    }
    view->segments = view->segments.With(made.info.slot, std::move(segment));
  }
}

// Files that no record names go at once; if that fails, they are orphans, which the next opening removes. After a
// failed sync nothing goes: that is for the next opening too.
void DbImpl::EndFilterJob(FilterJob* filter, const Status& done,
                          std::map<std::uint64_t, BlobFileCreation>* creations) {
  std::vector<ChangedValues::Made>& files = filter->changed().files();
  if (files.empty()) return;
  for (ChangedValues::Made& made : files) {
    const auto creation = creations->find(made.info.number);
    if (creation != creations->end()) creation->second.Done(done, done.ok() ? made.info.file_size : 0);
    if (filter->is_named || done.severity() == Status::Severity::kFatal) continue;
    made.file.reset();
    static_cast<void>(Unlink(FileKindOf(made.info.kind), made.info.number));
  }
  const std::lock_guard lock(commit_mutex_);
  for (const ChangedValues::Made& made : files) reserved_slots_.erase(made.info.slot);
}

// What log GC has put on top while a merge for `request` was on its way may be what the filter has decided about, in
// another place. A request for it, or none if there is no such run; `asked` are those of earlier requests.
std::optional<CompactionRequest> DbImpl::RequestForMoved(const Family& family, const CompactionRequest& request,
                                                    std::set<std::uint64_t>* asked) const {
  const std::shared_ptr<const Layers> layers = LayersOf(family);
  if (layers == nullptr || MutantIs(Mutant::kFilterForgetsMoved)) return std::nullopt;
  asked->insert(request.runs.begin(), request.runs.end());
  CompactionRequest moved;
  moved.begin = request.begin;
  moved.end = request.end;
  moved.asks_filter = moved.only_runs = true;
  for (const auto& run : layers->runs()) {
    const bool is_moved = run->info().kind == RunKind::kRelocation;
    if (is_moved && !asked->contains(run->number())) moved.runs.push_back(run->number());
  }
  return moved.runs.empty() ? std::nullopt : std::optional(std::move(moved));
}

}  // namespace cambium
