// DbContext: what every part of an open database uses: the options it was opened with, its files, clock, threads, log
// file and listeners, and its identity.
//
// Open fills it in before any other thread sees the database. After that only the atomics and the history change.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cambium/db.h"
#include "cambium/options.h"
#include "index/page_pool.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "state/events.h"
#include "state/log_table.h"
#include "state/write_history.h"
#include "util/fork_guard.h"
#include "util/meter.h"
#include "util/result.h"

namespace cambium {

// How a database is opened.
enum class OpenAs : std::uint8_t {
  kWriter,
  kReader,   // Open need not name every column family
  kOffline,  // a writer for tools: log GC, clustering and the ceiling start nothing on their own
};

struct DbContext {
  // `its_options` have their defaults filled in (FillInDefaults).
  DbContext(const DBOptions& its_options, std::string its_path, OpenAs as, std::uint64_t its_blob_file_size);
  DbContext(const DbContext&) = delete;
  DbContext& operator=(const DbContext&) = delete;

  // The header of a new file, with an id of its own.
  [[nodiscard]] FileHeader HeaderFor(FileKind kind, std::uint64_t number, std::uint64_t page_size = 0) const;
  [[nodiscard]] std::string PathOf(FileKind kind, std::uint64_t number) const { return FilePath(path, kind, number); }
  // Removes a file of the database and reports that to the listeners.
  Status Unlink(FileKind kind, std::uint64_t number);
  // Makes the names in the directory durable. Every failure but Busy is fatal: names that other threads have created
  // may be lost.
  Status SyncDirectory() const;
  // Syncs a file of values: a large value or a relocation segment.
  Status SyncValues(File* file) const;
  // Classifies the result of syncing a new file that no MANIFEST record names. NoSpace: the file can be discarded. Any
  // other failure is fatal, since the page cache may show bytes that the disk has lost.
  static Status JudgeSync(Status synced) { return synced.ok() || synced.IsNoSpace() ? synced : synced.Fatal(); }
  // Reports the creation of a file of values to the listeners. The returned object reports how the creation ends.
  [[nodiscard]] BlobFileCreation BeginBlobFile(const FileHeader& header, BlobFileCreationReason reason);
  [[nodiscard]] std::uint64_t NowMicros() const { return options.clock->NowMicros(); }

  // OK, unless this is a forked child of the process that opened the database: there its locks may be held for ever.
  [[nodiscard]] Status CheckProcess() const {
    if (ForkGeneration() == fork_generation) return Status::OK();
    return Status::NotSupported("a database cannot be used in a forked child");
  }
  // OK, unless this is a forked child, or the database is closed.
  [[nodiscard]] Status CheckUsable() const {
    CAMBIUM_RETURN_IF_ERROR(CheckProcess());
    if (closed.load(std::memory_order_acquire)) return Status::ShutdownInProgress("the database is closed");
    return Status::OK();
  }

  const DBOptions options;
  const Meter meter;  // counts into options.statistics
  const std::string path;
  const bool read_only;
  const bool is_offline;
  const std::uint64_t fork_generation;
  std::atomic<bool> closed{false};
  std::shared_ptr<FileSystem> fs;  // options.file_system, or what its OpenDirectory has opened for `path`
  std::shared_ptr<Executor> executor;
  std::shared_ptr<Logger> logger;
  mutable Events events;
  DB* facade = nullptr;  // what listeners are given as the database
  const std::shared_ptr<WriteBudget> budget;  // null: no limit
  const std::shared_ptr<BudgetShare> share;   // counts the memtables; null: no limit
  const std::shared_ptr<ReaderTableBytes> reader_tables = std::make_shared<ReaderTableBytes>(0);
  mutable WriteHistory history;  // memtables that open transactions need
  const std::unique_ptr<PagePool> pool;
  Id128 database_id{};
  std::uint64_t epoch = 0;

  // Options that can change while the database is open. Written by SetOptions and SetDBOptions.
  std::atomic<std::uint64_t> blob_file_size;  // the default family's; it applies to the whole log
  std::atomic<std::uint64_t> max_total_wal_size;
  std::atomic<double> max_space_amplification;
  std::atomic<std::uint64_t> min_space_limit;
  std::atomic<std::uint64_t> min_punch_size;

  // Figures for properties. Bytes, counts and microseconds since Open.
  struct Stats {
    std::atomic<std::uint64_t> user_bytes{0};
    std::atomic<std::uint64_t> log_bytes{0};
    std::atomic<std::uint64_t> stall_micros{0};
    std::atomic<std::uint64_t> stalls{0};
    std::atomic<std::uint64_t> space_stall_micros{0};  // part of stall_micros
    std::atomic<std::uint64_t> gc_bytes_read{0};
    std::atomic<std::uint64_t> gc_bytes_written{0};
  };
  mutable Stats stats;
};

}  // namespace cambium
