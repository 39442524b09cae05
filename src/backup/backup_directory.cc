#include "backup/backup_directory.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "io/whole_file.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr const char* kUnfinished = ".unfinished";  // behind the name of a record that is being written

}  // namespace

Status BackupDirectory::ReadRecord(BackupID id) {
  const std::string path = path_ + "/" + BackupRecordName(id);
  Result<std::string> bytes = ReadWholeFile(*fs_, path, kBackupRecordSizeMax);
  if (!bytes.ok() && !bytes.status().IsCorruption()) return bytes.status();
  Result<BackupRecord> record = bytes.ok() ? DecodeBackupRecord(*bytes, id, path) : bytes.status();
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
    if (ParseFileName(name).has_value()) {
      return Status::InvalidArgument(path_ + ": is no directory of backups: it holds " + name + ", of a database");
    }
  }
  for (const std::string& name : names) {
    if (const BackupID id = ParseBackupRecordName(name); id != 0) CAMBIUM_RETURN_IF_ERROR(ReadRecord(id));
  }
  return Status::OK();
}

Status BackupDirectory::Add(BackupRecord record) {
  const std::string path = path_ + "/" + BackupRecordName(record.id);
  const std::string unfinished = path + kUnfinished;
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(unfinished, OpenMode::kCreateNew, {}, &file));
  Status s = file->Write(0, EncodeBackupRecord(record));
  if (s.ok()) s = file->Sync();
  file.reset();
  bool is_named = false;
  if (s.ok()) {
    s = fs_->Rename(unfinished, path);
    is_named = s.ok();
  }
  if (s.ok()) s = fs_->SyncDirectory(path_);
  if (!s.ok()) {
    static_cast<void>(fs_->Unlink(is_named ? path : unfinished));
    return s;
  }
  const BackupID id = record.id;
  records_.emplace(id, std::move(record));
  return Status::OK();
}

Status BackupDirectory::Remove(BackupID id) {
  if (!records_.contains(id) && !damaged_.contains(id)) {
    return Status::NotFound(path_ + ": there is no backup " + std::to_string(id));
  }
  const Status gone = fs_->Unlink(path_ + "/" + BackupRecordName(id));
  if (!gone.ok() && !gone.IsPathNotFound()) return gone;
  // Before any of its files goes: a cut must not leave a backup that lacks some.
  if (!MutantIs(Mutant::kBackupFilesGoFirst)) CAMBIUM_RETURN_IF_ERROR(fs_->SyncDirectory(path_));
  records_.erase(id);
  damaged_.erase(id);
  return Status::OK();
}

Status BackupDirectory::RemoveStaging() {
  std::vector<std::string> names;
  const Status listed = fs_->List(StagingPath(), &names);
  if (listed.IsPathNotFound()) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(listed);
  for (const std::string& name : names) CAMBIUM_RETURN_IF_ERROR(fs_->Unlink(StagingPath() + "/" + name));
  return fs_->RemoveDirectory(StagingPath());
}

Status BackupDirectory::RemoveUnneeded() {
  std::vector<std::string> names;
  CAMBIUM_RETURN_IF_ERROR(fs_->List(path_, &names));
  for (const std::string& name : names) {
    const std::size_t suffix = name.rfind(kUnfinished);
    const bool is_unfinished = suffix != std::string::npos && ParseBackupRecordName(name.substr(0, suffix)) != 0;
    if (is_unfinished) CAMBIUM_RETURN_IF_ERROR(fs_->Unlink(path_ + "/" + name));
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

BackupID BackupDirectory::NextId() const {
  const BackupID last = records_.empty() ? 0 : records_.rbegin()->first;
  return std::max(last, damaged_.empty() ? 0 : *damaged_.rbegin()) + 1;
}

const BackupFile* BackupDirectory::Find(const CapturedFile& file,
                                        const std::function<bool(const BackupFile&)>& is_wanted) const {
  const BackupFile* best = nullptr;
  for (const auto& [id, record] : records_) {
    for (const BackupFile& known : record.files) {
      if (!IsStoredNameOf(known.stored, file.file_id, file.length, file.name.kind)) continue;
      // Where the stored file may have a hole, nothing may be alive: a copy of the database has a history of its own.
      const bool has_all_alive = known.knows_punched && std::ranges::includes(file.punched, known.punched);
      if (!has_all_alive && !MutantIs(Mutant::kBackupSharesOthersHoles)) continue;
      if (best != nullptr && best->punched.size() >= known.punched.size()) continue;
      if (known.length == file.length && is_wanted(known)) best = &known;
    }
  }
  return best;
}

}  // namespace cambium
