#include "api/opener.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <string>
#include <utility>

#include "api/file_logger.h"
#include "api/prepared_family.h"
#include "io/at_directory.h"
#include "io/file_header.h"
#include "io/pooled_file_system.h"
#include "io/parent_path.h"
#include "manifest/features.h"
#include "manifest/file_names.h"
#include "memtable/write_budget.h"
#include "options/options_check.h"
#include "recovery/open_files.h"
#include "util/mutant.h"

namespace cambium {
namespace {

const char* NameOf(IndexType type) { return type == IndexType::kLsm ? "kLsm" : "kBTree"; }

// Only in a mutant: starts a new LOG before it is known that this version may write to the database.
void StartLogTooEarly(const DbContext& db) {
  if (MutantIs(Mutant::kWriteBeforeVersionCheck)) static_cast<void>(NewFileLogger(db.fs, db.options.clock, db.path));
}

}  // namespace

const ColumnFamilyDescriptor& DefaultDescriptor(const std::vector<ColumnFamilyDescriptor>& families) {
  const auto found = std::ranges::find(families, kDefaultColumnFamilyName, &ColumnFamilyDescriptor::name);
  assert(found != families.end() && "CheckDescriptors has refused such families");
  return *found;
}

Status CheckDescriptors(const std::vector<ColumnFamilyDescriptor>& families) {
  std::set<std::string> names;
  for (const ColumnFamilyDescriptor& family : families) {
    CAMBIUM_RETURN_IF_ERROR(CheckFamilyName(family.name));
    if (!names.insert(family.name).second) {
      return Status::InvalidArgument("column family \"" + family.name + "\" is named twice");
    }
    CAMBIUM_RETURN_IF_ERROR(
        CheckColumnFamilyOptions(family.options).WithContext("column family \"" + family.name + "\""));
  }
  if (!names.contains(kDefaultColumnFamilyName)) {
    return Status::InvalidArgument("column family \"" + kDefaultColumnFamilyName + "\" is not named");
  }
  const std::uint64_t blob_file_size = DefaultDescriptor(families).options.blob_file_size;
  for (const ColumnFamilyDescriptor& family : families) {
    if (family.options.blob_file_size == blob_file_size) continue;
    return Status::InvalidArgument("column family \"" + family.name + "\": blob_file_size is " +
                                   std::to_string(family.options.blob_file_size) +
                                   "; all column families share one log, and the default one has " +
                                   std::to_string(blob_file_size));
  }
  return Status::OK();
}

Opener::Opener(DbState* state, Upkeep* upkeep, Families* families, const std::vector<ColumnFamilyDescriptor>& wanted)
    : state_(*state),
      db_(state->context),
      commits_(state->commits),
      upkeep_(*upkeep),
      families_(*families),
      wanted_(wanted) {
  for (const ColumnFamilyDescriptor& each : wanted_) wanted_by_name_.emplace(each.name, &each);
}

const ColumnFamilyDescriptor* Opener::WantedAs(const std::string& name) const {
  const auto found = wanted_by_name_.find(name);
  return found == wanted_by_name_.end() ? nullptr : found->second;
}

Status Opener::Open(std::unique_ptr<FileLock>* lock) {
  assert(*lock == nullptr && state_.head.log() == nullptr && "a database is opened once");
  if (db_.budget != nullptr && !db_.budget->IsOfThisProcess()) {
    return Status::NotSupported("a write_buffer_manager cannot be used in a forked child");
  }
  bool is_new = false;
  CAMBIUM_RETURN_IF_ERROR(EnterDirectory(&is_new));
  CAMBIUM_RETURN_IF_ERROR(Lock(lock));
  ManifestState state;
  std::uint64_t largest_number = 0;
  CAMBIUM_RETURN_IF_ERROR(ReadState(is_new, &state, &largest_number));
  return Recover(std::move(state), largest_number);
}

// ---- Directory and MANIFEST ----

Status Opener::EnterDirectory(bool* is_new) {
  FileInfo info;
  const Status found = db_.fs->GetInfo(db_.path, &info);
  if (found.IsPathNotFound()) {
    if (!db_.options.create_if_missing || db_.read_only) {
      return Status::InvalidArgument(db_.path + ": does not exist (create_if_missing is off)");
    }
    *is_new = true;
    CAMBIUM_RETURN_IF_ERROR(CreateDirectory());
  } else {
    CAMBIUM_RETURN_IF_ERROR(found);
    if (!info.is_directory) return Status::InvalidArgument(db_.path + ": is not a directory");
  }
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> opened, AtDirectory(db_.fs, db_.path));
  follows_directory_ = opened != db_.fs;
  db_.fs = PoolFiles(opened, db_.options.max_open_files);
  return Status::OK();
}

Status Opener::CreateDirectory() {
  CAMBIUM_TRY(db_.fs, AtDirectory(db_.fs, ParentOf(db_.path)));  // the one whose names are synced
  CAMBIUM_RETURN_IF_ERROR(db_.fs->CreateDirectory(db_.path));
  const Status named = SyncParent(ParentOf(db_.path));
  // A name whose sync has failed cannot be made durable any more: the next Open must create the directory again.
  if (!named.ok()) static_cast<void>(db_.fs->RemoveDirectory(db_.path));
  return named;
}

Status Opener::Lock(std::unique_ptr<FileLock>* lock) {
  if (MutantIs(Mutant::kNoExclusiveLock)) return Status::OK();
  return db_.fs->Lock(db_.path, db_.read_only ? LockMode::kShared : LockMode::kExclusive, db_.options.lock_wait_micros,
                      lock);
}

Status Opener::SyncParent(const std::string& parent) const {
  return MutantIs(Mutant::kSkipParentSync) ? Status::OK() : db_.fs->SyncDirectory(parent);
}

Status Opener::ReadState(bool is_new, ManifestState* state, std::uint64_t* largest_number) {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(*db_.fs, db_.path));
  StartLogTooEarly(db_);
  Result<ManifestRead> read = ReadManifest(*db_.fs, db_.path);
  const bool none = !read.ok() && read.status().IsNotFound();
  if (none && !files.empty() && !MutantIs(Mutant::kCreateOverExistingFiles)) {
    return Status::Corruption(db_.path + ": there are files of a database but no MANIFEST");
  }
  bool is_half_created = false;
  if (!read.ok() && read.status().IsCorruption() && !MutantIs(Mutant::kRefuseHalfCreated)) {
    CAMBIUM_TRY(is_half_created, IsHalfCreated(*db_.fs, db_.path));
  }
  if (none || is_half_created) {
    if (!db_.options.create_if_missing || db_.read_only) {
      return Status::InvalidArgument(db_.path + ": holds no database (create_if_missing is off)");
    }
    // If the directory existed before, its name may not be durable: its creator may have been killed before the sync.
    // The directory above is asked for by "..", since the path may lead elsewhere now; a file system that cannot open
    // directories may not know "..".
    if (!is_new) CAMBIUM_RETURN_IF_ERROR(SyncParent(follows_directory_ ? db_.path + "/.." : ParentOf(db_.path)));
    *largest_number = LargestNumber(files);
    return BeginState(state);
  }
  if (!read.ok()) return std::move(read).status();
  const std::uint32_t unknown = read->header.optional_features & ~kKnownOptionalFeatures;
  if (!db_.read_only && unknown != 0) {
    return Status::NotSupported(db_.path + ": was written with optional features " + std::to_string(unknown) +
                                " that this version does not know; it can be opened for reading only");
  }
  if (db_.options.error_if_exists) {
    return Status::InvalidArgument(db_.path + ": a database exists (error_if_exists is on)");
  }
  NamePreparedFamily(read->state);
  CAMBIUM_RETURN_IF_ERROR(CheckIdentity(read->state));
  *largest_number = MutantIs(Mutant::kReuseFileNumbers) ? read->number : LargestNumber(files);
  *state = std::move(read->state);
  return Status::OK();
}

// Begins the state of a new database: an id, and the default family.
Status Opener::BeginState(ManifestState* state) const {
  assert(!db_.read_only && state->families.empty() && state->segments.empty());
  db_.options.random_source->Fill(reinterpret_cast<char*>(state->database_id.data()), state->database_id.size());
  const ColumnFamilyOptions& options = DefaultDescriptor(wanted_).options;
  FamilyState family;
  family.name = kDefaultColumnFamilyName;
  family.index_type = static_cast<IndexType>(options.index_type);
  family.comparator = options.comparator->Name();
  family.page_size = options.page_size;
  state->families[0] = family;
  return CheckWanted(*state);
}

void Opener::NamePreparedFamily(const ManifestState& state) {
  for (const auto& [id, family] : state.families) {
    if (family.name != kPreparedFamilyName || WantedAs(family.name) != nullptr) continue;
    prepared_ = {family.name, OptionsOfPreparedFamily(DefaultDescriptor(wanted_).options)};
    prepared_.options.index_type = static_cast<IndexKind>(family.index_type);
    wanted_by_name_.emplace(prepared_.name, &prepared_);
  }
}

Status Opener::CheckIdentity(const ManifestState& state) const {
  CAMBIUM_RETURN_IF_ERROR(CheckDefaultFamily(db_.path, state));
  for (const auto& [id, family] : state.families) {
    const ColumnFamilyDescriptor* const wanted = WantedAs(family.name);
    if (wanted == nullptr) continue;
    const std::string where = db_.path + (id == 0 ? "" : ": column family \"" + family.name + "\"");
    if (family.comparator != wanted->options.comparator->Name()) {
      return Status::InvalidArgument(where + ": keys are ordered by comparator \"" + family.comparator +
                                     "\", and the options give \"" + wanted->options.comparator->Name() + "\"");
    }
    if (family.index_type != static_cast<IndexType>(wanted->options.index_type)) {
      return Status::InvalidArgument(where + ": index_type is " + NameOf(family.index_type) +
                                     ", and the options give " +
                                     NameOf(static_cast<IndexType>(wanted->options.index_type)));
    }
  }
  return CheckWanted(state);
}

Status Opener::CheckWanted(const ManifestState& state) const {
  std::string unnamed;
  std::set<std::string> names;
  for (const auto& [id, family] : state.families) {
    names.insert(family.name);
    if (WantedAs(family.name) == nullptr) unnamed += (unnamed.empty() ? "\"" : ", \"") + family.name + "\"";
  }
  // A writer flushes every family, so it needs the options of each.
  if (!unnamed.empty() && !db_.read_only) {
    return Status::InvalidArgument(db_.path + ": column families that exist and are not named: " + unnamed);
  }
  for (const ColumnFamilyDescriptor& wanted : wanted_) {
    if (names.contains(wanted.name) || (db_.options.create_missing_column_families && !db_.read_only)) continue;
    return Status::InvalidArgument(db_.path + ": there is no column family \"" + wanted.name +
                                   "\" (create_missing_column_families is off)");
  }
  return Status::OK();
}

}  // namespace cambium
