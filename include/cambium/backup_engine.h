// BackupEngine: backups of databases in a directory of their own. A backup adds only what changed since earlier ones.
//
//   std::unique_ptr<cambium::BackupEngine> engine;
//   cambium::Status s = cambium::BackupEngine::Open(cambium::BackupEngineOptions("/backup/store"), &engine);
//   if (s.ok()) s = engine->CreateNewBackup(db);
//   ...
//   if (s.ok()) s = engine->RestoreDBFromLatestBackup("/data/store");
//
// Files of a database that never change again are stored once, by their ids, for all backups that contain them; the
// rest, which is little, is stored per backup. A new backup compares the contents of the files that it stores with the
// checksums in them, so that damage in the database does not replace good backups. The record of a backup has a
// checksum of each of its files, which a restore compares. Names are RocksDB's, where they mean the same;
// docs/format/backups.md describes the directory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cambium/clock.h"
#include "cambium/copy_plan.h"
#include "cambium/db.h"
#include "cambium/file_system.h"
#include "cambium/rate_limiter.h"
#include "cambium/status.h"

namespace cambium {

using BackupID = std::uint32_t;  // from 1; a new backup gets the newest existing id plus 1

struct BackupEngineOptions {
  explicit BackupEngineOptions(std::string directory) : backup_dir(std::move(directory)) {}

  // Created with mode 0700 if it does not exist; its parent must. The path is looked up once, by Open: if later it leads
  // elsewhere, the engine stays in its directory. InvalidArgument, before anything is written, if the directory is not
  // empty and no engine made it; with read_only, also if it is empty.
  std::string backup_dir;
  bool create_if_missing = true;  // false: a missing directory is PathNotFound, an empty one InvalidArgument
  // Writes nothing: backups are listed, verified and restored. Several such engines may have the directory open.
  bool read_only = false;
  // How long Open waits for another engine that has the directory open, in microseconds.
  std::uint64_t lock_wait_micros = 0;
  std::shared_ptr<RateLimiter> backup_rate_limiter;   // limits bytes written to backup_dir; null: no limit
  std::shared_ptr<RateLimiter> restore_rate_limiter;  // limits bytes restored; null: no limit
  std::shared_ptr<FileSystem> file_system;            // for backup_dir and the databases; null: the library's own
  std::shared_ptr<Clock> clock;                       // null: the library's own
};

// Called now and then by the working thread, with no lock held: bytes done, and their total.
using BackupProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

struct CreateBackupOptions {
  // Flush the memtables first. Otherwise the log is stored, and replayed when the restored database is opened.
  bool flush_before_backup = false;
  std::string app_metadata;  // the caller's, at most 64 KiB, stored with the backup
  BackupProgress progress;
  // Read each stored file again, and compare its contents with the checksums in it: records and values of the log,
  // large values, index pages, filters. A stored file that the backup shares is checked too, unless a backup that has
  // it was made with this option. If a restored database would need damaged bytes, the call returns Corruption and
  // makes no backup. If this is false, a damaged file is stored as it is.
  bool verify_checksums = true;
  // With verify_checksums: called before CreateNewBackup returns OK, for each damage in bytes that a restored database
  // does not need. `what` has file, offset and reason. May be empty.
  std::function<void(const std::string& what)> on_dead_damage;
};

struct RestoreOptions {
  BackupProgress progress;
};

struct BackupInfo {
  BackupID backup_id = 0;
  std::int64_t timestamp = 0;      // when the backup began, in seconds since 1970
  std::uint64_t size = 0;          // of its files, those shared with other backups included
  std::uint32_t number_files = 0;
  SequenceNumber sequence_number = 0;  // of the newest operation in it
  std::string app_metadata;
  bool is_checked = false;  // made with verify_checksums; false also if an earlier version made it
};

// Any thread may call any function; calls that write wait for one another. Only one engine at a time, in any process,
// may have a directory open for writing.
class BackupEngine {
 public:
  // Locked if another engine has the directory open. Damaged records of backups are no error, see GetCorruptedBackups;
  // a record of a later version is NotSupported. Removes what an interrupted call left, and no foreign files.
  static Status Open(const BackupEngineOptions& options, std::unique_ptr<BackupEngine>* engine);

  BackupEngine() = default;
  BackupEngine(const BackupEngine&) = delete;
  BackupEngine& operator=(const BackupEngine&) = delete;
  virtual ~BackupEngine() = default;

  // Backs up an open database, which stays in use. The backup holds a prefix of its writes, in whole batches, with
  // everything that was written before the call. It is durable when the call returns OK; otherwise no backup is made.
  // Corruption names the file of the database that is damaged; to keep older backups, do not purge after an error.
  // NotSupported for a database that is open for reading only; InvalidArgument if backup_dir lies in its directory.
  // Sets *id, unless `id` is null, to the new backup's id.
  virtual Status CreateNewBackup(const CreateBackupOptions& options, DB* db, BackupID* id = nullptr) = 0;
  Status CreateNewBackup(DB* db, bool flush_before_backup = false) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    return CreateNewBackup(options, db);
  }
  // Backs up the files of a database that no process has open for writing.
  virtual Status CreateNewBackupOffline(const CreateBackupOptions& options, const std::string& path,
                                        BackupID* id = nullptr) = 0;
  // Sets *plan to what CreateNewBackupOffline would do in an engine with these options, which need not be open. The
  // plan counts files that earlier backups have stored as shared. It does not count the record of the new backup.
  // Writes nothing. Returns the errors of that call that can be foreseen, NoSpace included.
  static Status PlanNewBackupOffline(const BackupEngineOptions& options, const std::string& path, CopyPlan* plan);
  // Sets *ids to the backups that DeleteBackup(id), or with `id` 0 PurgeOldBackups(num_backups_to_keep), would delete
  // in an engine with these options, which need not be open. Writes nothing. Returns the errors that can be foreseen.
  static Status PlanDeletion(const BackupEngineOptions& options, BackupID id, std::uint32_t num_backups_to_keep,
                             std::vector<BackupID>* ids);
  // Makes the running call, and all later ones, end with Incomplete. It cannot be undone.
  virtual void StopBackup() = 0;

  // Deletes all but the newest num_backups_to_keep of the backups that can be read. Damaged ones are neither counted
  // nor deleted. A file is deleted with the last backup that has it. While the record of any backup is damaged, no file
  // is deleted, because it is unknown which files that backup has: delete such backups first.
  virtual Status PurgeOldBackups(std::uint32_t num_backups_to_keep) = 0;
  // NotFound if there is no backup of this number. Damaged backups can be deleted too.
  virtual Status DeleteBackup(BackupID id) = 0;
  // Removes files that no backup has. Deleting a backup does this too; call it again if that failed.
  virtual Status GarbageCollect() = 0;

  // In the order of their numbers, without the damaged ones.
  [[nodiscard]] virtual std::vector<BackupInfo> GetBackupInfo() const = 0;
  // The backups whose record cannot be read: nothing can be restored from them.
  [[nodiscard]] virtual std::vector<BackupID> GetCorruptedBackups() const = 0;

  // Checks that all files exist and have their size; with `verify_with_checksum` each is also read and compared. If the
  // backup is not checked (see BackupInfo), the contents of its files are then compared too, as by verify_checksums,
  // except the part of the log that is not flushed. Corruption names the file that fails.
  virtual Status VerifyBackup(BackupID id, bool verify_with_checksum = false) = 0;

  // Creates `directory`, which must not exist and not lie in backup_dir; its parent must exist. It appears as a whole,
  // durable and verified, or not at all. Corruption names the file whose checksum is wrong.
  virtual Status RestoreDBFromBackup(const RestoreOptions& options, BackupID id, const std::string& directory) = 0;
  Status RestoreDBFromBackup(BackupID id, const std::string& directory) {
    return RestoreDBFromBackup({}, id, directory);
  }
  // Sets *plan to what RestoreDBFromBackup(id), or with `id` 0 RestoreDBFromLatestBackup, would do. Writes nothing and
  // compares no checksums. Returns the errors that can be foreseen: there is no such backup, a stored file is missing,
  // `directory` exists, NoSpace.
  virtual Status PlanRestore(BackupID id, const std::string& directory, CopyPlan* plan) = 0;
  // NotFound if there is no backup. Corruption, naming the record, if the newest one cannot be read (see
  // GetCorruptedBackups): an older one has older data, so it is restored only by its number. (RocksDB takes the newest
  // one that can be read.)
  virtual Status RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& directory) = 0;
  Status RestoreDBFromLatestBackup(const std::string& directory) { return RestoreDBFromLatestBackup({}, directory); }
};

}  // namespace cambium
