// DBOptions, Options: how a database is opened. The options of single calls are in call_options.h.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/options.h"
#include "cambium/rocksdb_names/rocksdb/advanced_options.h"
#include "cambium/rocksdb_names/rocksdb/call_options.h"
#include "cambium/rocksdb_names/rocksdb/env.h"
#include "cambium/rocksdb_names/rocksdb/hint_options.h"
#include "cambium/rocksdb_names/rocksdb/listener.h"
#include "cambium/rocksdb_names/rocksdb/rate_limiter.h"
#include "cambium/rocksdb_names/rocksdb/statistics.h"
#include "cambium/rocksdb_names/rocksdb/write_buffer_manager.h"

namespace rocksdb::inline on_cambium {

using cambium::IndexKind;
using cambium::ValueClustering;
using cambium::WALRecoveryMode;
using enum cambium::IndexKind;

enum class CacheTier : std::uint8_t { kVolatileTier = 0, kVolatileCompressedTier = 1, kNonVolatileBlockTier = 2 };

// The rules of ColumnFamilyOptions hold here too.
struct DBOptions : protected cambium::DBOptions {
 private:
  using Base = cambium::DBOptions;

 public:
  DBOptions() = default;
  explicit DBOptions(const Options& options);

  // ---- Options of both ----
  using Base::allow_mmap_reads;
  using Base::create_if_missing;
  using Base::create_missing_column_families;
  using Base::db_write_buffer_size;
  using Base::error_if_exists;
  using Base::max_background_jobs;
  using Base::max_open_files;
  using Base::max_total_wal_size;
  using Base::rate_limiter;
  using Base::statistics;
  using Base::wal_recovery_mode;
  std::vector<std::shared_ptr<EventListener>> listeners;
  std::shared_ptr<Logger> info_log;  // null: a file LOG in the database's directory
  std::shared_ptr<WriteBufferManager> write_buffer_manager;
  // Older options. If one of them is set, their sum replaces max_background_jobs.
  int max_background_compactions = -1;
  int max_background_flushes = -1;
  Env* env = Env::Default();

  // ---- Cambium's own ----
  using Base::clock;
  using Base::executor;
  using Base::file_system;
  using Base::lock_wait_micros;
  using Base::max_space_amplification;
  using Base::min_punch_size;
  using Base::min_space_limit;
  using Base::page_cache_size;  // unless table options have a block_cache

  // ---- Open returns NotSupported if one of these is another directory than the database's ----
  std::vector<DbPath> db_paths;
  std::string wal_dir;

  // ---- Hints ----
  CAMBIUM_ROCKSDB_DB_HINTS(CAMBIUM_ROCKSDB_MEMBER)

  // Sets max_background_jobs. Returns this.
  DBOptions* IncreaseParallelism(int total_threads = 16);
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // The options that Cambium has under the same name and with the same type.
  [[nodiscard]] const cambium::DBOptions& Same() const { return *this; }
  [[nodiscard]] cambium::DBOptions& Same() { return *this; }
};

// The options of a database and of its default family in one.
struct Options : public DBOptions, public ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db, const ColumnFamilyOptions& family) : DBOptions(db), ColumnFamilyOptions(family) {}

  using ColumnFamilyOptions::Same;

  Options* OptimizeForSmallDb();
  // Both are hints here. Return this.
  Options* PrepareForBulkLoad();
  Options* DisableExtraChecks();
};

}  // namespace rocksdb::inline on_cambium
