#include "cambium/backup_engine.h"

#include <algorithm>

#include "c/wrappers.h"

using cambium::BackupEngine;
using cambium::BackupInfo;
using cambium::Status;
using cambium::c::Guarded;

struct cambium_backup_engine_t {
  std::unique_ptr<BackupEngine> rep;
  bool verify_checksums = true;

  [[nodiscard]] cambium::CreateBackupOptions NewBackup(bool flush) const {
    cambium::CreateBackupOptions options;
    options.flush_before_backup = flush;
    options.verify_checksums = verify_checksums;
    return options;
  }
};
struct cambium_backup_engine_info_t {
  std::vector<BackupInfo> rep;
};

namespace {

cambium_backup_engine_t* Open(const cambium_options_t* options, const char* backup_dir, bool read_only, char** errptr) {
  std::unique_ptr<cambium_backup_engine_t> engine;
  Guarded(errptr, [&] {
    cambium::BackupEngineOptions its(backup_dir);
    its.read_only = read_only;
    its.lock_wait_micros = options->rep.lock_wait_micros;
    its.file_system = options->rep.file_system;
    its.clock = options->rep.clock;
    engine = std::make_unique<cambium_backup_engine_t>();
    Status opened = BackupEngine::Open(its, &engine->rep);
    if (!opened.ok()) engine.reset();
    return opened;
  });
  return engine.release();
}

// Returns zeros if the index is out of range.
BackupInfo At(const cambium_backup_engine_info_t* info, int index) {
  const auto i = static_cast<std::size_t>(index);
  return index >= 0 && i < info->rep.size() ? info->rep[i] : BackupInfo();
}

}  // namespace

cambium_backup_engine_t* cambium_backup_engine_open(const cambium_options_t* options, const char* backup_dir,
                                                    char** errptr) {
  return Open(options, backup_dir, false, errptr);
}
cambium_backup_engine_t* cambium_backup_engine_open_for_read_only(const cambium_options_t* options,
                                                                  const char* backup_dir, char** errptr) {
  return Open(options, backup_dir, true, errptr);
}
void cambium_backup_engine_close(cambium_backup_engine_t* engine) { delete engine; }

void cambium_backup_engine_create_new_backup(cambium_backup_engine_t* engine, cambium_t* db, char** errptr) {
  cambium_backup_engine_create_new_backup_flush(engine, db, 0, errptr);
}
void cambium_backup_engine_create_new_backup_flush(cambium_backup_engine_t* engine, cambium_t* db,
                                                   unsigned char flush_before_backup, char** errptr) {
  Guarded(errptr, [&] {
    return engine->rep->CreateNewBackup(engine->NewBackup(flush_before_backup != 0), db->rep.get());
  });
}
void cambium_backup_engine_create_new_backup_offline(cambium_backup_engine_t* engine, const char* name,
                                                     char** errptr) {
  Guarded(errptr, [&] { return engine->rep->CreateNewBackupOffline(engine->NewBackup(false), name); });
}
void cambium_backup_engine_set_verify_checksums(cambium_backup_engine_t* engine, unsigned char verify_checksums) {
  engine->verify_checksums = verify_checksums != 0;
}
void cambium_backup_engine_stop_backup(cambium_backup_engine_t* engine) { engine->rep->StopBackup(); }

void cambium_backup_engine_purge_old_backups(cambium_backup_engine_t* engine, uint32_t num_backups_to_keep,
                                             char** errptr) {
  Guarded(errptr, [&] { return engine->rep->PurgeOldBackups(num_backups_to_keep); });
}
void cambium_backup_engine_delete_backup(cambium_backup_engine_t* engine, uint32_t backup_id, char** errptr) {
  Guarded(errptr, [&] { return engine->rep->DeleteBackup(backup_id); });
}
void cambium_backup_engine_garbage_collect(cambium_backup_engine_t* engine, char** errptr) {
  Guarded(errptr, [&] { return engine->rep->GarbageCollect(); });
}
void cambium_backup_engine_verify_backup(cambium_backup_engine_t* engine, uint32_t backup_id,
                                         unsigned char verify_with_checksum, char** errptr) {
  Guarded(errptr, [&] { return engine->rep->VerifyBackup(backup_id, verify_with_checksum != 0); });
}
void cambium_backup_engine_restore_db_from_backup(cambium_backup_engine_t* engine, const char* db_dir,
                                                  uint32_t backup_id, char** errptr) {
  Guarded(errptr, [&] { return engine->rep->RestoreDBFromBackup(backup_id, db_dir); });
}
void cambium_backup_engine_restore_db_from_latest_backup(cambium_backup_engine_t* engine, const char* db_dir,
                                                         char** errptr) {
  Guarded(errptr, [&] { return engine->rep->RestoreDBFromLatestBackup(db_dir); });
}

const cambium_backup_engine_info_t* cambium_backup_engine_get_backup_info(cambium_backup_engine_t* engine) {
  return new cambium_backup_engine_info_t{engine->rep->GetBackupInfo()};
}
int cambium_backup_engine_info_count(const cambium_backup_engine_info_t* info) {
  return static_cast<int>(info->rep.size());
}
int64_t cambium_backup_engine_info_timestamp(const cambium_backup_engine_info_t* info, int index) {
  return At(info, index).timestamp;
}
uint32_t cambium_backup_engine_info_backup_id(const cambium_backup_engine_info_t* info, int index) {
  return At(info, index).backup_id;
}
uint64_t cambium_backup_engine_info_size(const cambium_backup_engine_info_t* info, int index) {
  return At(info, index).size;
}
uint32_t cambium_backup_engine_info_number_files(const cambium_backup_engine_info_t* info, int index) {
  return At(info, index).number_files;
}
uint64_t cambium_backup_engine_info_sequence_number(const cambium_backup_engine_info_t* info, int index) {
  return At(info, index).sequence_number;
}
unsigned char cambium_backup_engine_info_is_checked(const cambium_backup_engine_info_t* info, int index) {
  return At(info, index).is_checked ? 1 : 0;
}
void cambium_backup_engine_info_destroy(const cambium_backup_engine_info_t* info) { delete info; }

uint32_t* cambium_backup_engine_get_corrupted_backups(cambium_backup_engine_t* engine, size_t* count) {
  const std::vector<cambium::BackupID> ids = engine->rep->GetCorruptedBackups();
  *count = ids.size();
  const cambium::Slice bytes(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(uint32_t));
  return static_cast<uint32_t*>(static_cast<void*>(cambium::c::CopyBytes(bytes)));  // aligned: it is from malloc
}
