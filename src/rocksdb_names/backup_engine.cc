#include "cambium/rocksdb_names/rocksdb/utilities/backup_engine.h"

#include <utility>

#include "cambium/db.h"
#include "io/parent_path.h"
#include "rocksdb_names/logger.h"
#include "util/mutex.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

// RocksDB allows several engines to have one directory open. Engines of Cambium wait this long for one another.
constexpr std::uint64_t kLockWaitMicros = 60'000'000;

std::shared_ptr<RateLimiter> LimiterOf(const std::shared_ptr<RateLimiter>& given, std::uint64_t rate) {
  if (given != nullptr || rate == 0) return given;
  return std::shared_ptr<RateLimiter>(NewGenericRateLimiter(static_cast<std::int64_t>(rate)));
}

void TellHints(const BackupEngineOptions& options) {
  if (options.info_log == nullptr) return;
  const BackupEngineOptions defaults(options.backup_dir);
  std::string line;
  const auto add = [&line](bool is_set, const char* name) {
    if (is_set) line += std::string(" ") + name + ";";
  };
  add(options.share_table_files != defaults.share_table_files, "share_table_files");
  add(options.share_files_with_checksum != defaults.share_files_with_checksum, "share_files_with_checksum");
  add(options.sync != defaults.sync, "sync");
  add(options.backup_log_files != defaults.backup_log_files, "backup_log_files");
  add(options.max_background_operations != defaults.max_background_operations, "max_background_operations");
  add(options.callback_trigger_interval_size != defaults.callback_trigger_interval_size,
      "callback_trigger_interval_size");
  add(options.max_valid_backups_to_open != defaults.max_valid_backups_to_open, "max_valid_backups_to_open");
  if (line.empty()) return;
  line.pop_back();
  OnCambium(std::shared_ptr<Logger>(std::shared_ptr<Logger>(), options.info_log))
      ->Log(cambium::InfoLogLevel::kInfo, "These options of RocksDB have no effect here:" + line);
}

BackupInfo InfoOf(const cambium::BackupInfo& from) {
  return {from.backup_id, from.timestamp, from.size, from.number_files, from.app_metadata};
}

}  // namespace

// Opens the engine of Cambium for each call.
struct BackupEngineReadOnlyBase::Rep {
  explicit Rep(const BackupEngineOptions& from, bool is_read_only) : options(from.backup_dir) {
    options.read_only = is_read_only;
    options.lock_wait_micros = kLockWaitMicros;
    options.backup_rate_limiter = LimiterOf(from.backup_rate_limiter, from.backup_rate_limit);
    options.restore_rate_limiter = LimiterOf(from.restore_rate_limiter, from.restore_rate_limit);
  }

  template <typename Call>
  Status With(bool reads_only, Call&& call) {
    cambium::BackupEngineOptions its = options;
    its.read_only = its.read_only || reads_only;
    std::shared_ptr<cambium::BackupEngine> engine;
    {
      std::unique_ptr<cambium::BackupEngine> opened;
      CAMBIUM_RETURN_IF_ERROR(cambium::BackupEngine::Open(its, &opened));
      engine = std::move(opened);
    }
    return call(engine);
  }

  template <typename Call>
  Status Reading(Call&& call) {
    return With(true, [&call](const std::shared_ptr<cambium::BackupEngine>& engine) -> Status { return call(*engine); });
  }
  // StopBackup can stop the call.
  template <typename Call>
  Status Writing(Call&& call) {
    return With(false, [&](const std::shared_ptr<cambium::BackupEngine>& engine) -> Status {
      {
        const cambium::MutexLock lock(mutex);
        if (is_stopped) return Status::Incomplete("the backup was stopped");
        running = engine;
      }
      Status done = call(*engine);
      const cambium::MutexLock lock(mutex);
      running = nullptr;
      return done;
    });
  }

  // As in RocksDB, replaces an existing database: first restores the backup into a directory next to it.
  template <typename RestoreTo>
  Status Replace(const RestoreOptions& its, const std::string& directory, const std::string& wal_directory,
                 RestoreTo&& restore) {
    if (its.keep_log_files) return Status::NotSupported("RestoreOptions::keep_log_files is not in this version");
    if (!wal_directory.empty() && wal_directory != directory) {
      return Status::NotSupported("a wal_dir other than the database's directory is not in this version");
    }
    cambium::FileSystem& fs = *cambium::FileSystem::Default();
    return Reading([&](cambium::BackupEngine& engine) -> Status {
      cambium::FileInfo info;
      const Status found = fs.GetInfo(directory, &info);
      if (found.IsPathNotFound()) return restore(engine, directory);
      CAMBIUM_RETURN_IF_ERROR(found);
      const std::string restored = directory + ".restored";
      CAMBIUM_RETURN_IF_ERROR(cambium::DestroyDB(restored, {}));  // a call that was interrupted has left it
      CAMBIUM_RETURN_IF_ERROR(restore(engine, restored));
      CAMBIUM_RETURN_IF_ERROR(DestroyDB(directory, Options()));
      CAMBIUM_RETURN_IF_ERROR(fs.Rename(restored, directory));
      return fs.SyncDirectory(cambium::ParentOf(directory));
    });
  }

  cambium::BackupEngineOptions options;
  cambium::Mutex mutex;
  bool is_stopped CAMBIUM_GUARDED_BY(mutex) = false;
  std::shared_ptr<cambium::BackupEngine> running CAMBIUM_GUARDED_BY(mutex);
};

BackupEngineReadOnlyBase::BackupEngineReadOnlyBase(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
BackupEngineReadOnlyBase::~BackupEngineReadOnlyBase() = default;

namespace {

Status CheckBackupOptions(const BackupEngineOptions& options) {
  if (options.destroy_old_data) return Status::NotSupported("destroy_old_data is not in this version");
  return Status::OK();
}

}  // namespace

Status BackupEngineReadOnly::Open(const BackupEngineOptions& options, Env* /*env*/, BackupEngineReadOnly** engine) {
  CAMBIUM_RETURN_IF_ERROR(CheckBackupOptions(options));
  auto rep = std::make_unique<Rep>(options, true);
  CAMBIUM_RETURN_IF_ERROR(rep->Reading([](cambium::BackupEngine&) { return Status::OK(); }));
  *engine = new BackupEngineReadOnly(std::move(rep));
  return Status::OK();
}

Status BackupEngine::Open(const BackupEngineOptions& options, Env* /*env*/, BackupEngine** engine) {
  CAMBIUM_RETURN_IF_ERROR(CheckBackupOptions(options));
  auto rep = std::make_unique<Rep>(options, false);
  CAMBIUM_RETURN_IF_ERROR(rep->Writing([](cambium::BackupEngine&) { return Status::OK(); }));
  TellHints(options);
  *engine = new BackupEngine(std::move(rep));
  return Status::OK();
}

// ---- Reading ----

void BackupEngineReadOnlyBase::GetBackupInfo(std::vector<BackupInfo>* infos, bool /*include_file_details*/) const {
  infos->clear();
  static_cast<void>(rep_->Reading([infos](cambium::BackupEngine& engine) {
    for (const cambium::BackupInfo& each : engine.GetBackupInfo()) infos->push_back(InfoOf(each));
    return Status::OK();
  }));
}

Status BackupEngineReadOnlyBase::GetBackupInfo(BackupID id, BackupInfo* info, bool /*include_file_details*/) const {
  return rep_->Reading([&](cambium::BackupEngine& engine) {
    for (const cambium::BackupInfo& each : engine.GetBackupInfo()) {
      if (each.backup_id != id) continue;
      *info = InfoOf(each);
      return Status::OK();
    }
    return Status::NotFound("backup " + std::to_string(id));
  });
}

Status BackupEngineReadOnlyBase::GetLatestBackupInfo(BackupInfo* info, bool /*include_file_details*/) const {
  return rep_->Reading([info](cambium::BackupEngine& engine) {
    const std::vector<cambium::BackupInfo> all = engine.GetBackupInfo();
    if (all.empty()) return Status::NotFound("there is no backup");
    *info = InfoOf(all.back());
    return Status::OK();
  });
}

void BackupEngineReadOnlyBase::GetCorruptedBackups(std::vector<BackupID>* ids) const {
  ids->clear();
  static_cast<void>(rep_->Reading([ids](cambium::BackupEngine& engine) {
    *ids = engine.GetCorruptedBackups();
    return Status::OK();
  }));
}

Status BackupEngineReadOnlyBase::VerifyBackup(BackupID id, bool verify_with_checksum) const {
  return rep_->Reading([&](cambium::BackupEngine& engine) { return engine.VerifyBackup(id, verify_with_checksum); });
}

Status BackupEngineReadOnlyBase::RestoreDBFromBackup(const RestoreOptions& options, BackupID id,
                                                     const std::string& directory,
                                                     const std::string& wal_directory) const {
  return rep_->Replace(options, directory, wal_directory, [id](cambium::BackupEngine& engine, const std::string& to) {
    return engine.RestoreDBFromBackup(id, to);
  });
}

Status BackupEngineReadOnlyBase::RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& directory,
                                                           const std::string& wal_directory) const {
  return rep_->Replace(options, directory, wal_directory, [](cambium::BackupEngine& engine, const std::string& to) {
    return engine.RestoreDBFromLatestBackup(to);
  });
}

// ---- Writing ----

Status BackupEngine::CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                                 const std::string& metadata, BackupID* id) {
  cambium::CreateBackupOptions its;
  its.flush_before_backup = options.flush_before_backup;
  its.app_metadata = metadata;
  if (options.progress_callback) {
    its.progress = [&options](std::uint64_t, std::uint64_t) { options.progress_callback(); };
  }
  return rep_->Writing(
      [&](cambium::BackupEngine& engine) { return engine.CreateNewBackup(its, db->OnCambium(), id); });
}

Status BackupEngine::PurgeOldBackups(std::uint32_t num_backups_to_keep) {
  return rep_->Writing([&](cambium::BackupEngine& engine) { return engine.PurgeOldBackups(num_backups_to_keep); });
}

Status BackupEngine::DeleteBackup(BackupID id) {
  return rep_->Writing([&](cambium::BackupEngine& engine) { return engine.DeleteBackup(id); });
}

Status BackupEngine::GarbageCollect() {
  return rep_->Writing([](cambium::BackupEngine& engine) { return engine.GarbageCollect(); });
}

void BackupEngine::StopBackup() {
  const cambium::MutexLock lock(rep_->mutex);
  rep_->is_stopped = true;
  if (rep_->running != nullptr) rep_->running->StopBackup();
}

}  // namespace rocksdb::inline on_cambium
