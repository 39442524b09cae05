// RocksDbLedger: a listener that adds up what flushes and compactions of a RocksDB write and read.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <rocksdb/listener.h>

#include "engines/engine.h"

namespace cambium::bench {

// Counts each table and blob file when it is complete, so that no write is slowed down. Any thread.
class RocksDbLedger final : public rocksdb::EventListener {
 public:
  // Returns the ledger without the log and the MANIFEST, which only the database itself counts.
  [[nodiscard]] WriteLedger Read() const {
    return {.values = values_.load(), .flush = flush_.load(), .merge = merge_.load(), .gc = gc_.load(), .other = other_.load()};
  }

  // Returns the bytes of tables that finished compactions have read.
  [[nodiscard]] std::uint64_t MergeReadBytes() const { return merge_read_.load(); }

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    switch (info.reason) {
      case rocksdb::TableFileCreationReason::kFlush:
      case rocksdb::TableFileCreationReason::kRecovery: flush_ += info.file_size; break;
      case rocksdb::TableFileCreationReason::kCompaction: merge_ += info.file_size; break;
      default: other_ += info.file_size; break;
    }
  }
  // `info` has the bytes of the values; the file has a header and a footer as well.
  void OnBlobFileCreated(const rocksdb::BlobFileCreationInfo& info) override {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(info.file_path, error);
    const std::uint64_t bytes = error ? info.total_blob_bytes : size;
    const bool is_moved = info.reason == rocksdb::BlobFileCreationReason::kCompaction;
    (is_moved ? gc_ : values_) += bytes;
  }

  void OnCompactionCompleted(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& info) override {
    merge_read_ += info.stats.total_input_bytes;
  }

 private:
  std::atomic<std::uint64_t> values_{0};
  std::atomic<std::uint64_t> flush_{0};
  std::atomic<std::uint64_t> merge_{0};
  std::atomic<std::uint64_t> gc_{0};
  std::atomic<std::uint64_t> other_{0};
  std::atomic<std::uint64_t> merge_read_{0};
};

}  // namespace cambium::bench
