// Column families: making, dropping, finding them, and what they have in common: the replay position of the log.
#include <algorithm>
#include <iterator>

#include "api/db_impl.h"
#include "recovery/open_layers.h"
#include "options/options_check.h"
#include "manifest/manifest_reader.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

Result<Family*> DbImpl::FamilyOf(ColumnFamilyHandle* handle) const {
  // Only this library makes handles, so the cast is safe.
  const auto* const ours = static_cast<const FamilyHandle*>(handle);
  if (ours == nullptr) return Status::InvalidArgument("the column family handle is null");
  if (ours->database() != this) {
    return Status::InvalidArgument("the handle of column family \"" + ours->GetName() + "\" is of another database");
  }
  return ours->family().get();
}

std::shared_ptr<Family> DbImpl::FindFamily(std::uint32_t id) const {
  const std::shared_ptr<const View> view = view_.Pin();
  const FamilyView* const found = view == nullptr ? nullptr : view->Find(id);
  return found == nullptr ? nullptr : found->family;
}

Status DbImpl::CheckFamilyOptions(const ColumnFamilyOptions& options) const {
  CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(options));
  if (options.blob_file_size == blob_file_size_) return Status::OK();
  return Status::InvalidArgument("blob_file_size is " + std::to_string(options.blob_file_size) +
                                 "; the log is one for all column families, and the default one has " +
                                 std::to_string(blob_file_size_));
}

Status DbImpl::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) {
  const Delivery delivery(&events_);
  *handle = nullptr;
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  CAMBIUM_RETURN_IF_ERROR(CheckFamilyName(name));
  const std::lock_guard one_at_a_time(families_mutex_);
  CAMBIUM_RETURN_IF_ERROR(CheckFamilyOptions(options).WithContext("column family \"" + name + "\""));
  CAMBIUM_TRY(std::shared_ptr<Family> family, MakeFamily(options, name));
  PersistFamilies();
  *handle = new FamilyHandle(this, std::move(family));
  return Status::OK();
}

Result<std::shared_ptr<Family>> DbImpl::MakeFamily(const ColumnFamilyOptions& options, const std::string& name) {
  std::shared_ptr<Family> family;
  {
    const std::lock_guard lock(commit_mutex_);
    const ManifestState& state = manifest_->state();
    for (const auto& [id, other] : state.families) {
      if (other.name == name) return Status::InvalidArgument("column family \"" + name + "\" exists");
    }
    if (state.families.size() >= kMaxFamilies || state.next_family_id == 0xffffffffu) {
      return Status::InvalidArgument("there are " + std::to_string(state.families.size()) +
                                     " column families, and no more can be made");
    }
    FamilyState made;
    made.id = state.next_family_id;
    made.name = name;
    made.index_type = static_cast<IndexType>(options.index_type);
    made.comparator = options.comparator->Name();
    made.page_size = options.page_size;

    family = std::make_shared<Family>(made.id, name, options);
    family->index = MakeIndex(family.get());
    CAMBIUM_TRY(std::shared_ptr<const Layers> layers, OpenLayers(made, family->options().comparator, pool_.get(), {}));

    Edit edit;
    edit.next_family_id = made.id + 1;
    FamilyEdit creation;
    creation.id = made.id;
    creation.create = {made.name, made.index_type, made.comparator, made.page_size};
    edit.families.push_back(std::move(creation));
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    AddFamily(family, std::move(layers));
  }
  EpochCollect();
  return family;
}

void DbImpl::AddFamily(const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers) {
  view_.Update([&](View* view) {
    view->families.push_back({family, family->active, {}, nullptr});
    SetLayers(&view->families.back(), std::move(layers));
  });
  const std::lock_guard lock(background_mutex_);
  families_.push_back(family);
}

// A record whose write failed may be in the MANIFEST all the same, and be found there after a crash. What it would drop
// may not be acknowledged before another MANIFEST, without it, is the current one.
Status DbImpl::SettleDrop(Family* family) {
  Edit nothing;
  CAMBIUM_RETURN_IF_ERROR(CommitEdit(&nothing));
  family->drop_in_doubt.store(false, std::memory_order_relaxed);
  return Status::OK();
}

// The log still holds its operations, which recovery skips as soon as the family is gone from the MANIFEST.
Status DbImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  CAMBIUM_TRY(Family* const family, FamilyOf(handle));
  if (family->id == 0) return Status::InvalidArgument("the default column family cannot be dropped");
  const std::lock_guard one_at_a_time(families_mutex_);
  std::vector<NumberedFile> files;
  {
    // With both locks held no batch and no commit is under way that may still think the family lives.
    const std::lock_guard append_lock(append_mutex_);
    const std::lock_guard lock(commit_mutex_);
    if (family->dropped.load(std::memory_order_relaxed)) {
      return Status::ColumnFamilyDropped("column family \"" + family->name + "\" was dropped before");
    }
    Edit edit;
    edit.drop_families.push_back(family->id);
    if (const Status committed = CommitEdit(&edit); !committed.ok()) {
      family->drop_in_doubt.store(!MutantIs(Mutant::kDropStaysInDoubt), std::memory_order_relaxed);
      return committed;
    }
    family->dropped.store(true, std::memory_order_release);
    std::shared_ptr<Family> kept;
    view_.Update([&](View* view) {
      const auto found = std::ranges::find(view->families, family->id, [](const FamilyView& f) { return f.family->id; });
      kept = found->family;
      found->layers->AppendFiles(&files);
      view->families.erase(found);
    });
    const std::lock_guard background_lock(background_mutex_);
    std::erase(families_, kept);
    dropped_families_.push_back(std::move(kept));
    background_changed_.notify_all();
  }
  for (const NumberedFile& file : files) obsolete_.MakeObsolete(file.number);
  PersistFamilies();
  // Its space comes back when its segments go; that is no reason to say that it was not dropped.
  Status cleaned = AdvanceReplay();
  if (cleaned.ok()) cleaned = DropUnreferenced();
  EpochCollect();
  LetGoOfDropped();
  if (cleaned.severity() == Status::Severity::kFatal) {
    SetFatal(cleaned);
  } else if (!cleaned.ok()) {
    logger_->Log(InfoLogLevel::kWarn, "giving back the space of a column family: " + cleaned.ToString());
  }
  return Status::OK();
}

void DbImpl::LetGoOfDropped() {
  std::vector<std::shared_ptr<Family>> unused;  // goes after the lock: the files that go with it schedule a job
  const std::lock_guard lock(background_mutex_);
  const auto first = std::partition(dropped_families_.begin(), dropped_families_.end(),
                                    [](const std::shared_ptr<Family>& family) { return family.use_count() > 1; });
  std::move(first, dropped_families_.end(), std::back_inserter(unused));
  dropped_families_.erase(first, dropped_families_.end());
}

Status DbImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* family) {
  CAMBIUM_RETURN_IF_ERROR(FamilyOf(family).status());
  if (family == default_handle_.get()) {
    return Status::InvalidArgument("the handle of DefaultColumnFamily() belongs to the database");
  }
  delete family;
  LetGoOfDropped();
  return Status::OK();
}

Status DB::CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                                std::vector<ColumnFamilyHandle*>* handles) {
  handles->clear();
  for (const std::string& name : names) {
    ColumnFamilyHandle* handle = nullptr;
    CAMBIUM_RETURN_IF_ERROR(CreateColumnFamily(options, name, &handle));
    handles->push_back(handle);
  }
  return Status::OK();
}

Status DB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* const family : families) CAMBIUM_RETURN_IF_ERROR(DropColumnFamily(family));
  return Status::OK();
}

Status DB::ListColumnFamilies(const DBOptions& options, const std::string& path, std::vector<std::string>* names) {
  names->clear();
  const std::shared_ptr<FileSystem> fs =
      options.file_system != nullptr ? options.file_system : FileSystem::Default();
  // Whoever has the database open may start another MANIFEST and remove the one that is being read.
  constexpr int kTries = 8;
  Result<ManifestRead> read = ReadManifest(*fs, path);
  for (int i = 1; i < kTries && !read.ok() && !read.status().IsNotSupported(); ++i) read = ReadManifest(*fs, path);
  if (!read.ok() && (read.status().IsNotFound() || read.status().IsPathNotFound())) {
    return Status::InvalidArgument(path + ": holds no database");
  }
  CAMBIUM_RETURN_IF_ERROR(read.status());
  for (const auto& [id, family] : read->state.families) names->push_back(family.name);
  return Status::OK();
}

LogPlace DbImpl::OldestUnflushed(const View& view, const LogTable* flushed, const LogPlace& end) {
  LogPlace oldest = end;
  const auto look_at = [&](const LogTable& table) {
    if (&table == flushed || !table.started()) return;
    const LogPlace begin = table.begin();
    if (begin.position < oldest.position) oldest = begin;
  };
  for (const FamilyView& family : view.families) {
    if (MutantIs(Mutant::kReplayFromFlushed)) break;
    for (const FrozenTable& frozen : family.frozen) look_at(*frozen.table);
    look_at(*family.active);
  }
  return oldest;
}

Status DbImpl::AdvanceReplay() {
  LogPlace end;
  std::shared_ptr<const View> view;
  {
    const std::lock_guard lock(append_mutex_);
    end = {log_end_, published_.load(std::memory_order_relaxed)};
    view = view_.Pin();
  }
  const LogPlace replay = OldestUnflushed(*view, nullptr, end);
  // The MANIFEST must not point behind what a power cut leaves of the log.
  CAMBIUM_RETURN_IF_ERROR(log_->SyncUpTo(replay.sequence));
  const std::lock_guard lock(commit_mutex_);
  if (replay.position <= manifest_->state().replay) return Status::OK();
  Edit edit;
  edit.replay = replay.position;
  edit.replay_sequence = replay.sequence;
  return CommitEdit(&edit);
}

}  // namespace cambium
