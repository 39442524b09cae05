// Opening and closing, and what concerns a database as a whole.
#include <algorithm>

#include "rocksdb_c/objects.h"

#include "cambium/repair.h"
#include "rocksdb_c/prefix.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyDescriptor;
using cambium::ColumnFamilyHandle;
using cambium::DB;
using cambium::DBOptions;
using cambium::Options;
using cambium::Result;
using cambium::Slice;
using cambium::Status;

namespace {

// Runs after each Open: registers the database with its cache, and writes the options to LOG.
void Welcome(const std::shared_ptr<DB>& db, const rocksdb_options_t& options, const std::vector<std::string>& hints) {
  if (options.table.has_value() && options.table->block_cache != nullptr) {
    RocksCache& cache = *options.table->block_cache;
    const cambium::MutexLock lock(cache.mutex);
    std::erase_if(cache.users, [](const std::weak_ptr<DB>& each) { return each.expired(); });
    cache.users.push_back(db);
  }
  if (const std::shared_ptr<cambium::Logger> logger = db->GetOptions().info_log; logger != nullptr) {
    LogOptions(options, hints, logger.get());
  }
}

using Opens = Status (*)(const DBOptions&, const std::string&, const std::vector<ColumnFamilyDescriptor>&,
                         std::vector<ColumnFamilyHandle*>*, std::unique_ptr<DB>*);

Status OpenWith(Opens make, const rocksdb_options_t& options, const char* name, int count, const char* const* names,
                const rocksdb_options_t* const* family_options, rocksdb_column_family_handle_t** handles,
                rocksdb_t** db) {
  if (count < 0) return Status::InvalidArgument("the number of column families is " + std::to_string(count));
  std::vector<std::string> hints;
  Options whole;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, name, &whole, &hints));
  std::vector<ColumnFamilyDescriptor> families;
  std::vector<std::unique_ptr<rocksdb_column_family_handle_t>> wrapped;
  auto opened = std::make_unique<rocksdb_t>();
  for (int i = 0; i < count; ++i) {
    Options its;
    CAMBIUM_RETURN_IF_ERROR(ToCambium(*family_options[i], name, &its, &hints));
    // RocksDB has one cache for each family's table options; here it is the database's.
    if (names[i] == cambium::kDefaultColumnFamilyName) {
      whole.page_cache_size = std::max(whole.page_cache_size, its.page_cache_size);
      opened->prefix_extractor = family_options[i]->prefix_extractor;
    }
    its.blob_file_size = whole.blob_file_size;  // all families share one log
    families.emplace_back(names[i], its);
    wrapped.push_back(std::make_unique<rocksdb_column_family_handle_t>());
    wrapped.back()->prefix_extractor = family_options[i]->prefix_extractor;
  }
  std::vector<ColumnFamilyHandle*> made;
  std::unique_ptr<DB> rep;
  CAMBIUM_RETURN_IF_ERROR(make(whole, name, families, &made, &rep));
  opened->rep = std::move(rep);
  for (std::size_t i = 0; i < made.size(); ++i) {
    wrapped[i]->rep = made[i];
    wrapped[i]->db = opened->rep;
    handles[i] = wrapped[i].release();
  }
  Welcome(opened->rep, options, hints);
  *db = opened.release();
  return Status::OK();
}

using OpensDefault = Status (*)(const Options&, const std::string&, std::unique_ptr<DB>*);

rocksdb_t* OpenDefault(OpensDefault make, const rocksdb_options_t* options, const char* name, char** errptr) {
  rocksdb_t* db = nullptr;
  Guarded(errptr, [&]() -> Status {
    std::vector<std::string> hints;
    Options whole;
    CAMBIUM_RETURN_IF_ERROR(ToCambium(*options, name, &whole, &hints));
    auto opened = std::make_unique<rocksdb_t>();
    std::unique_ptr<DB> rep;
    CAMBIUM_RETURN_IF_ERROR(make(whole, name, &rep));
    opened->rep = std::move(rep);
    opened->prefix_extractor = options->prefix_extractor;
    Welcome(opened->rep, *options, hints);
    db = opened.release();
    return Status::OK();
  });
  return db;
}

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

// SetOptions refuses to change nothing, as RocksDB's does. A call that has only hints succeeds.
Status SetFamilyOptions(rocksdb_t* db, ColumnFamilyHandle* family, int count, const char* const* keys,
                        const char* const* values) {
  CAMBIUM_TRY(const auto changes, Changes(db, count, keys, values));
  if (changes.empty() && count > 0) return Status::OK();
  return db->rep->SetOptions(family, changes);
}

void Compact(rocksdb_t* db, ColumnFamilyHandle* family, const cambium::CompactRangeOptions& options, const char* start,
             size_t start_length, const char* limit, size_t limit_length) {
  if (db->manual_compactions_disabled.load() > 0) return;
  const cambium::c::KeyRange range(start, start_length, limit, limit_length);
  Guarded(nullptr, [&] { return db->rep->CompactRange(options, family, range.BeginOrNull(), range.EndOrNull()); });
}

}  // namespace

extern "C" {

// ---- Opening and closing ----

rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name, char** errptr) {
  return OpenDefault(&DB::Open, options, name, errptr);
}
// error_if_wal_file_exists: the log is the only copy of values here, so it always exists.
rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options, const char* name,
                                      unsigned char /*error_if_wal_file_exists*/, char** errptr) {
  return OpenDefault(&DB::OpenForReadOnly, options, name, errptr);
}
rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t* options, const char* name, int count,
                                        const char* const* names, const rocksdb_options_t* const* family_options,
                                        rocksdb_column_family_handle_t** handles, char** errptr) {
  rocksdb_t* db = nullptr;
  Guarded(errptr, [&] { return OpenWith(&DB::Open, *options, name, count, names, family_options, handles, &db); });
  return db;
}
rocksdb_t* rocksdb_open_for_read_only_column_families(const rocksdb_options_t* options, const char* name, int count,
                                                      const char* const* names,
                                                      const rocksdb_options_t* const* family_options,
                                                      rocksdb_column_family_handle_t** handles,
                                                      unsigned char /*error_if_wal_file_exists*/, char** errptr) {
  rocksdb_t* db = nullptr;
  Guarded(errptr,
          [&] { return OpenWith(&DB::OpenForReadOnly, *options, name, count, names, family_options, handles, &db); });
  return db;
}
rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* /*options*/, const char* /*name*/, int /*ttl*/,
                                 char** errptr) {
  return Lack(errptr, "expiry (open_with_ttl)");
}
rocksdb_t* rocksdb_open_column_families_with_ttl(const rocksdb_options_t* /*options*/, const char* /*name*/,
                                                 int /*count*/, const char* const* /*names*/,
                                                 const rocksdb_options_t* const* /*family_options*/,
                                                 rocksdb_column_family_handle_t** /*handles*/, const int* /*ttls*/,
                                                 char** errptr) {
  return Lack(errptr, "expiry (open_column_families_with_ttl)");
}
rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* /*options*/, const char* /*name*/,
                                     const char* /*secondary_path*/, char** errptr) {
  return Lack(errptr, "a secondary instance");
}
rocksdb_t* rocksdb_open_as_secondary_column_families(const rocksdb_options_t* /*options*/, const char* /*name*/,
                                                     const char* /*secondary_path*/, int /*count*/,
                                                     const char* const* /*names*/,
                                                     const rocksdb_options_t* const* /*family_options*/,
                                                     rocksdb_column_family_handle_t** /*handles*/, char** errptr) {
  return Lack(errptr, "a secondary instance");
}
void rocksdb_try_catch_up_with_primary(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, "a secondary instance"); }
void rocksdb_close(rocksdb_t* db) { delete db; }

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
// As RocksDB writes an identity: 36 characters, the digits in groups of 8, 4, 4, 4 and 12.
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
// In RocksDB these begin compactions; here jobs of their own do what is due.
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
void rocksdb_disable_manual_compaction(rocksdb_t* db) { ++db->manual_compactions_disabled; }
// As in RocksDB, a call without one of DisableManualCompaction before it cancels the next one.
void rocksdb_enable_manual_compaction(rocksdb_t* db) { --db->manual_compactions_disabled; }

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

// ---- Snapshots: a rocksdb_snapshot_t is the snapshot itself ----

const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db) {
  return reinterpret_cast<const rocksdb_snapshot_t*>(db->rep->GetSnapshot());
}
void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot) {
  db->rep->ReleaseSnapshot(reinterpret_cast<const cambium::Snapshot*>(snapshot));
}
uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot) {
  return reinterpret_cast<const cambium::Snapshot*>(snapshot)->GetSequenceNumber();
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
