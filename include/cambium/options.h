// Options: how a database is opened, and how single calls behave. Names and meanings are RocksDB's where it has them;
// docs/OPTIONS.md lists ranges, which may change while open, and every difference.
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

// Enumerators go by their names alone too: CompressionType::kZSTD and cambium::kZSTD are the same.

// Numbers as in RocksDB. This library has kNoCompression, kLZ4Compression and kZSTD; others are NotSupported.
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

// Which structure indexes the keys of a family. Stored with it.
enum class IndexKind : unsigned char {
  kBTree = 1,  // sorted runs swept into a copy-on-write B+-tree
  kLsm = 2,    // sorted runs compacted into levels
};
using enum IndexKind;

// Which values are written anew in the order of their keys, so that a scan finds neighbours side by side.
enum class ValueClustering : unsigned char {
  kOff = 0,
  // Those that scans had to read one by one from the device, once that has cost as much as writing them anew. As far as
  // nobody is slowed down by it, and max_space_amplification leaves room.
  kAuto = 1,
  // All, again and again, as fast as others are written. With a ceiling of S this writes 1 + 2 / (S - 1) bytes per byte,
  // without one 2, instead of what log GC writes; as far as max_space_amplification leaves room.
  kFull = 2,
};

// What Open does about damage at the end of the log. Numbers as in RocksDB.
enum class WALRecoveryMode : unsigned char {
  // A tail that no proof says was durable is cut off: what any crash leaves. Damage below a durable record is
  // Corruption, and Open fails. The default.
  kTolerateCorruptedTailRecords = 0,
  // Even a torn tail is Corruption.
  kAbsoluteConsistency = 1,
  // Opens with the prefix before the first damage, although synced records behind it are lost. The loss is logged.
  kPointInTimeRecovery = 2,
  kSkipAnyCorruptedRecords = 3,  // NotSupported: it would make states that never were
};
using enum WALRecoveryMode;

// How an LSM family's runs are arranged. Names as in RocksDB where it has them.
enum class CompactionStyle : unsigned char {
  kCompactionStyleLevel = 0,      // one sorted sequence per level: fewest runs to ask
  kCompactionStyleLazyLevel = 8,  // several per level but for the last, which is one: fewer bytes written
};
using enum CompactionStyle;

// Of one column family.
struct ColumnFamilyOptions {
  // ---- Keys and index ----
  const Comparator* comparator = BytewiseComparator();  // must outlive the database; its name is stored
  IndexKind index_type = IndexKind::kBTree;             // stored; opening with another one is InvalidArgument
  // Bytes per unit of an index page: a power of two in [512, 16384]. Stored; a later opening keeps what is stored.
  std::uint64_t page_size = 4096;
  // Bits per key of the filter in each run, and in each lowest branch of a tree, 0 (none) to 64. At 10, 1 lookup in 100
  // of an absent key asks the run; the leaf too, or a few where many keys were deleted since.
  int filter_bits_per_key = 10;

  // ---- Memory ----
  // Memory of the table that takes writes, in bytes, before it is flushed. [4 KiB, 16 GiB]
  std::size_t write_buffer_size = 64u << 20;
  // Memory tables, the active one included, before writers wait for a flush. [2, 64]
  int max_write_buffer_number = 3;

  // ---- Values ----
  // False: only values that do not fit inline (a quarter of a page unit) are separated.
  bool enable_blob_files = true;
  // Values of at least this many bytes, uncompressed, stay in the log; smaller ones travel with their keys. Empty ones
  // are never separated, and those above a quarter of a page unit always are.
  std::uint64_t min_blob_size = 512;
  // Values larger than this get a file of their own, durable before the log refers to it. [4 KiB, 64 MiB]
  std::uint64_t large_value_size = 16u << 20;
  // Of separated values, each on its own; one that would not shrink by an eighth is stored raw.
  CompressionType blob_compression_type = CompressionType::kNoCompression;
  // Bytes after which a log segment is closed. [16 KiB, 1 GiB] The log is one for all families: this is the database's,
  // must be the same in all of them, and changes in all of them with the default one's.
  std::uint64_t blob_file_size = 256u << 20;

  // Whether values come to lie in the order of their keys by themselves, as CompactRangeOptions::cluster_values has them
  // do. Those of more than 64 KiB stay where they are.
  ValueClustering value_clustering = ValueClustering::kOff;

  // ---- Merges ---- Decides which values merges carry on, see compaction_filter.h. The caller's: it must outlive the
  // database, and serve several threads at once. Null: none.
  const CompactionFilter* compaction_filter = nullptr;
  // Makes a filter for each merge instead. Without effect beside compaction_filter.
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory;

  // ---- Log GC; the default family's are those of the database, as the log is one for all ----
  // Segments of the log that are mostly garbage are emptied and removed in the background.
  bool enable_blob_garbage_collection = true;
  // Only the oldest segments, this part of them (rounded down), are collected as long as space is not short. [0, 1]
  double blob_garbage_collection_age_cutoff = 0.25;
  // When the garbage of those is this part of their bytes, they are collected at once, oldest first. 1: never. [0, 1]
  double blob_garbage_collection_force_threshold = 1.0;

  // ---- kBTree; without effect in a family with kLsm ----
  // Runs are swept into the tree when they hold more than 1/sweep_ratio of its keys. [1, 1000]
  int sweep_ratio = 8;

  // ---- kLsm; without effect in a family with kBTree ----
  CompactionStyle compaction_style = kCompactionStyleLevel;
  int level0_file_num_compaction_trigger = 4;  // runs in level 0 that start a compaction. [1, 1000]
  int level0_slowdown_writes_trigger = 20;     // from here on writes are slowed down a little each. [the above, 10000]
  int level0_stop_writes_trigger = 36;         // from here on they wait for a compaction. [the above, 10000]
  std::uint64_t target_file_size_base = 64u << 20;  // bytes of a file in level 1. [16 KiB, 1 TiB]
  int target_file_size_multiplier = 1;              // from level to level. [1, 100]
  std::uint64_t max_bytes_for_level_base = 256u << 20;  // bytes of level 1. [16 KiB, 1 PiB]
  double max_bytes_for_level_multiplier = 10;           // from level to level. [1, 1000]
  int num_levels = 7;                                   // with level 0. [2, 63]
  // Of the pages of runs and level files that hold keys and inline values. What would not shrink by an eighth stays raw.
  CompressionType compression = CompressionType::kNoCompression;
};

// Of the database as a whole.
struct DBOptions {
  // ---- Opening ----
  bool create_if_missing = false;  // else opening what does not exist is InvalidArgument
  // Families that are named in DB::Open and do not exist are made.
  bool create_missing_column_families = false;
  bool error_if_exists = false;  // InvalidArgument if there is a database
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  // How long Open waits for another holder of the lock, in microseconds. A process that was just killed may need some.
  std::uint64_t lock_wait_micros = 0;

  // ---- Memory, log, threads ----
  // Bytes of index pages kept in memory, for all families. At least 64 KiB; what is pinned may exceed it for a while.
  std::size_t page_cache_size = 256u << 20;
  // Bytes of log that recovery would have to read before the family that holds its oldest part is flushed although its
  // memory table is not full. 0 = 1 GiB. Otherwise [4 KiB, 1 TiB].
  std::uint64_t max_total_wal_size = 0;
  // The database's files may take so many times the bytes of its live entries, as they are stored, beside two log segments
  // and one step of log GC; what only snapshots hold does not count. Flushes, merges and log GC come early enough for it,
  // and writers wait where that is not enough. 0: no ceiling. Otherwise [1, 100]; near 1 log GC writes a multiple of what
  // users write.
  double max_space_amplification = 1.5;
  // A value whose record has at least so many bytes is not moved by log GC: when nothing refers to it any more it becomes a
  // hole in its segment, where the file system can do that and the file has one name. 0: never; else [4 KiB, 1 GiB].
  std::uint64_t min_punch_size = 256u << 10;
  // Copies values that the page cache holds out of a mapping of their segment, without a system call. The process gets a
  // handler for SIGBUS, which hands on every signal that is not of such a copy. x86-64; elsewhere, and where the system
  // does not tell what the page cache holds, values are read as without it.
  bool allow_mmap_reads = false;
  // Sweeps, compactions and steps of log GC that run at once. Flushes, seals and removals have threads beside. [1, 64]
  int max_background_jobs = 2;
  // Flushes, merges and log GC write no faster than it lets them; see rate_limiter.h. Null: as fast as they can, but for
  // work that nobody waits for, which makes room for calls of users that it slows down.
  std::shared_ptr<RateLimiter> rate_limiter;

  // ---- Surroundings; the library's own if null ----
  std::shared_ptr<FileSystem> file_system;
  std::shared_ptr<Clock> clock;
  std::shared_ptr<RandomSource> random_source;
  std::shared_ptr<Executor> executor;  // threads of the database's own if null; see max_background_jobs
  std::shared_ptr<Logger> info_log;    // a file LOG in the database's directory if null

  // ---- Watching it ----
  std::shared_ptr<Statistics> statistics;  // what is done is counted there; see statistics.h. Null: nothing is
  std::vector<std::shared_ptr<EventListener>> listeners;  // told what is done, one after the other; see listener.h
};

// Both: of a database, and of its default family.
struct Options : public DBOptions, public ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db, const ColumnFamilyOptions& family) : DBOptions(db), ColumnFamilyOptions(family) {}

  // Gives every option that RocksDB has too the default that it has there (11.9), and takes away the ceiling, which it has
  // not. Values are not separated then, log GC is off; for BlobDB's behaviour set enable_blob_files, and the others as
  // they are set there. Index, objects and what only this library has stay as they are. Returns this.
  Options* OptimizeForRocksDBCompatibility();
};

struct ReadOptions {
  // Reads the state of then; null: of now. The snapshot must live as long as the read or the iterator.
  const Snapshot* snapshot = nullptr;
  // Compare the checksum of every value read. Family and key are always compared.
  bool verify_checksums = true;
  // Keys outside [lower, upper) do not exist for an iterator, which copies both when it is made.
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;
  // For an iterator: value() may be called only after PrepareValue() returned true. Otherwise values are fetched when
  // value() first asks.
  bool allow_unprepared_value = false;
  // Values that are not in memory are read together with io_uring, where several are wanted (MultiGet, iterators). Without
  // it, or where the system refuses it, by up to 32 threads that all databases of the process share.
  bool async_io = true;
  // False: index pages that have to be read for this are not kept, and the ones that are kept stay: for scans of what will
  // not be asked for again. Of values the library keeps none; what the system caches of their files is its own affair.
  bool fill_cache = true;
  // Sees only what is known to survive a power cut. With a snapshot: InvalidArgument.
  bool durable_only = false;
};

// Of GetApproximateSizes. At least one of both, else it is InvalidArgument.
struct SizeApproximationOptions {
  // What is not flushed yet: keys and inline values in memory, separated values in the log.
  bool include_memtables = false;
  // Index files, and the values that their entries lead to.
  bool include_files = true;
};

struct WriteOptions {
  // The call returns when the write, and everything visible before it, survives a power cut.
  bool sync = false;
  // As in RocksDB the writer asks for no durability. Here the write is logged all the same, since the log is where
  // values live, but nothing ever waits for it. InvalidArgument together with sync.
  bool disableWAL = false;
  // Incomplete, instead of waiting, where a write would have to wait for background work.
  bool no_slowdown = false;
};

struct FlushOptions {
  bool wait = true;  // until the flush has committed
};

// Log GC as part of a CompactRange. Names and numbers as in RocksDB. The log lies in the order of time: whatever range of
// keys is compacted, segments are collected whole.
enum class BlobGarbageCollectionPolicy : unsigned char {
  // All segments that are old enough are rewritten before the call returns, garbage or not.
  kForce = 0,
  // While the call runs no log GC begins, unless max_space_amplification needs it.
  kDisable = 1,
  // With enable_blob_garbage_collection a call for all keys collects, before it returns, those of the old enough segments
  // that are worth it: a quarter garbage at least. A call for some keys leaves that to the background.
  kUseDefault = 2,
};

struct CompactRangeOptions {
  BlobGarbageCollectionPolicy blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kUseDefault;
  // Which segments are old enough, for this call. Outside [0, 1]: as the family's option says.
  double blob_garbage_collection_age_cutoff = -1;
  // Values of the range are written anew in the order of their keys, as far as they do not lie so already, and scans read
  // many of them with one read. Costs their bytes once, and, until merges and log GC have come round, as much space;
  // Incomplete if max_space_amplification does not leave it, with what was done until then in place.
  bool cluster_values = false;
};

}  // namespace cambium
