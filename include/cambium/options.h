// Options: how a database is opened, and how single calls behave. Names and meanings are RocksDB's where it has them;
// docs/OPTIONS.md lists the ranges, every difference, and which options may be changed while the database is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/clock.h"
#include "cambium/comparator.h"
#include "cambium/executor.h"
#include "cambium/file_system.h"
#include "cambium/logger.h"
#include "cambium/random.h"
#include "cambium/slice.h"

namespace cambium {

class CompactionFilter;
class CompactionFilterFactory;
class EventListener;
class RateLimiter;
class Snapshot;
class Statistics;
class WriteBufferManager;

// Enumerators need no qualification: CompressionType::kZSTD and cambium::kZSTD are the same.

// Numbers as in RocksDB. Supported are kNoCompression, kLZ4Compression and kZSTD; the others are NotSupported.
enum class CompressionType : unsigned char {
  kNoCompression = 0,
  kSnappyCompression = 1,
  kZlibCompression = 2,
  kBZip2Compression = 3,
  kLZ4Compression = 4,
  kLZ4HCCompression = 5,
  kXpressCompression = 6,
  kZSTD = 7,
};
using enum CompressionType;

// The structure that indexes the keys of a family. Stored with the family.
enum class IndexKind : unsigned char {
  kBTree = 1,  // sorted runs swept into a copy-on-write B+-tree
  kLsm = 2,    // sorted runs compacted into levels
};
using enum IndexKind;

// Which values are rewritten in key order, so that a scan finds neighbouring values next to each other.
enum class ValueClustering : unsigned char {
  kOff = 0,
  // Values that scans had to read one by one from the device, once those reads have cost as much as rewriting the
  // values. They are rewritten only while this slows no call down and max_space_amplification leaves room.
  kAuto = 1,
  // All values, again and again, at a rate that follows the rate of users' writes. For each byte that a user writes,
  // the database writes about 2 bytes in all without a ceiling, and about 1 + 2 / (S - 1) bytes with a ceiling of S.
  // Log GC writes correspondingly less. With a ceiling, a pause in the writes costs more: after five seconds without
  // writes, all values are put in order, unless users have written less than a 64th of their bytes since the last time.
  // Values are rewritten only while max_space_amplification leaves room.
  kFull = 2,
};

// What Open does about damage at the end of the log. Numbers as in RocksDB.
enum class WALRecoveryMode : unsigned char {
  // The default. A damaged tail that is not proven durable is cut off, as any crash may leave one. Damage before a
  // record that is proven durable is Corruption, and Open fails.
  kTolerateCorruptedTailRecords = 0,
  // Even a torn tail is Corruption.
  kAbsoluteConsistency = 1,
  // Opens with the prefix before the first damage, even if synced records after it are lost. The loss is logged.
  kPointInTimeRecovery = 2,
  kSkipAnyCorruptedRecords = 3,  // NotSupported: it would make states that never existed
};
using enum WALRecoveryMode;

// How the runs of an LSM family are arranged. Names as in RocksDB where it has them.
enum class CompactionStyle : unsigned char {
  kCompactionStyleLevel = 0,      // one sorted run per level: fewest runs to look up in
  kCompactionStyleLazyLevel = 8,  // several sorted runs per level, one in the last level: fewer bytes written
};
using enum CompactionStyle;

// Options of one column family.
struct ColumnFamilyOptions {
  // ---- Keys and index ----
  const Comparator* comparator = BytewiseComparator();  // must outlive the database; its name is stored
  IndexKind index_type = IndexKind::kBTree;             // stored; another one is InvalidArgument at Open
  // Bytes per unit of an index page: a power of two in [512, 16384]. Stored; later opens use the stored value.
  std::uint64_t page_size = 4096;
  // Bits per key of the filter in each run, and in each lowest branch of a tree: 0 (no filter) to 64. With 10, one in
  // 100 lookups of an absent key reads the run or the leaf. In a tree in which many keys were deleted recently, a few
  // more do.
  int filter_bits_per_key = 10;

  // ---- Memory ----
  // Bytes of memory that the active memtable may take before it is flushed. [4 KiB, 16 GiB]
  std::size_t write_buffer_size = 64u << 20;
  // Number of memtables, the active one included, at which writers wait for a flush. [2, 64]
  int max_write_buffer_number = 3;

  // ---- Values ----
  // If false, only values that do not fit inline (a quarter of a page unit) are separated.
  bool enable_blob_files = true;
  // Values of at least this many bytes, uncompressed, stay in the log; smaller ones travel with their keys. Empty
  // values are never separated; values above a quarter of a page unit always are.
  std::uint64_t min_blob_size = 512;
  // Larger values get a file of their own, which is durable before the log refers to it. [4 KiB, 64 MiB]
  std::uint64_t large_value_size = 16u << 20;
  // Compression of separated values, each on its own. A value that would not shrink by an eighth is stored raw.
  CompressionType blob_compression_type = CompressionType::kNoCompression;
  // Bytes after which a log segment is rotated. [16 KiB, 1 GiB] All families share one log: the value must be the same
  // in all of them, and changing it in the default family changes it in all.
  std::uint64_t blob_file_size = 256u << 20;

  // Whether values are brought into key order in the background, as CompactRangeOptions::cluster_values does on demand.
  // Values of more than 64 KiB are not moved.
  ValueClustering value_clustering = ValueClustering::kOff;

  // ---- Compactions ----
  // Decides which entries compactions keep; see compaction_filter.h. Owned by the caller: it must outlive the database,
  // and several threads call it at once. Null: no filter.
  const CompactionFilter* compaction_filter = nullptr;
  // Makes a filter for each compaction instead. Ignored if compaction_filter is set.
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory;

  // ---- Log GC: the default family's options hold for the whole database, since all families share one log ----
  // In the background, segments with much garbage are emptied and removed.
  bool enable_blob_garbage_collection = true;
  // Unless space is short, only this fraction of the segments (rounded down), the oldest, is collected. [0, 1]
  double blob_garbage_collection_age_cutoff = 0.25;
  // If garbage is at least this fraction of the bytes of these oldest segments, they are collected at once, oldest
  // first; 1: never. [0, 1]
  double blob_garbage_collection_force_threshold = 1.0;

  // ---- kBTree; ignored in a kLsm family ----
  // Runs are swept into the tree when they hold more than 1/sweep_ratio of its keys. [1, 1000]
  int sweep_ratio = 8;

  // ---- kLsm; ignored in a kBTree family, except the second and the third trigger ----
  CompactionStyle compaction_style = kCompactionStyleLevel;
  int level0_file_num_compaction_trigger = 4;  // runs in level 0 that start a compaction. [1, 1000]
  // These two count the runs in level 0, or above the tree of a kBTree family, that wait for a compaction.
  int level0_slowdown_writes_trigger = 20;  // from here on each write is slowed down a little. [the above, 10000]
  int level0_stop_writes_trigger = 36;      // from here on writes wait for a compaction. [the above, 10000]
  std::uint64_t target_file_size_base = 64u << 20;  // bytes of a file in level 1. [16 KiB, 1 TiB]
  int target_file_size_multiplier = 1;              // growth from level to level. [1, 100]
  std::uint64_t max_bytes_for_level_base = 256u << 20;  // bytes of level 1. [16 KiB, 1 PiB]
  double max_bytes_for_level_multiplier = 10;           // growth from level to level. [1, 1000]
  int num_levels = 7;                                   // level 0 included. [2, 63]
  // Compression of those pages of runs and level files that hold keys and inline values. A page that would not shrink
  // by an eighth is stored raw.
  CompressionType compression = CompressionType::kNoCompression;
};

// Options of the database as a whole.
struct DBOptions {
  // ---- Open ----
  bool create_if_missing = false;  // if false, a missing database is InvalidArgument
  // Create the families that are named in DB::Open and do not exist.
  bool create_missing_column_families = false;
  bool error_if_exists = false;  // InvalidArgument if the database exists
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  // How long Open waits for another holder of the lock, in microseconds. A process that was just killed may still hold
  // it for a moment.
  std::uint64_t lock_wait_micros = 0;

  // ---- Memory, log, threads ----
  // Bytes of index pages kept in memory, for all families. At least 64 KiB; pinned pages may exceed this limit for a
  // while.
  std::size_t page_cache_size = 256u << 20;
  // Bytes of memory that the memtables of all families and the filters of their runs may take, as allocated. Before they
  // take more, memtables are flushed, and writes wait for that; see write_buffer_manager.h. 0: no limit, else
  // [64 KiB, 1 PiB]. Ignored if write_buffer_manager is set.
  std::size_t db_write_buffer_size = 0;
  // The same limit, shared with other databases. Null: db_write_buffer_size alone counts.
  std::shared_ptr<WriteBufferManager> write_buffer_manager;
  // Bytes of log that recovery may have to read. When there are more, the family that needs the oldest part is flushed
  // although its memtable is not full. 0 = 1 GiB, else [4 KiB, 1 TiB].
  std::uint64_t max_total_wal_size = 0;
  // Ceiling: the database's files may take this many times the stored bytes of its live entries, plus two log segments
  // and one step of log GC. Space that only snapshots hold does not count. Flushes, compactions and log GC start early
  // enough to keep below the ceiling; if that is not enough, writers wait. If no job can free space, they go on, for
  // example if log GC is off (docs/LIMITS.md has all exceptions). 0: no ceiling, else [1, 100]. If values may be in
  // the index (min_blob_size above 1, or enable_blob_files off), at least 1.25; in an LSM with num_levels 2 at least
  // 2.5. Near 1, log GC writes a multiple of the users' bytes.
  double max_space_amplification = 1.5;
  // While a database is written to, it may take this many bytes, even if the ceiling is lower: under a ceiling of a few
  // MiB, most of the work would be log GC. After five seconds without writes the ceiling alone counts. 0: the ceiling
  // alone always counts; at most 1 TiB. Not used if max_space_amplification is 0.
  std::uint64_t min_space_limit = 16u << 20;
  // Log GC does not relocate a value whose record has at least this many bytes. Once nothing refers to the value, it is
  // punched out of its segment, if the file system supports holes and the file has one name.
  // 0: never, else [4 KiB, 1 GiB].
  std::uint64_t min_punch_size = 256u << 10;
  // If true, values that the system's page cache holds are copied from a mapping of their segment, without a system
  // call, and so are leaves of the index that do not fit into page_cache_size. The first mapping installs a SIGBUS
  // handler, which forwards signals that such a copy did not cause. Nothing is mapped on processors other than x86-64,
  // if the address space of the process is limited (RLIMIT_AS), or if the system does not report what its page cache
  // holds: all values and leaves are then read from files. At most 8,192 files of the process are mapped, and at most
  // half of max_open_files. RocksDB's default is false.
  bool allow_mmap_reads = true;
  // The number of files that the database keeps open. Before it opens another file, it closes one that no call uses. It
  // opens that file again for the next call that uses it. Files that are being written or mapped stay open, even if
  // there are more than this number. -1: no limit, which is RocksDB's default. 0: three quarters of the soft limit of
  // descriptors (RLIMIT_NOFILE). With 0, Open raises the soft limit to the hard one; a program that calls select()
  // should set another value. If the process has no free descriptor, files are closed whatever the value is.
  // [-1, 2^30]
  int max_open_files = 0;
  // Number of sweeps, compactions and log GC steps that run at once. Flushes, seals and file removals have threads of
  // their own. [1, 64]
  int max_background_jobs = 2;
  // Limits the bytes per second that flushes, compactions and log GC write; see rate_limiter.h. If null they write at
  // full speed, with one exception: work for which no caller waits backs off when it slows calls down.
  std::shared_ptr<RateLimiter> rate_limiter;

  // ---- Environment; null means the library's own ----
  std::shared_ptr<FileSystem> file_system;
  std::shared_ptr<Clock> clock;
  std::shared_ptr<RandomSource> random_source;
  std::shared_ptr<Executor> executor;  // null: the database's own threads; see max_background_jobs
  std::shared_ptr<Logger> info_log;    // null: a file LOG in the database's directory

  // ---- Monitoring ----
  std::shared_ptr<Statistics> statistics;  // receives the counts; see statistics.h. Null: nothing is counted
  std::vector<std::shared_ptr<EventListener>> listeners;  // called in this order; see listener.h
};

// The options of a database and of its default family in one.
struct Options : public DBOptions, public ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db, const ColumnFamilyOptions& family) : DBOptions(db), ColumnFamilyOptions(family) {}

  // Sets every option that both stores have to the default of RocksDB 11.8.1, and removes the ceiling, which RocksDB
  // does not have. Values are then not separated and log GC is off; to get BlobDB's behaviour, set enable_blob_files
  // and the other blob options as in RocksDB. The index type, objects and options that only this library has are not
  // changed. Returns this.
  Options* OptimizeForRocksDBCompatibility();
};

struct ReadOptions {
  // The state to read; null: the current one. The snapshot must live as long as the read or the iterator. A read at a
  // released snapshot is InvalidArgument. (After 64 more releases its address may become that of a new snapshot.)
  const Snapshot* snapshot = nullptr;
  // Compare the checksum of every value read. Family and key are always compared.
  bool verify_checksums = true;
  // An iterator shows only keys in [lower, upper). Both bounds are copied when it is made.
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;
  // For iterators. If false, each move reads the value of the entry that it finds. If true, moves read no values, and
  // value() may be called only after PrepareValue() returned true: for scans that need only keys, or few of the values.
  bool allow_unprepared_value = false;
  // MultiGet and iterators read values that are not in memory many at a time, with io_uring. Without io_uring, or if
  // the system refuses it, up to 32 threads read them; all databases of the process share these.
  bool async_io = true;
  // If false, index pages read for this call are not cached and evict nothing: for scans of data that will not be read
  // again. The library caches no values; the system's page cache is not affected by this.
  bool fill_cache = true;
  // Reads only what is known to survive a power cut. InvalidArgument together with a snapshot.
  bool durable_only = false;
  // A PinnableSlice, or an iterator's value(), may refer to a mapping of the log instead of a copy. That is so if
  //   - allow_mmap_reads is in force, and the value is in memory and not compressed,
  //   - it has 1 KiB to large_value_size bytes, and
  //   - a read with this option has copied it, and compared its checksum, since its file was mapped; or
  //     verify_checksums is false.
  // Other values are copied. The risk is that of every store that lends bytes of a mapped file: if a page has left
  // memory, and the device cannot read it, using the bytes is a SIGBUS; if it reads other bytes, nothing notices. Header
  // and key are compared at each read, in a copy. A slice keeps its log file, and what log GC would punch out of it, on
  // disk. Change or destroy it before the database is closed.
  bool pin_mapped_values = false;
};

// Options of GetApproximateSizes. InvalidArgument if both are false.
struct SizeApproximationOptions {
  // Data not flushed yet: keys and inline values in memory, separated values in the log.
  bool include_memtables = false;
  // Index files, and the values that their entries refer to.
  bool include_files = true;
};

struct WriteOptions {
  // The call returns once the write, and everything visible before it, survives a power cut. Readers may see the write
  // before that, and also if the sync then fails: see db.h.
  bool sync = false;
  // In RocksDB, true means that the write is not logged. Here it has no effect, since values live in the log.
  // InvalidArgument together with sync.
  bool disableWAL = false;
  // If the write would have to wait for background work, it returns Incomplete instead.
  bool no_slowdown = false;
};

struct FlushOptions {
  bool wait = true;  // until the flush has committed
};

// Log GC as part of CompactRange. Names and numbers as in RocksDB. The log is in time order, so segments are collected
// whole, whatever the range of keys.
enum class BlobGarbageCollectionPolicy : unsigned char {
  // Before the call returns, all segments that are old enough are rewritten, with or without garbage.
  kForce = 0,
  // No log GC starts while the call runs, unless max_space_amplification requires it.
  kDisable = 1,
  // If enable_blob_garbage_collection is set, a call for all keys collects, before it returns, the segments that are
  // old enough and at least a quarter garbage. A call for a part of the keys leaves this to the background.
  kUseDefault = 2,
};

struct CompactRangeOptions {
  BlobGarbageCollectionPolicy blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kUseDefault;
  // The age cutoff for this call. Replaces the family's option of the same name, if it is in [0, 1].
  double blob_garbage_collection_age_cutoff = -1;
  // Values of the range that are not in key order are rewritten in key order, so that a scan reads many of them at
  // once. This writes their bytes once, and takes as much space until compactions and log GC have freed the old copies.
  // If max_space_amplification does not leave that space, the call returns Incomplete and keeps what it has done.
  bool cluster_values = false;
};

}  // namespace cambium
