// The options of single calls. A call with an option whose meaning would be lost is NotSupported; options that only
// concern speed are accepted, and have no effect.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "cambium/db.h"
#include "cambium/options.h"
#include "cambium/rocksdb_names/rocksdb/env.h"
#include "cambium/rocksdb_names/rocksdb/slice.h"
#include "cambium/rocksdb_names/rocksdb/snapshot.h"

namespace rocksdb::inline on_cambium {

using cambium::BlobGarbageCollectionPolicy;

enum ReadTier { kReadAllTier = 0, kBlockCacheTier = 1, kPersistedTier = 2, kMemtableTier = 3 };

struct ReadOptions : public cambium::ReadOptions {
  ReadOptions() = default;
  ReadOptions(bool verify, bool fill) {
    verify_checksums = verify;
    fill_cache = fill;
  }

  // ---- Refused, if they differ from their defaults ----
  const Slice* timestamp = nullptr;
  const Slice* iter_start_ts = nullptr;
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  std::chrono::microseconds io_timeout = std::chrono::microseconds::zero();
  ReadTier read_tier = kReadAllTier;
  std::uint64_t value_size_soft_limit = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_skippable_internal_keys = 0;
  bool tailing = false;
  bool prefix_same_as_start = false;
  bool pin_data = false;

  // ---- Always so here ----
  bool total_order_seek = false;
  bool auto_prefix_mode = false;

  // ---- Without effect ----
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  bool ignore_range_deletions = false;
  bool optimize_multiget_for_io = true;
  std::size_t readahead_size = 0;
  bool adaptive_readahead = false;
  bool auto_readahead_size = true;
  bool background_purge_on_iterator_cleanup = false;
  bool auto_refresh_iterator_with_snapshot = false;
};

struct WriteOptions : public cambium::WriteOptions {
  // A write to a dropped family fails, and the batch with it, whatever the value is.
  bool ignore_missing_column_families = false;

  // ---- Without effect ----
  bool low_pri = false;
  bool memtable_insert_hint_per_batch = false;
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  std::size_t protection_bytes_per_key = 0;
};

struct FlushOptions : public cambium::FlushOptions {
  bool allow_write_stall = false;  // without effect
};

enum class BottommostLevelCompaction { kSkip, kIfHaveCompactionFilter, kForce, kForceOptimized };

struct CompactRangeOptions : public cambium::CompactRangeOptions {
  // ---- Refused, if they differ from their defaults ----
  std::uint32_t target_path_id = 0;
  const Slice* full_history_ts_low = nullptr;
  std::atomic<bool>* canceled = nullptr;

  // ---- Without effect ----
  bool exclusive_manual_compaction = false;
  bool change_level = false;
  int target_level = -1;
  BottommostLevelCompaction bottommost_level_compaction = BottommostLevelCompaction::kIfHaveCompactionFilter;
  bool allow_write_stall = false;
  std::uint32_t max_subcompactions = 0;
};

struct WaitForCompactOptions {
  bool close_db = false;  // then close the database
  // ---- Refused, if they differ from their defaults ----
  bool flush = false;
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
  // ---- Without effect: background work cannot be paused ----
  bool abort_on_pause = false;
  bool wait_for_purge = false;
};

// Separated values always count, as include_blob_files says in RocksDB.
struct SizeApproximationOptions : public cambium::SizeApproximationOptions {
  bool include_blob_files = false;
  double files_size_error_margin = -1.0;  // without effect
};

struct Range {
  Range() = default;
  Range(const Slice& its_start, const Slice& its_limit) : start(its_start), limit(its_limit) {}
  Slice start;
  Slice limit;
};

}  // namespace rocksdb::inline on_cambium
