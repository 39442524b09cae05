// Statistics: what a database has done, in counters (tickers) and in distributions of times and sizes (histograms).
//
//   cambium::Options options;
//   options.statistics = cambium::CreateDBStatistics();
//   ...
//   std::uint64_t hits = options.statistics->getTickerCount(cambium::BLOCK_CACHE_HIT);
//   std::puts(options.statistics->ToString().c_str());
//
// Names are RocksDB's where they mean the same here, with the names "rocksdb.x" too; what only this library has is
// "cambium.x". Numbers of the enumerators are not RocksDB's: go by names. What is not here is not counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "cambium/status.h"

namespace cambium {

enum Tickers : std::uint32_t {
  // ---- Index pages; the block cache of RocksDB is our page cache ----
  BLOCK_CACHE_MISS = 0,
  BLOCK_CACHE_HIT,
  BLOCK_CACHE_ADD,          // pages that came in, read or just written
  BLOCK_CACHE_BYTES_WRITE,  // their bytes
  NUMBER_BLOCK_DECOMPRESSED,
  // Filters of runs and level files, and of the lowest branches of trees. Negatives; of the first kind also positives,
  // and those of them behind which the key was.
  BLOOM_FILTER_USEFUL,
  BLOOM_FILTER_FULL_POSITIVE,
  BLOOM_FILTER_FULL_TRUE_POSITIVE,

  // ---- Where keys that users look up are found, deleted ones too ----
  MEMTABLE_HIT,
  MEMTABLE_MISS,
  GET_HIT_L0,          // a run
  GET_HIT_L1,          // level 1 of an LSM
  GET_HIT_L2_AND_UP,   // its deeper levels
  GET_HIT_TREE,        // a B+-tree

  // ---- Calls of users, and their bytes as users see them ----
  NUMBER_KEYS_WRITTEN,  // operations that were committed
  NUMBER_KEYS_READ,     // Gets
  BYTES_WRITTEN,        // of keys and values that were committed
  BYTES_READ,           // of values that Get returned
  WRITE_WITH_WAL,       // batches and single writes that were committed
  NUMBER_MULTIGET_CALLS,
  NUMBER_MULTIGET_KEYS_READ,
  NUMBER_MULTIGET_KEYS_FOUND,
  NUMBER_MULTIGET_BYTES_READ,
  NUMBER_DB_SEEK,  // every kind of seek
  NUMBER_DB_NEXT,
  NUMBER_DB_PREV,
  NUMBER_DB_SEEK_FOUND,  // and the iterator was valid then
  NUMBER_DB_NEXT_FOUND,
  NUMBER_DB_PREV_FOUND,
  ITER_BYTES_READ,   // of keys that iterators came to, and of values that are inline or were fetched
  NUMBER_ITER_SKIP,  // deleted keys that they passed over
  NO_ITERATOR_CREATED,
  NO_ITERATOR_DELETED,
  STALL_MICROS,        // that writes waited for background work
  SPACE_STALL_MICROS,  // of these, for space

  // ---- The log ----
  WAL_FILE_SYNCED,  // fdatasyncs
  WAL_FILE_BYTES,   // of records

  // ---- Separated values: in the log, in files of their own, and where log GC has moved them ----
  BLOB_DB_BLOB_FILE_BYTES_WRITTEN,  // of their records, by users and by log GC
  BLOB_DB_BLOB_FILE_BYTES_READ,     // of their records, by users and by log GC
  BLOB_DB_BLOB_FILE_SYNCED,         // syncs of files that are not the log
  VALUE_READ_CACHED,                // values that users read without waiting for a device
  VALUE_READ_FROM_DEVICE,           // the others
  BLOB_DB_GC_NUM_KEYS_RELOCATED,
  BLOB_DB_GC_BYTES_RELOCATED,  // of records, as written
  LOG_GC_BYTES_FREED,          // of segments that were emptied, without holes; what was written for it is not taken off

  // ---- Background work on the index ----
  FLUSH_WRITE_BYTES,        // of index files that flushes have written
  COMPACT_READ_BYTES,       // of index files that sweeps, compactions and flushes straight into a tree have read
  COMPACT_WRITE_BYTES,      // of index files that sweeps and compactions have written
  COMPACTION_KEYS_DROPPED,  // entries that they left out: hidden, deleted, or deletions of nothing
  PAGE_CACHE_EVICTED,       // pages
  RATE_LIMITER_MICROS,      // that it waited for the rate limiter

  // ---- What is written to files of the database, by what for: together every byte, those of a write that fails too.
  // Space that is only taken (of the log ahead of its end, of the reserve for a full disk) is not written.
  FILE_BYTES_LOG,       // the log with all that is in it, and new values with files of their own
  FILE_BYTES_FLUSH,     // index files, by flushes; those that only a snapshot needs too
  FILE_BYTES_MERGE,     // by sweeps and compactions, and values that a compaction filter has changed
  FILE_BYTES_GC,        // by log GC: records that it moved, and runs that say where they are now
  FILE_BYTES_MANIFEST,
  FILE_BYTES_OTHER,     // OPTIONS files, the LOG unless info_log is the user's, and the reserve for a full disk

  TICKER_ENUM_MAX
};

enum Histograms : std::uint32_t {
  // ---- Microseconds of calls ----
  DB_GET = 0,
  DB_MULTIGET,
  DB_WRITE,  // any write, with its waits
  DB_SEEK,   // any seek
  WRITE_STALL,  // waits of writes for background work
  // ---- Microseconds of parts ----
  WAL_FILE_SYNC_MICROS,
  MANIFEST_COMMIT_MICROS,  // a record of the MANIFEST, its sync included
  BLOB_DB_BLOB_FILE_READ_MICROS,   // that a user waited for a device
  BLOB_DB_BLOB_FILE_WRITE_MICROS,  // of a value with a file of its own
  BLOB_DB_BLOB_FILE_SYNC_MICROS,   // of such files, and those that log GC writes
  BLOB_DB_COMPRESSION_MICROS,      // of a value that is written; only with StatsLevel::kAll
  BLOB_DB_DECOMPRESSION_MICROS,    // of a value that is read; only with StatsLevel::kAll
  // ---- Microseconds of background work, by step ----
  FLUSH_TIME,
  COMPACTION_TIME,  // sweeps and compactions
  LOG_GC_TIME,
  // ---- Bytes, as users see them ----
  BYTES_PER_READ,
  BYTES_PER_WRITE,
  BYTES_PER_MULTIGET,

  HISTOGRAM_ENUM_MAX
};

// Enumerators and their names, in order.
inline constexpr std::array<std::pair<Tickers, const char*>, TICKER_ENUM_MAX> TickersNameMap = {{
    {BLOCK_CACHE_MISS, "rocksdb.block.cache.miss"},
    {BLOCK_CACHE_HIT, "rocksdb.block.cache.hit"},
    {BLOCK_CACHE_ADD, "rocksdb.block.cache.add"},
    {BLOCK_CACHE_BYTES_WRITE, "rocksdb.block.cache.bytes.write"},
    {NUMBER_BLOCK_DECOMPRESSED, "rocksdb.number.block.decompressed"},
    {BLOOM_FILTER_USEFUL, "rocksdb.bloom.filter.useful"},
    {BLOOM_FILTER_FULL_POSITIVE, "rocksdb.bloom.filter.full.positive"},
    {BLOOM_FILTER_FULL_TRUE_POSITIVE, "rocksdb.bloom.filter.full.true.positive"},
    {MEMTABLE_HIT, "rocksdb.memtable.hit"},
    {MEMTABLE_MISS, "rocksdb.memtable.miss"},
    {GET_HIT_L0, "rocksdb.l0.hit"},
    {GET_HIT_L1, "rocksdb.l1.hit"},
    {GET_HIT_L2_AND_UP, "rocksdb.l2andup.hit"},
    {GET_HIT_TREE, "cambium.tree.hit"},
    {NUMBER_KEYS_WRITTEN, "rocksdb.number.keys.written"},
    {NUMBER_KEYS_READ, "rocksdb.number.keys.read"},
    {BYTES_WRITTEN, "rocksdb.bytes.written"},
    {BYTES_READ, "rocksdb.bytes.read"},
    {WRITE_WITH_WAL, "rocksdb.write.wal"},
    {NUMBER_MULTIGET_CALLS, "rocksdb.number.multiget.get"},
    {NUMBER_MULTIGET_KEYS_READ, "rocksdb.number.multiget.keys.read"},
    {NUMBER_MULTIGET_KEYS_FOUND, "rocksdb.number.multiget.keys.found"},
    {NUMBER_MULTIGET_BYTES_READ, "rocksdb.number.multiget.bytes.read"},
    {NUMBER_DB_SEEK, "rocksdb.number.db.seek"},
    {NUMBER_DB_NEXT, "rocksdb.number.db.next"},
    {NUMBER_DB_PREV, "rocksdb.number.db.prev"},
    {NUMBER_DB_SEEK_FOUND, "rocksdb.number.db.seek.found"},
    {NUMBER_DB_NEXT_FOUND, "rocksdb.number.db.next.found"},
    {NUMBER_DB_PREV_FOUND, "rocksdb.number.db.prev.found"},
    {ITER_BYTES_READ, "rocksdb.db.iter.bytes.read"},
    {NUMBER_ITER_SKIP, "rocksdb.number.iter.skip"},
    {NO_ITERATOR_CREATED, "rocksdb.num.iterator.created"},
    {NO_ITERATOR_DELETED, "rocksdb.num.iterator.deleted"},
    {STALL_MICROS, "rocksdb.stall.micros"},
    {SPACE_STALL_MICROS, "cambium.stall.space.micros"},
    {WAL_FILE_SYNCED, "rocksdb.wal.synced"},
    {WAL_FILE_BYTES, "rocksdb.wal.bytes"},
    {BLOB_DB_BLOB_FILE_BYTES_WRITTEN, "rocksdb.blobdb.blob.file.bytes.written"},
    {BLOB_DB_BLOB_FILE_BYTES_READ, "rocksdb.blobdb.blob.file.bytes.read"},
    {BLOB_DB_BLOB_FILE_SYNCED, "rocksdb.blobdb.blob.file.synced"},
    {VALUE_READ_CACHED, "cambium.value.read.cached"},
    {VALUE_READ_FROM_DEVICE, "cambium.value.read.device"},
    {BLOB_DB_GC_NUM_KEYS_RELOCATED, "rocksdb.blobdb.gc.num.keys.relocated"},
    {BLOB_DB_GC_BYTES_RELOCATED, "rocksdb.blobdb.gc.bytes.relocated"},
    {LOG_GC_BYTES_FREED, "cambium.gc.bytes.freed"},
    {FLUSH_WRITE_BYTES, "rocksdb.flush.write.bytes"},
    {COMPACT_READ_BYTES, "rocksdb.compact.read.bytes"},
    {COMPACT_WRITE_BYTES, "rocksdb.compact.write.bytes"},
    {COMPACTION_KEYS_DROPPED, "cambium.compaction.keys.dropped"},
    {PAGE_CACHE_EVICTED, "cambium.page.cache.evicted"},
    {RATE_LIMITER_MICROS, "cambium.rate.limiter.micros"},
    {FILE_BYTES_LOG, "cambium.file.bytes.log"},
    {FILE_BYTES_FLUSH, "cambium.file.bytes.flush"},
    {FILE_BYTES_MERGE, "cambium.file.bytes.merge"},
    {FILE_BYTES_GC, "cambium.file.bytes.gc"},
    {FILE_BYTES_MANIFEST, "cambium.file.bytes.manifest"},
    {FILE_BYTES_OTHER, "cambium.file.bytes.other"},
}};
inline constexpr std::array<std::pair<Histograms, const char*>, HISTOGRAM_ENUM_MAX> HistogramsNameMap = {{
    {DB_GET, "rocksdb.db.get.micros"},
    {DB_MULTIGET, "rocksdb.db.multiget.micros"},
    {DB_WRITE, "rocksdb.db.write.micros"},
    {DB_SEEK, "rocksdb.db.seek.micros"},
    {WRITE_STALL, "rocksdb.db.write.stall"},
    {WAL_FILE_SYNC_MICROS, "rocksdb.wal.file.sync.micros"},
    {MANIFEST_COMMIT_MICROS, "cambium.manifest.commit.micros"},
    {BLOB_DB_BLOB_FILE_READ_MICROS, "rocksdb.blobdb.blob.file.read.micros"},
    {BLOB_DB_BLOB_FILE_WRITE_MICROS, "rocksdb.blobdb.blob.file.write.micros"},
    {BLOB_DB_BLOB_FILE_SYNC_MICROS, "rocksdb.blobdb.blob.file.sync.micros"},
    {BLOB_DB_COMPRESSION_MICROS, "rocksdb.blobdb.compression.micros"},
    {BLOB_DB_DECOMPRESSION_MICROS, "rocksdb.blobdb.decompression.micros"},
    {FLUSH_TIME, "rocksdb.db.flush.micros"},
    {COMPACTION_TIME, "rocksdb.compaction.times.micros"},
    {LOG_GC_TIME, "cambium.gc.micros"},
    {BYTES_PER_READ, "rocksdb.bytes.per.read"},
    {BYTES_PER_WRITE, "rocksdb.bytes.per.write"},
    {BYTES_PER_MULTIGET, "rocksdb.bytes.per.multiget"},
}};

// Count and max, min and sum are exact; the others at most 6.3 % off, by the buckets that values are counted in.
struct HistogramData {
  double median = 0;
  double percentile95 = 0;
  double percentile99 = 0;
  double average = 0;
  double standard_deviation = 0;
  double max = 0;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  double min = 0;
};

// How much is counted: each level what those before it count, and more. Numbers are RocksDB's; its level for the time
// inside mutexes is missing, since that is not measured.
enum StatsLevel : std::uint8_t {
  kDisableAll = 0,
  kExceptHistogramOrTimers = 1,  // tickers; those of waits too, whose time is measured anyway
  kExceptTimers = 2,             // also histograms of bytes
  kExceptDetailedTimers = 3,     // also times, but for the next; the default
  kAll = 5,                      // also the time of each value's compression and decompression
};

// Any thread may call any function. Each thread counts in a place of its own (the first 32 of the process; later ones
// share), so that counting is a store to a line that no other core has; reading adds up. A number that is read while
// others count may miss what they are just adding. Several databases may have the same Statistics. Where memory runs out
// a measurement may be missing.
//
// Only the library makes these: others cannot be derived from it.
class Statistics {
 public:
  virtual ~Statistics() = default;
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  // Since it was made, or last reset. 0 for a number that is no ticker.
  [[nodiscard]] virtual std::uint64_t getTickerCount(std::uint32_t ticker) const = 0;
  virtual std::uint64_t getAndResetTickerCount(std::uint32_t ticker) = 0;
  // All by name. True: they are there.
  virtual bool getTickerMap(std::map<std::string, std::uint64_t>* tickers) const = 0;
  // *data is what it is for nothing at all, if the number is no histogram, or nothing was measured.
  virtual void histogramData(std::uint32_t histogram, HistogramData* data) const = 0;
  // "count 3 mean 2.0 min 1 p50 2 p95 3 p99 3 p99.9 3 max 3"
  [[nodiscard]] virtual std::string getHistogramString(std::uint32_t histogram) const = 0;
  // A line for each: "rocksdb.memtable.hit COUNT : 12", "rocksdb.db.get.micros P50 : 2 P95 : 3 P99 : 4 P100 : 9 COUNT :
  // 12 SUM : 25".
  [[nodiscard]] virtual std::string ToString() const = 0;
  // Everything is 0 then. Always OK.
  virtual Status Reset() = 0;

  // From now on. Any number is legal: those between levels count as the level below.
  virtual void set_stats_level(StatsLevel level) = 0;
  [[nodiscard]] virtual StatsLevel get_stats_level() const = 0;

 private:
  friend class StatisticsImpl;
  Statistics() = default;
};

[[nodiscard]] std::shared_ptr<Statistics> CreateDBStatistics();

}  // namespace cambium
