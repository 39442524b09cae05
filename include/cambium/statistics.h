// Statistics: what a database has done, in counters (tickers) and in distributions of times and sizes (histograms).
//
//   cambium::Options options;
//   options.statistics = cambium::CreateDBStatistics();
//   ...
//   std::uint64_t hits = options.statistics->getTickerCount(cambium::BLOCK_CACHE_HIT);
//   std::puts(options.statistics->ToString().c_str());
//
// Names are RocksDB's where they mean the same here, with its string names "rocksdb.x"; counters that only this library
// has are called "cambium.x". The numbers of the enumerators differ from RocksDB's: use names. Counters of RocksDB that
// are missing here are not kept.
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
  // ---- Index pages. RocksDB's block cache is our page cache ----
  BLOCK_CACHE_MISS = 0,
  BLOCK_CACHE_HIT,
  BLOCK_CACHE_ADD,          // pages added, read or just written
  BLOCK_CACHE_BYTES_WRITE,  // their bytes
  NUMBER_BLOCK_DECOMPRESSED,
  // Filters of runs and level files, and of the lowest branches of trees. USEFUL counts negatives. Runs and level files
  // also count positives, and true positives: the key was in the file.
  BLOOM_FILTER_USEFUL,
  BLOOM_FILTER_FULL_POSITIVE,
  BLOOM_FILTER_FULL_TRUE_POSITIVE,

  // ---- Where lookups of users find their keys, deleted keys included ----
  MEMTABLE_HIT,
  MEMTABLE_MISS,
  GET_HIT_L0,          // a run
  GET_HIT_L1,          // level 1 of an LSM
  GET_HIT_L2_AND_UP,   // deeper levels of an LSM
  GET_HIT_TREE,        // a B+-tree

  // ---- Calls of users, with their bytes as users see them ----
  NUMBER_KEYS_WRITTEN,  // applied operations
  NUMBER_KEYS_READ,     // Gets
  BYTES_WRITTEN,        // keys and values of applied operations
  BYTES_READ,           // values that Get returned
  WRITE_WITH_WAL,       // applied batches and single writes
  NUMBER_MULTIGET_CALLS,
  NUMBER_MULTIGET_KEYS_READ,
  NUMBER_MULTIGET_KEYS_FOUND,
  NUMBER_MULTIGET_BYTES_READ,
  NUMBER_DB_SEEK,  // seeks of every kind
  NUMBER_DB_NEXT,
  NUMBER_DB_PREV,
  NUMBER_DB_SEEK_FOUND,  // seeks, Next and Prev after which the iterator was valid
  NUMBER_DB_NEXT_FOUND,
  NUMBER_DB_PREV_FOUND,
  ITER_BYTES_READ,   // keys that iterators reached, and values that are inline or were fetched
  NUMBER_ITER_SKIP,  // deleted keys that iterators passed over
  NO_ITERATOR_CREATED,
  NO_ITERATOR_DELETED,
  STALL_MICROS,        // time that writes waited for background work
  SPACE_STALL_MICROS,  // part of STALL_MICROS: waiting for space

  // ---- The log ----
  WAL_FILE_SYNCED,  // calls of fdatasync
  WAL_FILE_BYTES,   // bytes of records

  // ---- Separated values: in the log, in files of their own, and in relocation segments ----
  BLOB_DB_BLOB_FILE_BYTES_WRITTEN,  // records of values, written by users and by log GC
  BLOB_DB_BLOB_FILE_BYTES_READ,     // records of values, read by users and by log GC
  BLOB_DB_BLOB_FILE_SYNCED,         // syncs of files other than the log
  VALUE_READ_CACHED,                // values that users read without waiting for a device
  VALUE_READ_FROM_DEVICE,           // values that users waited for
  BLOB_DB_GC_NUM_KEYS_RELOCATED,
  BLOB_DB_GC_BYTES_RELOCATED,  // records, as written
  LOG_GC_BYTES_FREED,          // emptied segments without their holes; bytes that log GC wrote are not subtracted

  // ---- Background work on the index ----
  FLUSH_WRITE_BYTES,        // index files, by flushes
  COMPACT_READ_BYTES,       // index files, by sweeps, compactions and flushes straight into a tree
  COMPACT_WRITE_BYTES,      // index files, by sweeps and compactions
  COMPACTION_KEYS_DROPPED,  // entries not written again: hidden, deleted, or tombstones that hide nothing
  PAGE_CACHE_EVICTED,       // pages
  RATE_LIMITER_MICROS,      // time that background work waited for the rate limiter

  // ---- Bytes written to files of the database, by purpose. Together these tickers count every byte that is written,
  // also by writes that fail. Space that is only allocated (the reserve for a full disk) is not written. ----
  FILE_BYTES_LOG,       // the log, zeros ahead of it, and new values with files of their own
  FILE_BYTES_FLUSH,     // index files, by flushes, also those made for a snapshot only
  FILE_BYTES_MERGE,     // by sweeps and compactions, and values that a compaction filter changed
  FILE_BYTES_GC,        // by log GC: relocated records, and runs with their new addresses
  FILE_BYTES_MANIFEST,
  FILE_BYTES_OTHER,     // OPTIONS files, the LOG unless info_log is set, and the reserve for a full disk

  TICKER_ENUM_MAX
};

enum Histograms : std::uint32_t {
  // ---- Microseconds of calls ----
  DB_GET = 0,
  DB_MULTIGET,
  DB_WRITE,  // any write, including its waits
  DB_SEEK,   // any seek
  WRITE_STALL,  // waits of writes for background work
  // ---- Microseconds of parts ----
  WAL_FILE_SYNC_MICROS,
  MANIFEST_COMMIT_MICROS,  // one MANIFEST record, including its sync
  BLOB_DB_BLOB_FILE_READ_MICROS,   // user reads that waited for a device
  BLOB_DB_BLOB_FILE_WRITE_MICROS,  // writing a value with a file of its own
  BLOB_DB_BLOB_FILE_SYNC_MICROS,   // syncing such files, and those that log GC writes
  BLOB_DB_COMPRESSION_MICROS,      // of one written value; only with StatsLevel::kAll
  BLOB_DB_DECOMPRESSION_MICROS,    // of one read value; only with StatsLevel::kAll
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

// Count, max, min and sum are exact. The rest is computed from buckets, and at most 6.3 % off.
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

// How much is counted: each level adds to those before it. Numbers are RocksDB's. RocksDB's level for time spent in
// mutexes is missing here, since that time is not measured.
enum StatsLevel : std::uint8_t {
  kDisableAll = 0,
  kExceptHistogramOrTimers = 1,  // tickers, also those of waits, whose time is measured anyway
  kExceptTimers = 2,             // also histograms of bytes
  kExceptDetailedTimers = 3,     // also times, except the details below; the default
  kAll = 5,                      // also the time to compress or decompress each value
};

// Any thread may call any function. Each of the first 32 threads of the process counts in memory of its own, so
// counting is a store to a cache line that no other core holds; later threads share. Reading sums over all threads. A
// number that is read while other threads count may miss what they are just adding. Several databases may share one
// Statistics. If memory runs out, a measurement may be missing.
//
// Only the library creates these; users cannot derive from it.
class Statistics {
 public:
  virtual ~Statistics() = default;
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  // The count since creation or the last reset. 0 if `ticker` is not a ticker.
  [[nodiscard]] virtual std::uint64_t getTickerCount(std::uint32_t ticker) const = 0;
  virtual std::uint64_t getAndResetTickerCount(std::uint32_t ticker) = 0;
  // Fills in all tickers, by name. Always true.
  virtual bool getTickerMap(std::map<std::string, std::uint64_t>* tickers) const = 0;
  // Sets *data to zeros if `histogram` is not a histogram, or nothing was measured.
  virtual void histogramData(std::uint32_t histogram, HistogramData* data) const = 0;
  // "count 3 mean 2.0 min 1 p50 2 p95 3 p99 3 p99.9 3 max 3"
  [[nodiscard]] virtual std::string getHistogramString(std::uint32_t histogram) const = 0;
  // One line for each: "rocksdb.memtable.hit COUNT : 12", "rocksdb.db.get.micros P50 : 2 P95 : 3 P99 : 4 P100 : 9 COUNT
  // : 12 SUM : 25".
  [[nodiscard]] virtual std::string ToString() const = 0;
  // Sets everything to 0. Always OK.
  virtual Status Reset() = 0;

  // Takes effect at once. Any number is legal: one between two levels acts as the lower one.
  virtual void set_stats_level(StatsLevel level) = 0;
  [[nodiscard]] virtual StatsLevel get_stats_level() const = 0;

 private:
  friend class StatisticsImpl;
  Statistics() = default;
};

[[nodiscard]] std::shared_ptr<Statistics> CreateDBStatistics();

}  // namespace cambium
