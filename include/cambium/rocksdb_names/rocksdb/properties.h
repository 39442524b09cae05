// The names of RocksDB's properties that Cambium has too; docs/OPTIONS.md says what they mean, and lists the others.
#pragma once

#include <string>

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

struct Properties {
  inline static const std::string kNumFilesAtLevelPrefix = "rocksdb.num-files-at-level";
  inline static const std::string kStats = "rocksdb.stats";
  inline static const std::string kSSTables = "rocksdb.sstables";
  inline static const std::string kLevelStats = "rocksdb.levelstats";
  inline static const std::string kNumImmutableMemTable = "rocksdb.num-immutable-mem-table";
  inline static const std::string kMemTableFlushPending = "rocksdb.mem-table-flush-pending";
  inline static const std::string kCompactionPending = "rocksdb.compaction-pending";
  inline static const std::string kBackgroundErrors = "rocksdb.background-errors";
  inline static const std::string kCurSizeActiveMemTable = "rocksdb.cur-size-active-mem-table";
  inline static const std::string kCurSizeAllMemTables = "rocksdb.cur-size-all-mem-tables";
  inline static const std::string kSizeAllMemTables = "rocksdb.size-all-mem-tables";
  inline static const std::string kNumEntriesActiveMemTable = "rocksdb.num-entries-active-mem-table";
  inline static const std::string kEstimateNumKeys = "rocksdb.estimate-num-keys";
  inline static const std::string kEstimateTableReadersMem = "rocksdb.estimate-table-readers-mem";
  inline static const std::string kNumSnapshots = "rocksdb.num-snapshots";
  inline static const std::string kOldestSnapshotSequence = "rocksdb.oldest-snapshot-sequence";
  inline static const std::string kEstimateLiveDataSize = "rocksdb.estimate-live-data-size";
  inline static const std::string kBlockCacheCapacity = "rocksdb.block-cache-capacity";
  inline static const std::string kBlockCacheUsage = "rocksdb.block-cache-usage";
  inline static const std::string kOptionsStatistics = "rocksdb.options-statistics";
  inline static const std::string kNumBlobFiles = "rocksdb.num-blob-files";
  inline static const std::string kBlobStats = "rocksdb.blob-stats";
  inline static const std::string kTotalBlobFileSize = "rocksdb.total-blob-file-size";
  inline static const std::string kLiveBlobFileSize = "rocksdb.live-blob-file-size";
  inline static const std::string kLiveBlobFileGarbageSize = "rocksdb.live-blob-file-garbage-size";
};

}  // namespace rocksdb::inline on_cambium
