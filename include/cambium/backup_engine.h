// BackupEngine: backups of databases in a directory of their own, each with what has changed since the ones before.
//
//   std::unique_ptr<cambium::BackupEngine> engine;
//   cambium::Status s = cambium::BackupEngine::Open(cambium::BackupEngineOptions("/backup/store"), &engine);
//   if (s.ok()) s = engine->CreateNewBackup(db);
//   ...
//   if (s.ok()) s = engine->RestoreDBFromLatestBackup("/data/store");
//
// Files of a database that never change again are stored once, by their ids, for all backups that have them; the rest,
// which is little, for each. Every file that is stored has a checksum in the record of each backup that needs it, which a
// restore compares. Names are RocksDB's, where they mean the same; docs/FORMAT.md has the directory, drawn.
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

using BackupID = std::uint32_t;  // from 1, each one more than the newest there is

struct BackupEngineOptions {
  explicit BackupEngineOptions(std::string directory) : backup_dir(std::move(directory)) {}

  // Made if it does not exist; its parent must. One that is not empty, and that no engine has made, is refused with
  // InvalidArgument before anything is written there; for reading only so is an empty one.
  std::string backup_dir;
  bool create_if_missing = true;  // false: PathNotFound, or InvalidArgument if it is empty
  // Nothing is written: backups are listed, verified and restored. Beside others that do the same.
  bool read_only = false;
  // How long Open waits for another engine that has the directory, in microseconds.
  std::uint64_t lock_wait_micros = 0;
  std::shared_ptr<RateLimiter> backup_rate_limiter;   // of bytes written to backup_dir; null: none
  std::shared_ptr<RateLimiter> restore_rate_limiter;  // of bytes restored; null: none
  std::shared_ptr<FileSystem> file_system;            // of backup_dir and of the databases; the library's own if null
  std::shared_ptr<Clock> clock;                       // the library's own if null
};

// Called now and then by the thread that works, with no lock held: bytes that are done, of how many.
using BackupProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

struct CreateBackupOptions {
  // Memory tables are flushed before; else the log behind them is stored, and replayed when the restored database is opened.
  bool flush_before_backup = false;
  std::string app_metadata;  // the caller's, at most 64 KiB, kept with it
  BackupProgress progress;
};

struct RestoreOptions {
  BackupProgress progress;
};

struct BackupInfo {
  BackupID backup_id = 0;
  std::int64_t timestamp = 0;      // seconds since 1970, when it was begun
  std::uint64_t size = 0;          // bytes of its files, those that others have too among them
  std::uint32_t number_files = 0;
  SequenceNumber sequence_number = 0;  // of the newest operation in it
  std::string app_metadata;
};

// Any thread may call any function; calls that write wait for one another. One engine at a time may have a directory open
// for writing, whatever the process.
class BackupEngine {
 public:
  // Locked if another engine has the directory. Damaged records of backups are no error, see GetCorruptedBackups; one of
  // a later version is NotSupported. What an interrupted call has left is removed, and nothing that no engine makes.
  static Status Open(const BackupEngineOptions& options, std::unique_ptr<BackupEngine>* engine);

  BackupEngine() = default;
  BackupEngine(const BackupEngine&) = delete;
  BackupEngine& operator=(const BackupEngine&) = delete;
  virtual ~BackupEngine() = default;

  // Of an open database, which goes on meanwhile: a prefix of what it has, in whole batches, with everything that was
  // written before the call. Durable when it returns OK; otherwise there is none. NotSupported for a database that is
  // open for reading only. *id, if it is not null, is the new one's.
  virtual Status CreateNewBackup(const CreateBackupOptions& options, DB* db, BackupID* id = nullptr) = 0;
  Status CreateNewBackup(DB* db, bool flush_before_backup = false) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    return CreateNewBackup(options, db);
  }
  // Of a database that nobody has open for writing, as it lies there.
  virtual Status CreateNewBackupOffline(const CreateBackupOptions& options, const std::string& path,
                                        BackupID* id = nullptr) = 0;
  // What CreateNewBackupOffline by an engine with these options would do, which need not be open; writes nothing. What an
  // earlier backup has is `shared`. Its error, if it can be foreseen, NoSpace too. The backup's record is not counted.
  static Status PlanNewBackupOffline(const BackupEngineOptions& options, const std::string& path, CopyPlan* plan);
  // Which backups DeleteBackup(id) would delete, or with `id` 0 PurgeOldBackups(num_backups_to_keep), by an engine with
  // these options, which need not be open; writes nothing. Its error, if it can be foreseen.
  static Status PlanDeletion(const BackupEngineOptions& options, BackupID id, std::uint32_t num_backups_to_keep,
                             std::vector<BackupID>* ids);
  // The call that is under way, and all later ones, end with Incomplete. Not to be taken back.
  virtual void StopBackup() = 0;

  // Deletes all but the newest so many. Files go when no backup has them any more. While there are damaged records none
  // goes, because nobody knows what those have: delete them first.
  virtual Status PurgeOldBackups(std::uint32_t num_backups_to_keep) = 0;
  // NotFound if there is none of this number. Of a damaged one too.
  virtual Status DeleteBackup(BackupID id) = 0;
  // Removes files that no backup has. Deleting does it too; this repeats what has failed there.
  virtual Status GarbageCollect() = 0;

  // In the order of their numbers, without the damaged ones.
  [[nodiscard]] virtual std::vector<BackupInfo> GetBackupInfo() const = 0;
  // Those whose record cannot be read: nothing can be restored from them.
  [[nodiscard]] virtual std::vector<BackupID> GetCorruptedBackups() const = 0;

  // That all files are there and have their size; with `verify_with_checksum` each is read too. Corruption says which one
  // is not.
  virtual Status VerifyBackup(BackupID id, bool verify_with_checksum = false) = 0;

  // Makes `directory`, which must not exist; its parent must. It appears as a whole, durable and verified, or not at all:
  // Corruption names the file whose checksum was wrong.
  virtual Status RestoreDBFromBackup(const RestoreOptions& options, BackupID id, const std::string& directory) = 0;
  Status RestoreDBFromBackup(BackupID id, const std::string& directory) {
    return RestoreDBFromBackup({}, id, directory);
  }
  // What that would do, of the newest backup if `id` is 0. Writes nothing, and compares no checksum. Its error, if it can be
  // foreseen: NotFound, that `directory` exists, that a stored file is missing, or NoSpace.
  virtual Status PlanRestore(BackupID id, const std::string& directory, CopyPlan* plan) = 0;
  // NotFound if there is none.
  virtual Status RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& directory) = 0;
  Status RestoreDBFromLatestBackup(const std::string& directory) { return RestoreDBFromLatestBackup({}, directory); }
};

}  // namespace cambium
