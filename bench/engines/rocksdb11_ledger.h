// RocksDb11Ledger: what a RocksDB 11 writes and reads, as far as its C interface tells, and the sizes of its logs.
//
// Flushes and compactions report their files when they are complete. The interface does not tell how many bytes the
// log has, so the ledger looks at the sizes of the log files before each flush, after which a log may be removed. A log
// file that is not the newest has its final size by then.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engines/engine.h"
#include "engines/rocksdb11_library.h"

namespace cambium::bench {

// Outlives the database. Any thread.
class RocksDb11Ledger {
 public:
  // `direct`: a blob file that a flush reports was written by puts, and so belongs to the log.
  RocksDb11Ledger(const RocksDb11Library& library, std::string path, bool direct)
      : library_(library), path_(std::move(path)), direct_(direct) {}
  RocksDb11Ledger(const RocksDb11Ledger&) = delete;
  RocksDb11Ledger& operator=(const RocksDb11Ledger&) = delete;

  // Returns a listener for Options, which owns it.
  rocksdb11::Listener* NewListener();

  // Between these the database is open. The tables that Open writes from a log are not counted.
  void BeforeOpen();
  void BeforeClose();

  [[nodiscard]] WriteLedger Read();
  // Returns the bytes of values that puts wrote to blob files.
  [[nodiscard]] std::uint64_t DirectBytes() const { return direct_ ? values_.load() : 0; }
  // Returns the bytes of tables that finished compactions have read.
  [[nodiscard]] std::uint64_t MergeReadBytes() const { return merge_read_.load(); }

 private:
  // A file that only grows.
  struct Growth {
    std::uint64_t start = 0;  // its size when the database was opened
    std::uint64_t size = 0;   // when it was last seen
  };
  // The files of one kind, of this open, and the bytes of earlier opens.
  struct Kind {
    std::map<std::string, Growth> files;
    std::uint64_t earlier = 0;

    [[nodiscard]] std::uint64_t Sum() const;
  };

  static void OnFlushBegin(void* state, rocksdb11::Db* db, const rocksdb11::FlushInfo* info);
  static void OnFlushEnd(void* state, rocksdb11::Db* db, const rocksdb11::FlushInfo* info);
  static void OnCompactionEnd(void* state, rocksdb11::Db* db, const rocksdb11::CompactionInfo* info);
  // Notes the sizes of the files of an open database. `is_start`: it is about to be opened.
  void LookAtFiles(bool is_start);
  [[nodiscard]] std::uint64_t BytesOf(const rocksdb11::BlobFileInfo* info) const;

  const RocksDb11Library& library_;
  const std::string path_;
  const bool direct_;
  std::mutex mutex_;
  bool is_open_ = false;  // guarded by mutex_
  Kind logs_;             // guarded by mutex_
  Kind manifests_;        // guarded by mutex_
  std::atomic<std::uint64_t> values_{0};  // in blob files of flushes
  std::atomic<std::uint64_t> flush_{0};
  std::atomic<std::uint64_t> merge_{0};
  std::atomic<std::uint64_t> gc_{0};
  std::atomic<std::uint64_t> merge_read_{0};
};

}  // namespace cambium::bench
