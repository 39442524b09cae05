// Engine: what a workload needs from a store, in the words all of them share. One adapter file each in engines/.
//
// An operation costs one virtual call on top of the store's own; keys and values are handed over as borrowed bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "flags/level_shape.h"
#include "flags/space_shape.h"
#include "flags/trace_flags.h"

namespace cambium::bench {

// What a run decides for every engine alike.
struct EngineConfig {
  std::string path;   // the engine's own directory
  std::string index;  // cambium's: btree or lsm
  std::uint64_t num = 0;
  std::size_t key_size = 0;
  std::size_t value_size = 0;
  std::size_t cache_size = 0;
  std::size_t write_buffer_size = 0;
  int max_write_buffer_number = 0;
  bool mmap_read = false;
  int bloom_bits = 10;
  std::string compression_type;
  std::uint64_t min_blob_size = 0;
  std::uint64_t blob_file_size = 0;
  bool verify_checksum = true;  // of what is read
  LevelShape levels;
  SpaceShape space;
  TraceFlags trace;  // cambium's: whether it is recorded what it is asked
};

// How the writes of a phase are to be committed.
struct WriteMode {
  bool sync = false;         // each durable when it returns
  bool visible = false;      // each to be seen by reads that begin when it has returned; who has transactions ends them
  bool disable_wal = false;  // what is not flushed may be lost; an engine whose log is the data itself only waits less
};

// Bytes that an engine has written, by what for.
struct WriteLedger {
  std::uint64_t log = 0;       // what users wrote, for the first time: a write-ahead log, a commit log
  std::uint64_t values = 0;    // values that flushes put into files of their own, and that are in the log already
  std::uint64_t flush = 0;     // of the index, by flushes
  std::uint64_t merge = 0;     // by sweeps or compactions, values that they carry along included
  std::uint64_t gc = 0;        // to get rid of dead values: those that had to be moved, and index entries for them
  std::uint64_t manifest = 0;  // what says which files count
  std::uint64_t other = 0;
  bool log_keeps_values = false;  // the log is where most of its bytes, values, stay, not a copy: see LogKeepsValues

  [[nodiscard]] std::uint64_t Sum() const { return log + values + flush + merge + gc + manifest + other; }
};

// Whose time an engine counts as held back, of several threads that wait at once.
enum class StallTime : unsigned char {
  kOfTheStore,    // it passes once for all
  kOfEachWriter,  // it is added up
  kOfEachThread,  // it is added up, and that of readers with it
};

// What an engine has counted since its object was made; nothing where it does not count.
struct EngineCounters {
  std::optional<WriteLedger> ledger;          // whose log_keeps_values is not said
  std::uint64_t kept_bytes = 0;               // of its log: records whose values stay there, and are nowhere else
  std::optional<std::uint64_t> stall_micros;  // that writes were held back for background work
  StallTime stall_time = StallTime::kOfEachWriter;
  std::optional<std::uint64_t> cache_hits;    // of the cache for index pages or blocks
  std::optional<std::uint64_t> cache_misses;
  std::optional<std::uint64_t> merge_read_bytes;  // of index files or tables, by sweeps, compactions, flushes
  std::optional<std::uint64_t> index_bytes;   // on disk now, without separated values
};

// Of a log of which so many bytes are kept: by what was written, not by what sizes were told.
inline bool LogKeepsValues(std::uint64_t kept_bytes, std::uint64_t log) { return 2 * kept_bytes > log; }

// What cambium's index is like, and what it has written since the database was opened.
struct IndexFigures {
  std::uint64_t runs = 0;
  std::uint64_t run_keys = 0;
  std::uint64_t updates = 0;    // keys flushed from memory tables
  std::uint64_t bytes = 0;      // of index files written
  std::uint64_t law_bytes = 0;  // what the cost law of the index expects
  std::uint64_t merges = 0;     // into the tree, or compactions
  std::string shape;            // of what lies below the runs
};

// What a walk is for. With kKeys nobody asks for a value, and an engine that can leaves them where they are.
enum class Fetch : unsigned char { kEntries, kKeys };

// A walk over the keys as they were when it began. One thread at a time, gone before its session.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;

  // False if there is no such key, or after an error, which is in status().
  virtual bool SeekToFirst() = 0;
  virtual bool SeekToLast() = 0;
  virtual bool Seek(Slice target) = 0;  // the first key >= target
  virtual bool Next() = 0;              // these two only after true
  virtual bool Prev() = 0;
  // Of where it stands. The bytes live until it moves. value() may be the moment at which a value is read; an error
  // then makes it empty and shows in status().
  virtual Slice key() = 0;
  virtual Slice value() = 0;  // not with Fetch::kKeys
  virtual Status status() = 0;
};

enum class Lookup : unsigned char { kFound, kMissing, kError };

// One thread's way into an engine.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // *value lives until the next call. After kError, error() says why.
  virtual Lookup Get(Slice key, Slice* value) = 0;
  // Many keys by one call, in the engine's own way if it has one. Value and answer of keys[i] go to values[i] and
  // lookups[i], which are as long; values live until the next call.
  virtual void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) = 0;
  // Of the last call; the first, if there were several.
  virtual Status error() = 0;

  // One operation, committed when the call returns, and durable if the phase is synced; but see Engine::Settings().
  virtual Status Put(Slice key, Slice value) = 0;
  virtual Status Delete(Slice key) = 0;
  // Several operations that are committed together. Bytes need to live during the call only.
  virtual Status BatchPut(Slice key, Slice value) = 0;
  virtual Status CommitBatch() = 0;
  // Called by a worker when it is through, within the time measured.
  virtual Status Finish() { return {}; }

  // The current state. Never null; errors show in the cursor's status().
  virtual std::unique_ptr<Cursor> NewCursor(Fetch fetch) = 0;
};

// Opened, closed and settled by one thread while no session lives.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // What it cannot do of what it was made for, in the words of the command line; "": it can. Before anything is opened.
  virtual std::string Complain() { return {}; }

  virtual Status Open(bool create) = 0;
  virtual Status Close() = 0;
  // Removes the closed database, and no file that is not its own.
  virtual Status Destroy() = 0;

  // Tells how the writes that follow are to be committed.
  virtual Status BeginWrites(const WriteMode& mode) = 0;
  virtual std::unique_ptr<Session> NewSession() = 0;

  // Waits until memory tables are flushed, background work has ended and all is synced. *idle_seconds of the time that
  // took, at its end, went by only in making sure that nothing moves any more; they are not charged to the engine.
  virtual Status Settle(double* idle_seconds) = 0;
  virtual Status Flush() = 0;
  virtual Status WaitForCompaction() = 0;
  virtual Status Compact() = 0;  // the whole key range
  // The engine's own check of what it has on disk, as deep as it offers one; *what says which.
  virtual Status Verify(std::string* what) = 0;

  // Its levels, lines of text; empty if it has none. Of the open database.
  virtual std::string LevelStats() { return {}; }
  // What it tells people about itself, lines of text; empty if nothing. Of the open database.
  virtual std::string Stats() { return {}; }
  // Of the open database. Any thread, also while sessions work.
  virtual EngineCounters ReadCounters() { return {}; }
  // Of the open database; nothing from other engines than cambium.
  virtual std::optional<IndexFigures> ReadIndexFigures() { return std::nullopt; }

  [[nodiscard]] virtual std::string Version() const = 0;
  // One line: what is set, and where its durability or batching differs from the others'.
  [[nodiscard]] virtual std::string Settings() const = 0;
};

}  // namespace cambium::bench
