// BackupEngine: backups of databases in a directory of their own. See cambium/backup_engine.h.
//
// As in RocksDB, several engines may have a directory open: each call opens it, and waits for the calls of other engines
// to end, at most for a minute; then the result is Locked.
#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cambium/backup_engine.h"
#include "cambium/rocksdb_names/rocksdb/db.h"

namespace rocksdb::inline on_cambium {

using cambium::BackupID;

struct BackupEngineOptions {
  explicit BackupEngineOptions(std::string directory, Env* env = nullptr, bool share_files = true,
                               Logger* logger = nullptr, bool is_synced = true, bool destroys_old_data = false)
      : backup_dir(std::move(directory)),
        backup_env(env),
        share_table_files(share_files),
        info_log(logger),
        sync(is_synced),
        destroy_old_data(destroys_old_data) {}

  std::string backup_dir;
  Env* backup_env;
  std::uint64_t backup_rate_limit = 0;  // bytes per second; 0: none
  std::uint64_t restore_rate_limit = 0;
  std::shared_ptr<RateLimiter> backup_rate_limiter;  // instead of the rates
  std::shared_ptr<RateLimiter> restore_rate_limiter;

  // ---- Without effect. Files are always shared, synced and complete, the log included ----
  bool share_table_files;
  bool share_files_with_checksum = true;
  Logger* info_log;
  bool sync;
  bool backup_log_files = true;
  int max_background_operations = 1;
  std::uint64_t callback_trigger_interval_size = 4u << 20;
  int max_valid_backups_to_open = INT_MAX;

  bool destroy_old_data;  // true: Open is NotSupported
};

struct CreateBackupOptions {
  bool flush_before_backup = false;
  std::function<void()> progress_callback;
  bool decrease_background_thread_cpu_priority = false;  // without effect
};

// keep_log_files is NotSupported: it keeps the log of the database that the backup replaces, and mixes the two. The
// modes differ only in speed.
struct RestoreOptions {
  enum Mode : std::uint32_t { kKeepLatestDbSessionIdFiles = 1, kVerifyChecksum = 2, kPurgeAllFiles = 0xffff };
  explicit RestoreOptions(bool keeps_log_files = false, Mode its_mode = kPurgeAllFiles)
      : keep_log_files(keeps_log_files), mode(its_mode) {}
  bool keep_log_files;
  Mode mode;
};

struct BackupInfo {
  BackupID backup_id = 0;
  std::int64_t timestamp = 0;
  std::uint64_t size = 0;
  std::uint32_t number_files = 0;
  std::string app_metadata;
};

// The operations of an engine that only reads. Any thread may call any function.
class BackupEngineReadOnlyBase {
 public:
  BackupEngineReadOnlyBase(const BackupEngineReadOnlyBase&) = delete;
  BackupEngineReadOnlyBase& operator=(const BackupEngineReadOnlyBase&) = delete;
  virtual ~BackupEngineReadOnlyBase();

  // An error leaves *infos empty.
  void GetBackupInfo(std::vector<BackupInfo>* infos, bool include_file_details = false) const;
  Status GetBackupInfo(BackupID id, BackupInfo* info, bool include_file_details = false) const;
  Status GetLatestBackupInfo(BackupInfo* info, bool include_file_details = false) const;
  void GetCorruptedBackups(std::vector<BackupID>* ids) const;
  Status VerifyBackup(BackupID id, bool verify_with_checksum = false) const;
  // Replaces the database in `directory`, if there is one: the backup is first restored as `directory`.restored. If a
  // call is interrupted, call it again. Locked if the database is open; NotSupported for another wal_directory.
  Status RestoreDBFromBackup(const RestoreOptions& options, BackupID id, const std::string& directory,
                             const std::string& wal_directory) const;
  Status RestoreDBFromBackup(BackupID id, const std::string& directory, const std::string& wal_directory,
                             const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, id, directory, wal_directory);
  }
  // Corruption if the newest backup is damaged: an older one is restored only by its number.
  Status RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& directory,
                                   const std::string& wal_directory) const;
  Status RestoreDBFromLatestBackup(const std::string& directory, const std::string& wal_directory,
                                   const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, directory, wal_directory);
  }

 protected:
  struct Rep;
  explicit BackupEngineReadOnlyBase(std::unique_ptr<Rep> rep);
  const std::unique_ptr<Rep> rep_;
};

class BackupEngineReadOnly final : public BackupEngineReadOnlyBase {
 public:
  static Status Open(const BackupEngineOptions& options, Env* env, BackupEngineReadOnly** engine);
  static Status Open(Env* env, const BackupEngineOptions& options, BackupEngineReadOnly** engine) {
    return Open(options, env, engine);
  }

 private:
  using BackupEngineReadOnlyBase::BackupEngineReadOnlyBase;
};

class BackupEngine final : public BackupEngineReadOnlyBase {
 public:
  static Status Open(const BackupEngineOptions& options, Env* env, BackupEngine** engine);
  static Status Open(Env* env, const BackupEngineOptions& options, BackupEngine** engine) {
    return Open(options, env, engine);
  }

  Status CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db, const std::string& metadata,
                                     BackupID* id = nullptr);
  Status CreateNewBackupWithMetadata(DB* db, const std::string& metadata, bool flush_before_backup = false) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    return CreateNewBackupWithMetadata(options, db, metadata);
  }
  Status CreateNewBackup(const CreateBackupOptions& options, DB* db, BackupID* id = nullptr) {
    return CreateNewBackupWithMetadata(options, db, "", id);
  }
  Status CreateNewBackup(DB* db, bool flush_before_backup = false) {
    return CreateNewBackupWithMetadata(db, "", flush_before_backup);
  }
  Status PurgeOldBackups(std::uint32_t num_backups_to_keep);
  Status DeleteBackup(BackupID id);
  Status GarbageCollect();
  // The running call of this object, and all later ones that make backups, end with Incomplete.
  void StopBackup();

 private:
  using BackupEngineReadOnlyBase::BackupEngineReadOnlyBase;
};

}  // namespace rocksdb::inline on_cambium
