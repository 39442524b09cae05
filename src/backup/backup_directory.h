// BackupDirectory: what lies in a directory of backups, and which of it is needed.
//
//   000007.backup          the record of backup 7
//   files/<id>-<n>.log     n bytes of a file that never changes again, for every backup that has them; and -<hash> before
//                          the end of the name if values were punched in it, so that it may have holes there
//   files/000007-x.log     of backup 7 alone: what was still written to, its MANIFEST and OPTIONS
//   staging/               MANIFEST and OPTIONS of a backup that is being made
//   LOCK                   whose lock says who writes here
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

namespace cambium {

class BackupDirectory {
 public:
  BackupDirectory(FileSystem* fs, std::string path) : fs_(fs), path_(std::move(path)) {}

  // InvalidArgument unless everything says that it is a directory of backups: it has a record, or nothing but what an
  // engine makes, and of that at least LOCK and files/. `may_be_new`: an empty one will do. Only reads names, and is to be
  // asked before anything is written there.
  Status Check(bool may_be_new) const;
  // Reads all records. NotSupported if one is of a later version: whoever made it knows what else is here.
  Status Load();

  // Durable when it returns: its files and their names must be. After an error there is no such record.
  Status Add(BackupRecord record);
  // NotFound if there is none, damaged or not.
  [[nodiscard]] Status CheckThere(BackupID id) const;
  // Durable when it returns. NotFound if there is none.
  Status Remove(BackupID id);
  // Removes what no record has, and what was not finished. Nothing that a damaged record may have, and nothing whose name
  // no engine makes.
  Status RemoveUnneeded();

  [[nodiscard]] const std::map<BackupID, BackupRecord>& records() const { return records_; }
  [[nodiscard]] const std::set<BackupID>& damaged() const { return damaged_; }
  [[nodiscard]] BackupID NextId() const;
  // Of the files in records that `is_wanted`, one whose bytes do for `file`, which is final: all that is alive in it is
  // alive there, and as few blocks more as can be. Null if there is none.
  [[nodiscard]] const BackupFile* Find(const CapturedFile& file,
                                       const std::function<bool(const BackupFile&)>& is_wanted) const;

  [[nodiscard]] std::string StoredPath(const std::string& stored) const { return FilesPath() + "/" + stored; }
  [[nodiscard]] std::string FilesPath() const { return path_ + "/files"; }
  [[nodiscard]] std::string StagingPath() const { return path_ + "/staging"; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Status ReadRecord(BackupID id);
  Status RemoveStaging();

  FileSystem* const fs_;
  const std::string path_;
  std::map<BackupID, BackupRecord> records_;
  std::set<BackupID> damaged_;
};

}  // namespace cambium
