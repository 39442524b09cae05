#include "backup/backup_directory.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/lock_file_name.h"
#include "io/whole_file.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::string_view kUnfinished = ".unfinished";  // ends the name of a record that is being written
constexpr std::string_view kFiles = "files";
constexpr std::string_view kStaging = "staging";

bool IsUnfinishedRecord(const std::string& name) {
  return name.ends_with(kUnfinished) && ParseBackupRecordName(name.substr(0, name.size() - kUnfinished.size())) != 0;
}

// Whether this is the name of a MANIFEST, of an OPTIONS file, or of a temporary file.
bool IsStagedName(const std::string& name) {
  const std::optional<NumberedFile> file = ParseFileName(name);
  return file.has_value() && (file->kind == FileKind::kManifest || file->kind == FileKind::kOptions ||
                              file->kind == FileKind::kTemporary);
}

// Returns the first name in a directory that `is_ours` rejects, or "". The directory need not exist.
Result<std::string> FirstForeign(FileSystem& fs, const std::string& directory, bool (*is_ours)(const std::string&)) {
  std::vector<std::string> names;
  const Status listed = fs.List(directory, &names);
  if (listed.IsPathNotFound()) return std::string();
  CAMBIUM_RETURN_IF_ERROR(listed);
  const auto foreign = std::ranges::find_if_not(names, is_ours);
  return foreign == names.end() ? std::string() : *foreign;
}

}  // namespace

Status BackupDirectory::Check(bool may_be_new) const {
  std::vector<std::string> names;
  CAMBIUM_RETURN_IF_ERROR(fs_->List(path_, &names));
  const auto refuse = [this](const std::string& why) {
    return Status::InvalidArgument(path_ + ": is not a directory of backups: it holds " + why);
  };
  bool has_record = false;
  bool has_lock = false;
  bool has_files = false;
  std::string foreign;
  for (const std::string& name : names) {
    if (name != kLockFileName && ParseFileName(name).has_value()) return refuse(name + ", which belongs to a database");
    const bool is_record = ParseBackupRecordName(name) != 0 || IsUnfinishedRecord(name);
    has_record = has_record || is_record;
    has_lock = has_lock || name == kLockFileName;
    has_files = has_files || name == kFiles;
    if (!is_record && name != kLockFileName && name != kFiles && name != kStaging) foreign = name;
  }
  if (has_record) return Status::OK();
  if (!foreign.empty()) return refuse(foreign + ", and no backup");
  if (!has_files && names.size() == (has_lock ? 1 : 0)) {
    return may_be_new ? Status::OK() : refuse("no backup");
  }
  if (!has_lock || !has_files) return refuse("no backup, and not the files that an engine makes");
  CAMBIUM_TRY(foreign, FirstForeign(*fs_, FilesPath(), IsStoredName));
  if (!foreign.empty()) return refuse(std::string(kFiles) + "/" + foreign + ", and no backup");
  CAMBIUM_TRY(foreign, FirstForeign(*fs_, StagingPath(), IsStagedName));
  return foreign.empty() ? Status::OK() : refuse(std::string(kStaging) + "/" + foreign + ", and no backup");
}

Status BackupDirectory::ReadRecord(BackupID id) {
  const std::string path = path_ + "/" + BackupRecordName(id);
  Result<std::string> bytes = ReadWholeFile(*fs_, path, kBackupRecordSizeMax);
  if (!bytes.ok() && !bytes.status().IsCorruption()) return bytes.status();
  Result<BackupRecord> record = bytes.ok() ? DecodeBackupRecord(*bytes, id, path) : bytes.status();
  if (record.status().IsNotSupported()) return record.status();
  if (record.ok()) {
    records_.emplace(id, std::move(*record));
  } else {
    damaged_.insert(id);
  }
  return Status::OK();
}

Status BackupDirectory::Load() {
  records_.clear();
  damaged_.clear();
  std::vector<std::string> names;
  CAMBIUM_RETURN_IF_ERROR(fs_->List(path_, &names));
  for (const std::string& name : names) {
    if (const BackupID id = ParseBackupRecordName(name); id != 0) CAMBIUM_RETURN_IF_ERROR(ReadRecord(id));
  }
  return Status::OK();
}

Status BackupDirectory::Add(BackupRecord record) {
  assert(record.id != 0 && !records_.contains(record.id) && !damaged_.contains(record.id));
  const std::string path = path_ + "/" + BackupRecordName(record.id);
  const std::string unfinished = path + std::string(kUnfinished);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(unfinished, OpenMode::kCreateNew, {}, &file));
  Status s = file->Write(0, EncodeBackupRecord(record));
  if (s.ok()) s = file->Sync();
  file.reset();
  // Once the record has its name, it must be in records_: otherwise RemoveUnneeded would remove its files. So all
  // memory is taken before the rename, and adding it to records_ cannot throw.
  std::map<BackupID, BackupRecord> added;
  const BackupID id = record.id;
  added.emplace(id, std::move(record));
  bool is_named = false;
  if (s.ok()) {
    s = fs_->Rename(unfinished, path);
    is_named = s.ok();
  }
  if (is_named) records_.merge(added);
  assert(!is_named || added.empty());
  if (s.ok()) s = fs_->SyncDirectory(path_);
  if (s.ok()) return s;
  const Status gone = fs_->Unlink(is_named ? path : unfinished);
  if (is_named && gone.ok()) records_.erase(id);
  return s;
}

Status BackupDirectory::CheckExists(BackupID id) const {
  if (records_.contains(id) || damaged_.contains(id)) return Status::OK();
  return Status::NotFound(path_ + ": there is no backup " + std::to_string(id));
}

Status BackupDirectory::Remove(BackupID id) {
  CAMBIUM_RETURN_IF_ERROR(CheckExists(id));
  const Status gone = fs_->Unlink(path_ + "/" + BackupRecordName(id));
  if (!gone.ok() && !gone.IsPathNotFound()) return gone;
  // Sync before any stored file is removed: a crash must not leave a backup that lacks files.
  if (!MutantIs(Mutant::kBackupDeletesFilesFirst)) CAMBIUM_RETURN_IF_ERROR(fs_->SyncDirectory(path_));
  records_.erase(id);
  damaged_.erase(id);
  return Status::OK();
}

Status BackupDirectory::RemoveStaging() {
  std::vector<std::string> names;
  const Status listed = fs_->List(StagingPath(), &names);
  if (listed.IsPathNotFound()) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(listed);
  bool is_empty = true;
  for (const std::string& name : names) {
    if (!IsStagedName(name)) {
      is_empty = false;  // not an engine's: keep it
      continue;
    }
    CAMBIUM_RETURN_IF_ERROR(fs_->Unlink(StagingPath() + "/" + name));
  }
  return is_empty ? fs_->RemoveDirectory(StagingPath()) : Status::OK();
}

Status BackupDirectory::RemoveUnneeded() {
  std::vector<std::string> names;
  CAMBIUM_RETURN_IF_ERROR(fs_->List(path_, &names));
  for (const std::string& name : names) {
    if (IsUnfinishedRecord(name)) CAMBIUM_RETURN_IF_ERROR(fs_->Unlink(path_ + "/" + name));
  }
  CAMBIUM_RETURN_IF_ERROR(RemoveStaging());
  if (!damaged_.empty()) return Status::OK();
  std::set<std::string> needed;
  for (const auto& [id, record] : records_) {
    for (const BackupFile& file : record.files) needed.insert(file.stored);
  }
  names.clear();
  CAMBIUM_RETURN_IF_ERROR(fs_->List(FilesPath(), &names));
  for (const std::string& name : names) {
    if (!needed.contains(name) && IsStoredName(name)) CAMBIUM_RETURN_IF_ERROR(fs_->Unlink(StoredPath(name)));
  }
  return Status::OK();
}

BackupID BackupDirectory::NewestId() const {
  const BackupID whole = records_.empty() ? 0 : records_.rbegin()->first;
  return std::max(whole, damaged_.empty() ? 0 : *damaged_.rbegin());
}

Result<BackupID> BackupDirectory::NextId() const {
  const BackupID last = NewestId();
  if (last < std::numeric_limits<BackupID>::max()) return last + 1;
  return Status::InvalidArgument(path_ + ": backup " + std::to_string(last) + " has the last number; remove it first");
}

std::set<std::string> BackupDirectory::CheckedFiles() const {
  std::set<std::string> checked;
  for (const auto& [id, record] : records_) {
    if (!record.is_checked) continue;
    for (const BackupFile& file : record.files) checked.insert(file.stored);
  }
  return checked;
}

namespace {

// Every punched value of the stored file must be punched or cut off in `file` too, and everything below the cut of the
// stored file must be cut off in `file`. The stored file may come from a copy of the database, in which other values
// died.
bool HasOnlyHolesOf(const CapturedFile& file, const BackupFile& known) {
  if (!known.knows_punched || known.cut > file.cut) return false;
  const auto above = std::ranges::lower_bound(known.punched, file.cut);
  return std::ranges::includes(file.punched.begin(), file.punched.end(), above, known.punched.end());
}

}  // namespace

const BackupFile* BackupDirectory::Find(const CapturedFile& file,
                                        const std::function<bool(const BackupFile&)>& is_wanted) const {
  const BackupFile* best = nullptr;
  for (const auto& [id, record] : records_) {
    for (const BackupFile& known : record.files) {
      if (!IsStoredNameOf(known.stored, file.file_id, file.length, file.name.kind)) continue;
      if (!HasOnlyHolesOf(file, known) && !MutantIs(Mutant::kBackupSharesOthersHoles)) continue;
      const auto holes = [](const BackupFile& each) { return std::pair(each.cut, each.punched.size()); };
      if (best != nullptr && holes(*best) >= holes(known)) continue;
      if (known.length == file.length && is_wanted(known)) best = &known;
    }
  }
  return best;
}

}  // namespace cambium
