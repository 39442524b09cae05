// Backups and checkpoints.
#include "cambium/backup_engine.h"

#include "cambium/checkpoint.h"
#include "io/parent_path.h"
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::BackupEngine;
using cambium::BackupInfo;
using cambium::Status;

struct rocksdb_backup_engine_t {
  std::unique_ptr<BackupEngine> rep;
};
struct rocksdb_backup_engine_info_t {
  std::vector<BackupInfo> rep;
};
struct rocksdb_backup_engine_options_t {
  CAMBIUM_ROCKSDB_BACKUP_ENGINE_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, backup_engine_options)
  std::string backup_dir;
  std::shared_ptr<cambium::RateLimiter> backup_limiter;
  std::shared_ptr<cambium::RateLimiter> restore_limiter;
};
struct rocksdb_create_backup_options_t {
  CAMBIUM_ROCKSDB_CREATE_BACKUP_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, create_backup_options)
  void* progress_state = nullptr;
  rocksdb_create_backup_options_progress_cb progress = nullptr;
  bool excludes_files = false;
};
struct rocksdb_restore_options_t {
  CAMBIUM_ROCKSDB_RESTORE_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, restore_options)
};
struct rocksdb_checkpoint_t {
  std::unique_ptr<cambium::Checkpoint> rep;
};

namespace {

rocksdb_backup_engine_t* OpenEngine(const cambium::BackupEngineOptions& options, bool destroys_old, char** errptr) {
  std::unique_ptr<rocksdb_backup_engine_t> engine;
  Guarded(errptr, [&]() -> Status {
    if (destroys_old) return Lacks("destroy_old_data");
    engine = std::make_unique<rocksdb_backup_engine_t>();
    Status opened = BackupEngine::Open(options, &engine->rep);
    if (!opened.ok()) engine.reset();
    return opened;
  });
  return engine.release();
}

Status Create(rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
              std::string metadata, uint32_t* id) {
  cambium::CreateBackupOptions its;
  its.app_metadata = std::move(metadata);
  if (options != nullptr) {
    if (options->excludes_files) return Lacks("exclude_files_callback");
    its.flush_before_backup = options->flush_before_backup != 0;
    if (options->progress != nullptr) {
      its.progress = [options](std::uint64_t, std::uint64_t) { options->progress(options->progress_state); };
    }
  }
  cambium::BackupID made = 0;
  CAMBIUM_RETURN_IF_ERROR(engine->rep->CreateNewBackup(its, db->rep.get(), &made));
  if (id != nullptr) *id = made;
  return Status::OK();
}

// As in RocksDB, replaces an existing database: first restores the backup into a directory next to it. `id` 0 means the
// newest backup.
Status Restore(BackupEngine* engine, cambium::BackupID id, const std::string& directory, const char* wal_dir) {
  if (wal_dir != nullptr && *wal_dir != '\0' && directory != wal_dir) {
    return Lacks("a wal_dir other than the database's directory");
  }
  cambium::FileSystem& fs = *cambium::FileSystem::Default();
  const auto restore = [&](const std::string& to) {
    return id == 0 ? engine->RestoreDBFromLatestBackup(to) : engine->RestoreDBFromBackup(id, to);
  };
  cambium::FileInfo info;
  const Status found = fs.GetInfo(directory, &info);
  if (found.IsPathNotFound()) return restore(directory);
  CAMBIUM_RETURN_IF_ERROR(found);
  const std::string restored = directory + ".restored";
  CAMBIUM_RETURN_IF_ERROR(cambium::DestroyDB(restored, {}));  // a call that was interrupted has left it
  CAMBIUM_RETURN_IF_ERROR(restore(restored));
  CAMBIUM_RETURN_IF_ERROR(cambium::DestroyDB(directory, {}));
  CAMBIUM_RETURN_IF_ERROR(fs.Rename(restored, directory));
  return fs.SyncDirectory(cambium::ParentOf(directory));
}

// Returns zeros if the index is out of range.
BackupInfo At(const rocksdb_backup_engine_info_t* info, int index) {
  const auto i = static_cast<std::size_t>(index);
  return index >= 0 && i < info->rep.size() ? info->rep[i] : BackupInfo();
}

}  // namespace

extern "C" {

// ---- Options ----

CAMBIUM_ROCKSDB_BACKUP_ENGINE_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, backup_engine_options)
CAMBIUM_ROCKSDB_CREATE_BACKUP_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, create_backup_options)
CAMBIUM_ROCKSDB_RESTORE_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, restore_options)

rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(const char* directory) {
  auto* const made = new rocksdb_backup_engine_options_t;
  made->backup_dir = directory;
  return made;
}
void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t* options) { delete options; }
void rocksdb_backup_engine_options_set_backup_dir(rocksdb_backup_engine_options_t* options, const char* directory) {
  options->backup_dir = directory;
}
const char* rocksdb_backup_engine_options_get_backup_dir(rocksdb_backup_engine_options_t* options, size_t* size) {
  *size = options->backup_dir.size();
  return options->backup_dir.c_str();
}
void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t* /*options*/, rocksdb_env_t* /*env*/) {}
void rocksdb_backup_engine_options_set_backup_rate_limiter(rocksdb_backup_engine_options_t* options,
                                                           rocksdb_ratelimiter_t* limiter) {
  options->backup_limiter = limiter == nullptr ? nullptr : limiter->rep;
}
void rocksdb_backup_engine_options_set_restore_rate_limiter(rocksdb_backup_engine_options_t* options,
                                                            rocksdb_ratelimiter_t* limiter) {
  options->restore_limiter = limiter == nullptr ? nullptr : limiter->rep;
}
rocksdb_create_backup_options_t* rocksdb_create_backup_options_create() { return new rocksdb_create_backup_options_t; }
void rocksdb_create_backup_options_destroy(rocksdb_create_backup_options_t* options) { delete options; }
void rocksdb_create_backup_options_set_progress_callback(rocksdb_create_backup_options_t* options, void* state,
                                                         rocksdb_create_backup_options_progress_cb callback) {
  options->progress_state = state;
  options->progress = callback;
}
void rocksdb_create_backup_options_set_exclude_files_callback(rocksdb_create_backup_options_t* options, void* /*state*/,
                                                              rocksdb_create_backup_options_exclude_files_cb callback) {
  options->excludes_files = callback != nullptr;
}
rocksdb_restore_options_t* rocksdb_restore_options_create() { return new rocksdb_restore_options_t; }
void rocksdb_restore_options_destroy(rocksdb_restore_options_t* options) { delete options; }

// ---- Backups ----

rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* /*options*/, const char* path,
                                                    char** errptr) {
  return OpenEngine(cambium::BackupEngineOptions(path), false, errptr);
}
rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(const rocksdb_backup_engine_options_t* options,
                                                         rocksdb_env_t* /*env*/, char** errptr) {
  cambium::BackupEngineOptions its(options->backup_dir);
  its.backup_rate_limiter = options->backup_limiter;
  its.restore_rate_limiter = options->restore_limiter;
  return OpenEngine(its, options->destroy_old_data != 0, errptr);
}
void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine) { delete engine; }
void rocksdb_backup_engine_stop_backup(rocksdb_backup_engine_t* engine) { engine->rep->StopBackup(); }

void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* engine, rocksdb_t* db, char** errptr) {
  Guarded(errptr, [&] { return Create(engine, db, nullptr, {}, nullptr); });
}
void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t* engine, rocksdb_t* db, unsigned char flush,
                                                   char** errptr) {
  rocksdb_create_backup_options_t options;
  options.flush_before_backup = flush;
  Guarded(errptr, [&] { return Create(engine, db, &options, {}, nullptr); });
}
void rocksdb_backup_engine_create_new_backup_with_options(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                                          const rocksdb_create_backup_options_t* options, uint32_t* id,
                                                          char** errptr) {
  Guarded(errptr, [&] { return Create(engine, db, options, {}, id); });
}
void rocksdb_backup_engine_create_new_backup_with_metadata(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                                           const rocksdb_create_backup_options_t* options,
                                                           const char* metadata, size_t metadata_length, uint32_t* id,
                                                           char** errptr) {
  Guarded(errptr, [&] { return Create(engine, db, options, std::string(metadata, metadata_length), id); });
}
void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t* engine, uint32_t kept, char** errptr) {
  Guarded(errptr, [&] { return engine->rep->PurgeOldBackups(kept); });
}
void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t* engine, uint32_t id, char** errptr) {
  Guarded(errptr, [&] { return engine->rep->VerifyBackup(id); });
}
void rocksdb_backup_engine_restore_db_from_latest_backup(rocksdb_backup_engine_t* engine, const char* db_dir,
                                                         const char* wal_dir,
                                                         const rocksdb_restore_options_t* /*options*/, char** errptr) {
  Guarded(errptr, [&] { return Restore(engine->rep.get(), 0, db_dir, wal_dir); });
}
void rocksdb_backup_engine_restore_db_from_backup(rocksdb_backup_engine_t* engine, const char* db_dir,
                                                  const char* wal_dir, const rocksdb_restore_options_t* /*options*/,
                                                  const uint32_t id, char** errptr) {
  Guarded(errptr, [&]() -> Status {
    if (id == 0) return Status::NotFound("there is no backup 0");
    return Restore(engine->rep.get(), id, db_dir, wal_dir);
  });
}

const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(rocksdb_backup_engine_t* engine) {
  return new rocksdb_backup_engine_info_t{engine->rep->GetBackupInfo()};
}
int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info) {
  return static_cast<int>(info->rep.size());
}
int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info, int index) {
  return At(info, index).timestamp;
}
uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info, int index) {
  return At(info, index).backup_id;
}
uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info, int index) {
  return At(info, index).size;
}
uint32_t rocksdb_backup_engine_info_number_files(const rocksdb_backup_engine_info_t* info, int index) {
  return At(info, index).number_files;
}
const char* rocksdb_backup_engine_info_app_metadata(const rocksdb_backup_engine_info_t* info, int index,
                                                    size_t* length) {
  const auto i = static_cast<std::size_t>(index);
  const bool exists = index >= 0 && i < info->rep.size();
  *length = exists ? info->rep[i].app_metadata.size() : 0;
  return exists ? info->rep[i].app_metadata.data() : nullptr;
}
void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info) { delete info; }

// ---- Checkpoints ----

rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr) {
  std::unique_ptr<rocksdb_checkpoint_t> checkpoint;
  Guarded(errptr, [&] {
    checkpoint = std::make_unique<rocksdb_checkpoint_t>();
    Status made = cambium::Checkpoint::Create(db->rep.get(), &checkpoint->rep);
    if (!made.ok()) checkpoint.reset();
    return made;
  });
  return checkpoint.release();
}
void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint, const char* directory, uint64_t log_size_for_flush,
                               char** errptr) {
  Guarded(errptr, [&] { return checkpoint->rep->CreateCheckpoint(directory, log_size_for_flush); });
}
void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t* checkpoint) { delete checkpoint; }

}  // extern "C"
