// The commit point and what every job brings to it: new files and their names, slots of segments, layers.
#include <algorithm>

#include "api/db_impl.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/mutant.h"

namespace cambium {

Status DbImpl::CommitEdit(Edit* edit) {
  CAMBIUM_RETURN_IF_ERROR(Health());
  std::uint64_t roll_number = 0;
  if (manifest_->WillRoll()) roll_number = next_file_number_++;
  edit->next_file_number = next_file_number_;
  if (log_ != nullptr && log_->durable_sequence() > manifest_->state().durable_sequence) {
    edit->durable_sequence = log_->durable_sequence();
  }
  // What it names for the first time.
  std::vector<std::string> named;
  const auto name = [&](FileKind kind, std::uint64_t number) {
    obsolete_.Keep(number);
    named.push_back(FilePath(path_, kind, number));
  };
  for (const SegmentInfo& segment : edit->set_segments) {
    if (manifest_->state().segments.contains(segment.number)) continue;
    name(FileKindOf(segment.kind), segment.number);
  }
  for (const FamilyEdit& family : edit->families) {
    for (const RunInfo& run : family.add_runs) name(FileKind::kRun, run.number);
    for (const IndexSegmentInfo& segment : family.set_index_segments) {
      const auto known = manifest_->state().families.find(family.id);
      if (known != manifest_->state().families.end() && known->second.index_segments.contains(segment.number)) continue;
      name(FileKind::kIndex, segment.number);
    }
  }
  const Status committed = [&] {
    const Stopwatch watch(&meter_, MANIFEST_COMMIT_MICROS);
    return manifest_->Commit(*edit, roll_number);
  }();
  if (committed.ok()) {
    for (const std::string& gone : std::exchange(in_doubt_, {})) obsolete_.Add(gone);
  } else if (committed.severity() == Status::Severity::kFatal) {
    SetFatal(committed, BackgroundErrorReason::kManifestWrite);
  } else {
    if (committed.IsNoSpace()) full_disk_.commit_failed.store(true, std::memory_order_relaxed);
    in_doubt_.insert(in_doubt_.end(), named.begin(), named.end());
  }
  return committed;
}

Result<Slot> DbImpl::FreeSlot() const {
  if (MutantIs(Mutant::kNeverReuseSlots)) return static_cast<Slot>(next_file_number_);
  std::vector<bool> taken;
  const auto take = [&taken](Slot slot) {
    const auto index = static_cast<std::size_t>(slot);
    if (index >= taken.size()) taken.resize(index + 1);
    taken[index] = true;
  };
  for (const auto& [number, segment] : manifest_->state().segments) take(segment.slot);
  for (const Slot slot : manifest_->state().shadowed_slots) take(slot);
  for (const Slot slot : reserved_slots_) take(slot);
  if (!MutantIs(Mutant::kGcLetsSlotsGo)) {
    for (const Slot slot : held_slots_) take(slot);
  }
  const auto free = std::find(taken.begin(), taken.end(), false) - taken.begin();
  if (free >= static_cast<std::ptrdiff_t>(kSlotCountMax)) {
    return Status::NoSpace(path_ + ": all " + std::to_string(kSlotCountMax) + " segment slots are in use");
  }
  return static_cast<Slot>(free);
}

Status DbImpl::Unlink(FileKind kind, std::uint64_t number) {
  const Status removed = fs_->Unlink(FilePath(path_, kind, number));
  if (removed.ok()) events_.Deleted(path_, {kind, number});
  return removed;
}

Result<NewIndexFile> DbImpl::MakeIndexFile(FileKind kind, std::uint64_t page_size, TableFiles* files) {
  NewIndexFile made;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(commit_mutex_);
    number = next_file_number_++;
  }
  made.header = HeaderFor(kind, number, page_size);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(FilePath(path_, kind, number), OpenMode::kCreateNew, {}, &file));
  if (files != nullptr) files->Begin(file->path(), number);
  made.file = obsolete_.Track(number, std::move(file), false);
  events_.Deliver();
  return made;
}

Status DbImpl::SyncDirectory() {
  if (MutantIs(Mutant::kSkipDirectorySync)) return Status::OK();
  const Status named = fs_->SyncDirectory(path_);
  return named.ok() || named.IsBusy() ? named : named.Fatal();
}

Status DbImpl::SyncValues(File* file) const {
  const Stopwatch watch(&meter_, BLOB_DB_BLOB_FILE_SYNC_MICROS);
  meter_.Tick(BLOB_DB_BLOB_FILE_SYNCED);
  return file->SyncData();
}

void DbImpl::SetLayers(FamilyView* view, std::shared_ptr<const Layers> layers) {
  view->family->run_count.store(layers->runs().size(), std::memory_order_relaxed);
  view->layers = std::move(layers);
}

std::shared_ptr<const Layers> DbImpl::LayersOf(const Family& family) const {
  const std::shared_ptr<const View> view = view_.Pin();
  const FamilyView* const found = view == nullptr ? nullptr : view->Find(family.id);
  return found == nullptr ? nullptr : found->layers;
}

}  // namespace cambium
