// Engine: the interface of a store as workloads see it. Each store has an adapter in this folder.
//
// An operation costs one virtual call on top of the store's own. Keys and values are passed as borrowed bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "flags/level_shape.h"
#include "flags/space_shape.h"
#include "flags/trace_flags.h"
#include "flags/transaction_flags.h"

namespace cambium::bench {

// The settings of a run, the same for every engine.
struct EngineConfig {
  std::string path;   // the engine's own directory
  std::string index;  // cambium's: btree or lsm
  std::uint64_t num = 0;
  std::size_t key_size = 0;
  std::size_t value_size = 0;
  std::size_t cache_size = 0;
  std::size_t write_buffer_size = 0;
  int max_write_buffer_number = 0;
  std::optional<bool> mmap_read;  // not set: the engine's default
  int bloom_bits = 10;
  std::string compression_type;
  std::uint64_t min_blob_size = 0;
  std::uint64_t blob_file_size = 0;
  bool verify_checksum = true;  // of data read
  bool pin_mapped_values = false;  // cambium's: values are read without a copy
  LevelShape levels;
  SpaceShape space;
  TraceFlags trace;  // cambium's: whether its calls are recorded
  bool transacts = false;  // sessions have transactions, if the engine has
  TransactionFlags transaction;
};

// How the writes of a phase are committed.
struct WriteMode {
  bool sync = false;         // each is durable when it returns
  bool groups = false;       // unsynced, and made durable many at a time, by SyncAll
  bool visible = false;      // reads that begin after a write returned see it; a store with transactions commits each
  bool disable_wal = false;  // unflushed writes may be lost; an engine whose log holds the data logs them, unsynced
};

// Bytes that an engine has written, by cause.
struct WriteLedger {
  std::uint64_t log = 0;       // the first write of the users' data: a write-ahead log or commit log
  std::uint64_t values = 0;    // values that flushes wrote to separate files, and that are in the log already
  std::uint64_t flush = 0;     // index files written by flushes
  std::uint64_t merge = 0;     // by sweeps or compactions, with the values that they copy
  std::uint64_t gc = 0;        // live values relocated to collect garbage, and index entries for them
  std::uint64_t manifest = 0;  // the record of which files count
  std::uint64_t other = 0;
  bool log_keeps_values = false;  // values stay in the log, and are most of its bytes: see LogKeepsValues

  [[nodiscard]] std::uint64_t Sum() const { return log + values + flush + merge + gc + manifest + other; }
};

// How an engine counts stalls when several threads wait at once.
enum class StallTime : unsigned char {
  kOfTheStore,    // once for all threads
  kOfEachWriter,  // the sum over all writers
  kOfEachThread,  // the sum over all threads, readers included
};

// Counters of an engine since its object was made. Nothing for a figure that it does not count.
struct EngineCounters {
  std::optional<WriteLedger> ledger;          // without log_keeps_values
  std::uint64_t kept_bytes = 0;               // of its log: records whose values stay there and have no copy elsewhere
  std::optional<std::uint64_t> stall_micros;  // stalls: time in which writes waited for background work
  StallTime stall_time = StallTime::kOfEachWriter;
  std::optional<std::uint64_t> cache_hits;  // of its own cache of index pages or blocks
  std::optional<std::uint64_t> cache_misses;
  std::optional<std::uint64_t> merge_read_bytes;  // read from index files or tables by sweeps, compactions, flushes
  std::optional<std::uint64_t> index_bytes;   // on disk now, without separated values
};

// Returns whether values stay in a log of `log` bytes, judged by the bytes written, not by the sizes that flags
// announce.
inline bool LogKeepsValues(std::uint64_t kept_bytes, std::uint64_t log) { return 2 * kept_bytes > log; }

// The state of cambium's index, and what it has written since the database was opened.
struct IndexFigures {
  std::uint64_t runs = 0;
  std::uint64_t run_keys = 0;
  std::uint64_t updates = 0;    // keys flushed from memtables
  std::uint64_t bytes = 0;      // written to index files
  std::uint64_t law_bytes = 0;  // as the cost law of the index predicts
  std::uint64_t merges = 0;     // sweeps and compactions
  std::string shape;            // describes the layers below the runs
};

// The use of a cursor. With kKeys the caller asks for no values, and engines that can avoid it do not read them.
enum class Fetch : unsigned char { kEntries, kKeys };

// A Cursor walks over the keys as they were when it was made. One thread at a time; destroyed before its session.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;

  // These return false if there is no such key, or after an error, which status() returns.
  virtual bool SeekToFirst() = 0;
  virtual bool SeekToLast() = 0;
  virtual bool Seek(Slice target) = 0;  // the first key >= target
  virtual bool Next() = 0;              // Next() and Prev() only after true
  virtual bool Prev() = 0;
  // The entry at the cursor. The bytes live until it moves. value() may read the value only now; after an error it is
  // empty, and status() returns the error.
  virtual Slice key() = 0;
  virtual Slice value() = 0;  // not with Fetch::kKeys
  virtual Status status() = 0;
};

enum class Lookup : unsigned char { kFound, kMissing, kError };

// The transactions of one thread, one after the other.
//
// After Busy a conflict with another transaction has ended this one, and nothing of it remains: the caller may begin
// again. After any other error, NotFound excepted, the object can only be destroyed, which rolls back.
class Transactions {
 public:
  Transactions() = default;
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;
  virtual ~Transactions() = default;

  virtual Status Begin() = 0;
  // Reads a key that the transaction is going to write. If another one writes the key meanwhile, one of the two fails
  // or waits for the other, so that no update is lost. NotFound if the key does not exist. *value lives until the next
  // call.
  virtual Status ReadForUpdate(Slice key, Slice* value) = 0;
  virtual Status Put(Slice key, Slice value) = 0;
  // Durable when it returns OK, if the phase is synced.
  virtual Status Commit() = 0;
};

// A Session is the access of one thread to an engine.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // *value lives until the next call. After kError, error() returns the reason.
  virtual Lookup Get(Slice key, Slice* value) = 0;
  // Looks up many keys with one call, with the engine's own MultiGet if it has one. The value and answer of keys[i] go
  // to values[i] and lookups[i]; all spans have the same length. Values live until the next call.
  virtual void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) = 0;
  // Begins to look up a key. Its answer, with this tag, goes to `take` in this or a later call, in any order; at most
  // `depth` answers are outstanding. FinishGets waits for all of them. The value lives during the call of `take`, which
  // must be the same object for all calls. An engine without asynchronous reads looks the key up at once: this default
  // does the same.
  using Take = std::function<void(std::uint64_t tag, Lookup lookup, Slice value)>;
  virtual void BeginGet(Slice key, std::uint64_t tag, std::size_t /*depth*/, const Take& take) {
    Slice value;
    const Lookup lookup = Get(key, &value);
    take(tag, lookup, value);
  }
  virtual void FinishGets() {}
  // Returns the first error of the last call.
  virtual Status error() = 0;

  // Each is committed when the call returns, and durable if the phase is synced. Engine::Settings() tells the
  // exceptions.
  virtual Status Put(Slice key, Slice value) = 0;
  virtual Status Delete(Slice key) = 0;
  // CommitBatch() commits the BatchPuts before it together. The bytes are borrowed during the call only.
  virtual Status BatchPut(Slice key, Slice value) = 0;
  virtual Status CommitBatch() = 0;
  // Makes durable everything that this session has written. Only in phases with WriteMode::groups.
  virtual Status SyncAll() = 0;
  // Called by a worker at its end, within the measured time.
  virtual Status Finish() { return {}; }

  // A cursor over the current state. Never null; status() of the cursor returns errors.
  virtual std::unique_ptr<Cursor> NewCursor(Fetch fetch) = 0;

  // Destroyed before the session. Null if the engine has no transactions, or was not opened for them.
  virtual std::unique_ptr<Transactions> NewTransactions() { return nullptr; }
};

// An Engine is a store, open or closed. One thread opens, closes and settles it, while no session lives.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // Returns which flag of the command line the engine cannot satisfy, or "". Called before anything is opened.
  virtual std::string Complain() { return {}; }

  // Whether its sessions have transactions, if EngineConfig::transacts asks for them.
  virtual bool HasTransactions() { return false; }

  virtual Status Open(bool create) = 0;
  virtual Status Close() = 0;
  // Removes the files of the closed database, and no others.
  virtual Status Destroy() = 0;

  // Sets how the following writes are committed.
  virtual Status BeginWrites(const WriteMode& mode) = 0;
  virtual std::unique_ptr<Session> NewSession() = 0;

  // Waits until memtables are flushed, background work has ended and everything is synced. The last *idle_seconds of
  // that time only made sure that the engine is quiet; they are not charged to it.
  virtual Status Settle(double* idle_seconds) = 0;
  virtual Status Flush() = 0;
  virtual Status WaitForCompaction() = 0;
  virtual Status Compact() = 0;  // the whole key range
  // Runs the deepest check of its files that the engine offers; *what names it.
  virtual Status Verify(std::string* what) = 0;

  // Describes the levels of the open database in lines of text; empty if it has none.
  virtual std::string LevelStats() { return {}; }
  // Returns the engine's own statistics of the open database, lines of text; empty if it has none.
  virtual std::string Stats() { return {}; }
  // Reads the counters of the open database. Any thread, also while sessions work.
  virtual EngineCounters ReadCounters() { return {}; }
  // Reads the figures of the open database; nothing for engines other than cambium.
  virtual std::optional<IndexFigures> ReadIndexFigures() { return std::nullopt; }

  [[nodiscard]] virtual std::string Version() const = 0;
  // One line: the settings, and where durability or batching differs from the other engines.
  [[nodiscard]] virtual std::string Settings() const = 0;
};

}  // namespace cambium::bench
