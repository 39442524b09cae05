// A BackupDirectory reads and changes a directory of backups, and knows which of its files are needed.
//
//   000007.backup          the record of backup 7
//   files/<id>-<n>.log     n bytes of a final file, shared by all backups that have it. If values in it were punched,
//                          so that it may have holes, the name is <id>-<n>-<hash>.log
//   files/000007-x.log     of backup 7 alone: files that were not final, its MANIFEST and OPTIONS
//   staging/               MANIFEST and OPTIONS of a backup that is being made
//   LOCK                   locked by the engine that writes here
//
// Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "recovery/capture.h"
#include "backup/backup_record.h"
#include "cambium/file_system.h"
#include "util/result.h"

namespace cambium {

class BackupDirectory {
 public:
  BackupDirectory(FileSystem* fs, std::string path) : fs_(fs), path_(std::move(path)) {}

  // From now on uses `fs`, which must outlive this object.
  void SetFileSystem(FileSystem* fs) { fs_ = fs; }

  // Returns InvalidArgument unless this is a directory of backups: it has a record, or it has LOCK, files/ and
  // otherwise only files that an engine makes. If `may_be_new`, an empty directory is OK too. Reads names only; call it
  // before anything is written there.
  Status Check(bool may_be_new) const;
  // Reads all records. NotSupported if one is of a later version, which may have files that we do not know.
  Status Load();

  // Adds a record, durably. Its files and their names must be durable already. After an error there is no such record.
  Status Add(BackupRecord record);
  // NotFound if there is no record of this backup, readable or damaged.
  [[nodiscard]] Status CheckExists(BackupID id) const;
  // Removes a record, durably. NotFound if there is none.
  Status Remove(BackupID id);
  // Removes files that no record has, and remains of unfinished backups. Keeps all stored files if a record is damaged,
  // since that record may have them, and keeps files whose names no engine makes.
  Status RemoveUnneeded();

  [[nodiscard]] const std::map<BackupID, BackupRecord>& records() const { return records_; }
  [[nodiscard]] const std::set<BackupID>& damaged() const { return damaged_; }
  // InvalidArgument if there is a backup with the last number.
  [[nodiscard]] Result<BackupID> NextId() const;
  // The newest backup, readable or damaged; 0 if there is none.
  [[nodiscard]] BackupID NewestId() const;
  // The stored files whose contents were checked: those that a checked backup has.
  [[nodiscard]] std::set<std::string> CheckedFiles() const;
  // Returns a stored file that can stand for `file`, which must be final: one that `is_wanted` accepts and that has no
  // hole where `file` has a value. If there are several, returns the one with the most holes, since it takes the least
  // space. Null if there is none.
  [[nodiscard]] const BackupFile* Find(const CapturedFile& file,
                                       const std::function<bool(const BackupFile&)>& is_wanted) const;

  [[nodiscard]] std::string StoredPath(const std::string& stored) const { return FilesPath() + "/" + stored; }
  [[nodiscard]] std::string FilesPath() const { return path_ + "/files"; }
  [[nodiscard]] std::string StagingPath() const { return path_ + "/staging"; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Status ReadRecord(BackupID id);
  Status RemoveStaging();

  FileSystem* fs_;
  const std::string path_;
  std::map<BackupID, BackupRecord> records_;
  std::set<BackupID> damaged_;
};

}  // namespace cambium
