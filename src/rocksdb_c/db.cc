// The functions of a database as a whole: destroy, repair, identity, flushes, compactions and others.
#include "cambium/repair.h"
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::Options;
using cambium::Result;
using cambium::Slice;
using cambium::Status;

namespace {

// Returns the changes that are not hints. LOG names the hints.
Result<std::unordered_map<std::string, std::string>> Changes(rocksdb_t* db, int count, const char* const* keys,
                                                             const char* const* values) {
  std::unordered_map<std::string, std::string> changes;
  std::vector<std::string> hints;
  for (int i = 0; i < count; ++i) {
    bool is_value = false;
    if (IsHint(keys[i], values[i], &is_value)) {
      if (!is_value) return Status::InvalidArgument(std::string(keys[i]) + " is " + values[i] + "; it is no value");
      hints.emplace_back(keys[i]);
    } else {
      changes[keys[i]] = values[i];
    }
  }
  if (const std::shared_ptr<cambium::Logger> logger = db->rep->GetOptions().info_log; logger != nullptr) {
    LogHints(std::move(hints), logger.get());
  }
  return changes;
}

// As in RocksDB, a call without any option fails. A call that has only hints succeeds.
Status SetFamilyOptions(rocksdb_t* db, ColumnFamilyHandle* family, int count, const char* const* keys,
                        const char* const* values) {
  CAMBIUM_TRY(const auto changes, Changes(db, count, keys, values));
  if (changes.empty() && count > 0) return Status::OK();
  return db->rep->SetOptions(family, changes);
}

void Compact(rocksdb_t* db, ColumnFamilyHandle* family, const cambium::CompactRangeOptions& options, const char* start,
             size_t start_length, const char* limit, size_t limit_length) {
  if (db->manual_compactions_disabled->load() > 0) return;
  const cambium::c::KeyRange range(start, start_length, limit, limit_length);
  Guarded(nullptr, [&] { return db->rep->CompactRange(options, family, range.BeginOrNull(), range.EndOrNull()); });
}

}  // namespace

extern "C" {

void rocksdb_destroy_db(const rocksdb_options_t* /*options*/, const char* name, char** errptr) {
  Guarded(errptr, [&] { return cambium::DestroyDB(name, Options()); });
}
void rocksdb_repair_db(const rocksdb_options_t* options, const char* name, char** errptr) {
  Guarded(errptr, [&]() -> Status {
    std::vector<std::string> hints;
    Options its;
    CAMBIUM_RETURN_IF_ERROR(ToCambium(*options, name, &its, &hints));
    return cambium::RepairDB(name, its);
  });
}
// Writes the identity as RocksDB does: 36 characters, the digits in groups of 8, 4, 4, 4 and 12.
char* rocksdb_get_db_identity(rocksdb_t* db, size_t* length) {
  std::string identity;
  *length = 0;
  if (!db->rep->GetDbIdentity(identity).ok()) return nullptr;
  for (const std::size_t at : {8, 13, 18, 23}) identity.insert(at, 1, '-');
  *length = identity.size();
  return CopyBytes(identity);
}

// ---- Flushing, compacting, durability ----

void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Flush({options->wait != 0}); });
}
void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options, rocksdb_column_family_handle_t* family,
                      char** errptr) {
  Guarded(errptr, [&] { return db->rep->Flush({options->wait != 0}, RepOf(family)); });
}
void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options, rocksdb_column_family_handle_t** families,
                       int count, char** errptr) {
  Guarded(errptr, [&] {
    Status s;
    for (int i = 0; i < count && s.ok(); ++i) s = db->rep->Flush({options->wait != 0}, RepOf(families[i]));
    return s;
  });
}
void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr) {
  Guarded(errptr, [&] { return db->rep->FlushWAL(sync != 0); });
}
void rocksdb_flush_wal_with_options(rocksdb_t* db, const rocksdb_flushwaloptions_t* options, char** errptr) {
  Guarded(errptr, [&] { return db->rep->FlushWAL(options->sync != 0); });
}

void rocksdb_compact_range(rocksdb_t* db, const char* start, size_t start_length, const char* limit,
                           size_t limit_length) {
  Compact(db, db->rep->DefaultColumnFamily(), {}, start, start_length, limit, limit_length);
}
void rocksdb_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, const char* start,
                              size_t start_length, const char* limit, size_t limit_length) {
  Compact(db, RepOf(family), {}, start, start_length, limit, limit_length);
}
void rocksdb_compact_range_opt(rocksdb_t* db, rocksdb_compactoptions_t* options, const char* start, size_t start_length,
                               const char* limit, size_t limit_length) {
  Compact(db, db->rep->DefaultColumnFamily(), options->Rep(), start, start_length, limit, limit_length);
}
void rocksdb_compact_range_cf_opt(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                  rocksdb_compactoptions_t* options, const char* start, size_t start_length,
                                  const char* limit, size_t limit_length) {
  Compact(db, RepOf(family), options->Rep(), start, start_length, limit, limit_length);
}
// In RocksDB these begin compactions. Here background jobs begin each compaction that is due.
void rocksdb_suggest_compact_range(rocksdb_t* /*db*/, const char* /*start*/, size_t /*start_length*/,
                                   const char* /*limit*/, size_t /*limit_length*/, char** /*errptr*/) {}
void rocksdb_suggest_compact_range_cf(rocksdb_t* /*db*/, rocksdb_column_family_handle_t* /*family*/,
                                      const char* /*start*/, size_t /*start_length*/, const char* /*limit*/,
                                      size_t /*limit_length*/, char** /*errptr*/) {}

void rocksdb_wait_for_compact(rocksdb_t* db, rocksdb_wait_for_compact_options_t* options, char** errptr) {
  Guarded(errptr, [&]() -> Status {
    if (options->flush != 0) CAMBIUM_RETURN_IF_ERROR(db->rep->Flush({}));
    CAMBIUM_RETURN_IF_ERROR(db->rep->WaitForCompact());
    return options->close_db != 0 ? db->rep->Close() : Status::OK();
  });
}

// Background work cannot be stopped: it keeps the database within its space. The same holds for removing files.
void rocksdb_pause_background_work(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, "PauseBackgroundWork"); }
void rocksdb_continue_background_work(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, "ContinueBackgroundWork"); }
void rocksdb_disable_file_deletions(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, "DisableFileDeletions"); }
void rocksdb_enable_file_deletions(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, "EnableFileDeletions"); }
// Close ends background work itself.
void rocksdb_cancel_all_background_work(rocksdb_t* /*db*/, unsigned char /*wait*/) {}
void rocksdb_disable_manual_compaction(rocksdb_t* db) { ++*db->manual_compactions_disabled; }
// As in RocksDB, a call that no DisableManualCompaction precedes cancels the next DisableManualCompaction.
void rocksdb_enable_manual_compaction(rocksdb_t* db) { --*db->manual_compactions_disabled; }

void rocksdb_compact_files(rocksdb_t* /*db*/, const rocksdb_compaction_options_t* /*options*/,
                           const char* const* /*inputs*/, size_t /*count*/, int /*output_level*/,
                           int /*output_path_id*/, char*** /*outputs*/, size_t* /*output_count*/,
                           rocksdb_compactionjobinfo_t* /*info*/, char** errptr) {
  Lack(errptr, "CompactFiles");
}
void rocksdb_compact_files_cf(rocksdb_t* /*db*/, rocksdb_column_family_handle_t* /*family*/,
                              const rocksdb_compaction_options_t* /*options*/, const char* const* /*inputs*/,
                              size_t /*count*/, int /*output_level*/, int /*output_path_id*/, char*** /*outputs*/,
                              size_t* /*output_count*/, rocksdb_compactionjobinfo_t* /*info*/, char** errptr) {
  Lack(errptr, "CompactFiles");
}
void rocksdb_compact_files_output_file_names_destroy(char** names, size_t count) {
  cambium_string_list_destroy(names, count);
}
void rocksdb_delete_file_in_range(rocksdb_t* /*db*/, const char* /*start*/, size_t /*start_length*/,
                                  const char* /*limit*/, size_t /*limit_length*/, char** /*errptr*/) {}
void rocksdb_delete_file_in_range_cf(rocksdb_t* /*db*/, rocksdb_column_family_handle_t* /*family*/,
                                     const char* /*start*/, size_t /*start_length*/, const char* /*limit*/,
                                     size_t /*limit_length*/, char** /*errptr*/) {}

void rocksdb_verify_checksum_with_options(rocksdb_t* db, const rocksdb_readoptions_t* options, char** errptr) {
  Guarded(errptr, [&] {
    cambium::ReadOptions its = options == nullptr ? cambium::ReadOptions() : options->Rep();
    its.fill_cache = false;
    return db->rep->VerifyChecksum(its);
  });
}
void rocksdb_verify_checksum(rocksdb_t* db, char** errptr) {
  rocksdb_verify_checksum_with_options(db, nullptr, errptr);
}
// Files have no checksum as a whole: each piece has its own.
void rocksdb_verify_file_checksums(rocksdb_t* db, char** errptr) { rocksdb_verify_checksum(db, errptr); }
void rocksdb_verify_file_checksums_with_options(rocksdb_t* db, const rocksdb_readoptions_t* options, char** errptr) {
  rocksdb_verify_checksum_with_options(db, options, errptr);
}

// ---- Snapshots ----

const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db) {
  auto made = std::make_unique<rocksdb_snapshot_t>();
  made->rep = db->rep->GetSnapshot();
  return made.release();
}
void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot) {
  if (snapshot->rep != nullptr) db->rep->ReleaseSnapshot(snapshot->rep);
  delete snapshot;
}
uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot) {
  return snapshot->rep == nullptr ? 0 : snapshot->rep->GetSequenceNumber();
}
uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db) { return db->rep->GetLatestSequenceNumber(); }

// ---- Options in force ----

void rocksdb_set_options(rocksdb_t* db, int count, const char* const keys[], const char* const values[],
                         char** errptr) {
  Guarded(errptr, [&] { return SetFamilyOptions(db, db->rep->DefaultColumnFamily(), count, keys, values); });
}
void rocksdb_set_options_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, int count, const char* const keys[],
                            const char* const values[], char** errptr) {
  Guarded(errptr, [&] { return SetFamilyOptions(db, RepOf(family), count, keys, values); });
}
void rocksdb_set_db_options(rocksdb_t* db, int count, const char* const keys[], const char* const values[],
                            char** errptr) {
  Guarded(errptr, [&]() -> Status {
    CAMBIUM_TRY(const auto changes, Changes(db, count, keys, values));
    return changes.empty() && count > 0 ? Status::OK() : db->rep->SetDBOptions(changes);
  });
}

void rocksdb_free(void* pointer) { cambium_free(pointer); }

}  // extern "C"
