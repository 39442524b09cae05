// RocksDB as an Engine: with leveled or universal compaction, or with large values in blob files, with or without their
// garbage collection. For RocksDB 7.8 and later; members of later releases are used if they exist.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include "engines/codecs.h"
#include "engines/registry.h"
#include "engines/rocksdb_ledger.h"
#include "engines/rocksdb_options.h"
#include "engines/transaction_text.h"
#include "system/interrupt.h"

namespace cambium::bench {
namespace {

rocksdb::Slice Theirs(Slice s) { return {s.data(), s.size()}; }
Slice Ours(const rocksdb::Slice& s) { return {s.data(), s.size()}; }

Status Ours(const rocksdb::Status& status) {
  if (status.ok()) return {};
  if (status.IsNotFound()) return Status::NotFound(status.ToString());
  if (status.IsCorruption()) return Status::Corruption(status.ToString());
  return Status::IOError(status.ToString());
}

class RocksDbCursor : public Cursor {
 public:
  explicit RocksDbCursor(rocksdb::Iterator* iterator) : iterator_(iterator) {}
  bool SeekToFirst() override {
    iterator_->SeekToFirst();
    return iterator_->Valid();
  }
  bool SeekToLast() override {
    iterator_->SeekToLast();
    return iterator_->Valid();
  }
  bool Seek(Slice target) override {
    iterator_->Seek(Theirs(target));
    return iterator_->Valid();
  }
  bool Next() override {
    iterator_->Next();
    return iterator_->Valid();
  }
  bool Prev() override {
    iterator_->Prev();
    return iterator_->Valid();
  }
  Slice key() override { return Ours(iterator_->key()); }
  Slice value() override { return Ours(iterator_->value()); }
  Status status() override { return Ours(iterator_->status()); }

 private:
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Whether an iterator can skip reading blobs. In releases without this option it reads every blob that it passes.
template <typename Options>
constexpr bool kHasUnpreparedValues = requires(Options options) { options.allow_unprepared_value = true; };

template <typename Options>
Options KeysOnly(Options options) {
  if constexpr (kHasUnpreparedValues<Options>) options.allow_unprepared_value = true;
  return options;
}

// Later releases can return a unique_ptr; the latest cannot return a raw pointer.
template <typename Db>
rocksdb::Status OpenDb(const rocksdb::Options& options, const std::string& path, std::unique_ptr<Db>* db) {
  if constexpr (requires { Db::Open(options, path, db); }) {
    return Db::Open(options, path, db);
  } else {
    Db* raw = nullptr;
    const rocksdb::Status status = Db::Open(options, path, &raw);
    db->reset(raw);
    return status;
  }
}

// DB::WaitForCompact was added after 7.8.
template <typename Db>
constexpr bool kHasWaitForCompact = requires(Db& db) { db.WaitForCompact({}); };

// Describes two options that the bench leaves off: a cache for blobs (since 7.7), and writes to blob files that bypass
// the memtables (since a much later release).
template <typename Options>
std::string BlobDefaults(const Options& options) {
  std::string text;
  if constexpr (requires { options.blob_cache; }) text += options.blob_cache == nullptr ? ", no blob cache" : ", a blob cache";
  if constexpr (requires { options.enable_blob_direct_write; }) {
    text += options.enable_blob_direct_write ? ", enable_blob_direct_write" : ", no enable_blob_direct_write";
  }
  return text;
}

// Block cache hits and misses of the sessions that have ended. RocksDB always counts them for each thread.
struct CacheTally {
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> misses{0};
};

Lookup Answer(const rocksdb::Status& status) {
  return status.ok() ? Lookup::kFound : status.IsNotFound() ? Lookup::kMissing : Lookup::kError;
}

// Begins a transaction of an open database; `old` is as in BeginTransaction.
using BeginFunction = std::function<rocksdb::Transaction*(const rocksdb::WriteOptions&, rocksdb::Transaction* old)>;

class RocksDbTransactions : public Transactions {
 public:
  RocksDbTransactions(const BeginFunction& begin, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::WriteOptions& write, const rocksdb::ReadOptions& read)
      : begin_(begin), family_(family), write_options_(write), read_options_(read) {}

  Status Begin() override {
    rocksdb::Transaction* const begun = begin_(write_options_, transaction_.get());
    if (begun != transaction_.get()) transaction_.reset(begun);
    read_options_.snapshot = transaction_->GetSnapshot();  // null without set_snapshot
    return {};
  }
  Status ReadForUpdate(Slice key, Slice* value) override {
    value_.Reset();
    const rocksdb::Status status = transaction_->GetForUpdate(read_options_, family_, Theirs(key), &value_);
    *value = Ours(value_);
    return Outcome(status);
  }
  Status Put(Slice key, Slice value) override { return Outcome(transaction_->Put(Theirs(key), Theirs(value))); }
  Status Commit() override { return Outcome(transaction_->Commit()); }

 private:
  // Rolls back after a conflict.
  Status Outcome(const rocksdb::Status& status) {
    if (!status.IsBusy() && !status.IsTryAgain() && !status.IsTimedOut()) return Ours(status);
    const rocksdb::Status ended = transaction_->Rollback();
    return ended.ok() ? Status::Busy("a conflict") : Ours(ended);
  }

  const BeginFunction& begin_;
  rocksdb::ColumnFamilyHandle* family_;
  rocksdb::WriteOptions write_options_;
  rocksdb::ReadOptions read_options_;
  rocksdb::PinnableSlice value_;
  std::unique_ptr<rocksdb::Transaction> transaction_;  // used again and again
};

class RocksDbSession : public Session {
 public:
  // `begin` may be empty: then there are no transactions.
  RocksDbSession(rocksdb::DB* db, const WriteMode& mode, bool verify_checksum, CacheTally* tally,
                 const BeginFunction& begin)
      : db_(db),
        begin_(begin),
        tally_(tally),
        hits_before_(Context().block_cache_hit_count),
        reads_before_(Context().block_read_count) {
    write_options_.sync = mode.sync;
    write_options_.disableWAL = mode.disable_wal;
    read_options_.verify_checksums = verify_checksum;
  }

  ~RocksDbSession() override {
    tally_->hits += Context().block_cache_hit_count - hits_before_;
    tally_->misses += Context().block_read_count - reads_before_;
  }

  Lookup Get(Slice key, Slice* value) override {
    value_.Reset();
    status_ = db_->Get(read_options_, db_->DefaultColumnFamily(), Theirs(key), &value_);
    *value = Ours(value_);
    return Answer(status_);
  }
  void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) override {
    if (values_.size() < keys.size()) {
      values_ = std::vector<rocksdb::PinnableSlice>(keys.size());
      keys_.resize(keys.size());
      statuses_.resize(keys.size());
    }
    for (rocksdb::PinnableSlice& value : values_) value.Reset();
    for (std::size_t i = 0; i < keys.size(); ++i) keys_[i] = Theirs(keys[i]);
    db_->MultiGet(read_options_, db_->DefaultColumnFamily(), keys.size(), keys_.data(), values_.data(),
                  statuses_.data());
    status_ = rocksdb::Status();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      values[i] = Ours(values_[i]);
      lookups[i] = Answer(statuses_[i]);
      if (lookups[i] == Lookup::kError && status_.ok()) status_ = statuses_[i];
    }
  }
  Status error() override { return Ours(status_); }

  Status Put(Slice key, Slice value) override { return Ours(db_->Put(write_options_, Theirs(key), Theirs(value))); }
  Status Delete(Slice key) override { return Ours(db_->Delete(write_options_, Theirs(key))); }
  Status BatchPut(Slice key, Slice value) override { return Ours(batch_.Put(Theirs(key), Theirs(value))); }
  Status CommitBatch() override {
    Status status = Ours(db_->Write(write_options_, &batch_));
    batch_.Clear();
    return status;
  }

  Status SyncAll() override { return Ours(db_->SyncWAL()); }

  std::unique_ptr<Cursor> NewCursor(Fetch fetch) override {
    return std::make_unique<RocksDbCursor>(
        db_->NewIterator(fetch == Fetch::kKeys ? KeysOnly(read_options_) : read_options_));
  }

  std::unique_ptr<Transactions> NewTransactions() override {
    if (!begin_) return nullptr;
    return std::make_unique<RocksDbTransactions>(begin_, db_->DefaultColumnFamily(), write_options_, read_options_);
  }

 private:
  static const rocksdb::PerfContext& Context() { return *rocksdb::get_perf_context(); }

  rocksdb::DB* db_;
  const BeginFunction& begin_;
  CacheTally* tally_;
  std::uint64_t hits_before_;  // of this thread, before this session
  std::uint64_t reads_before_;
  rocksdb::ReadOptions read_options_;
  rocksdb::WriteOptions write_options_;
  rocksdb::WriteBatch batch_;
  rocksdb::PinnableSlice value_;
  std::vector<rocksdb::Slice> keys_;  // these three for MultiGet
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
  rocksdb::Status status_;
};

constexpr std::pair<const char*, rocksdb::CompressionType> kCodecs[] = {{"none", rocksdb::kNoCompression},
                                                                       {"snappy", rocksdb::kSnappyCompression},
                                                                       {"lz4", rocksdb::kLZ4Compression},
                                                                       {"zstd", rocksdb::kZSTD}};

class RocksDbEngine : public Engine {
 public:
  RocksDbEngine(const EngineConfig& config, RocksDbShape shape)
      : config_(config), shape_(shape), ledger_(std::make_shared<RocksDbLedger>()) {
    parsed_ = ParseOptions();
  }

  std::string Complain() override {
    if (const std::string what = ComplainOfRocksDbLevels(config_, shape_); !what.empty()) return what;
    if (!parsed_.ok()) return parsed_.ToString();
    const std::vector<rocksdb::CompressionType> built_in = rocksdb::GetSupportedCompressions();
    std::vector<std::string> has;
    for (const auto& [name, type] : kCodecs) {
      if (std::find(built_in.begin(), built_in.end(), type) != built_in.end()) has.emplace_back(name);
    }
    return ComplainOfCodec(config_.compression_type, "this RocksDB", has);
  }

  bool HasTransactions() override { return true; }

  Status Open(bool create) override {
    parsed_ = ParseOptions();
    if (!parsed_.ok()) return Ours(parsed_);
    options_.create_if_missing = create;
    begin_ = nullptr;
    if (!config_.transacts) return Ours(OpenDb(options_, config_.path, &db_));
    return Ours(config_.transaction.kind == TransactionKind::kLocking ? OpenLocking() : OpenOptimistic());
  }
  Status Close() override {
    if (db_ == nullptr) return {};
    earlier_ = ReadTotals();
    Status status = Ours(db_->Close());
    db_.reset();
    return status;
  }
  Status Destroy() override { return Ours(rocksdb::DestroyDB(config_.path, options_)); }

  Status BeginWrites(const WriteMode& mode) override {
    mode_ = mode;
    return {};
  }
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<RocksDbSession>(db_.get(), mode_, config_.verify_checksum, &tally_, begin_);
  }

  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    Status status = Flush();
    if (status.ok()) status = WaitForCompact(db_.get(), idle_seconds);
    if (status.ok()) status = Ours(db_->SyncWAL());
    return status;
  }
  Status Flush() override { return Ours(db_->Flush(rocksdb::FlushOptions())); }
  Status WaitForCompaction() override {
    double idle_seconds = 0;
    return WaitForCompact(db_.get(), &idle_seconds);
  }
  Status Compact() override {
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    return Ours(db_->CompactRange(all, nullptr, nullptr));
  }
  Status Verify(std::string* what) override {
    *what = "VerifyChecksum";
    return Ours(db_->VerifyChecksum());
  }

  std::string LevelStats() override {
    std::string text;
    return db_ != nullptr && db_->GetProperty("rocksdb.levelstats", &text) ? text : std::string();
  }
  std::string Stats() override {
    std::string text;
    return db_ != nullptr && db_->GetProperty("rocksdb.stats", &text) ? text : std::string();
  }

  EngineCounters ReadCounters() override {
    EngineCounters counters;
    const Totals totals = ReadTotals();
    counters.ledger = ledger_->Read();
    counters.ledger->log = totals.log;
    counters.ledger->manifest = totals.manifest;
    counters.stall_micros = totals.stall_micros;
    counters.stall_time = StallTime::kOfTheStore;  // the leader of a group of writers waits for the group
    counters.cache_hits = tally_.hits.load();
    counters.cache_misses = tally_.misses.load();
    counters.merge_read_bytes = ledger_->MergeReadBytes();
    if (std::uint64_t bytes = 0; db_ != nullptr && db_->GetIntProperty("rocksdb.live-sst-files-size", &bytes)) {
      counters.index_bytes = bytes;
    }
    return counters;
  }

  std::string Version() const override {
    return "RocksDB " + std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
           std::to_string(ROCKSDB_PATCH);
  }
  std::string Settings() const override {
    std::string text = DescribeRocksDbOptions(config_, shape_);
    if (shape_ == RocksDbShape::kUniversal) {
      const rocksdb::CompactionOptionsUniversal& universal = options_.compaction_options_universal;
      text += ", size_ratio " + std::to_string(universal.size_ratio) + ", max_size_amplification_percent " +
              std::to_string(universal.max_size_amplification_percent);
    }
    if (HasBlobs(shape_)) {
      text += BlobDefaults(options_);
      if (!kHasUnpreparedValues<rocksdb::ReadOptions>) text += "; its key-only scans read the blobs too";
    }
    return text + DescribeTransactions(config_) + "; otherwise the library's defaults";
  }

 private:
  // Figures that only an open database tells, summed over all opens.
  struct Totals {
    std::uint64_t log = 0;  // its records, without their headers of 7 bytes
    std::uint64_t manifest = 0;
    std::uint64_t stall_micros = 0;
  };
  Totals ReadTotals() {
    Totals totals = earlier_;
    if (db_ == nullptr) return totals;
    std::map<std::string, std::string> stats;
    if (db_->GetMapProperty("rocksdb.dbstats", &stats)) {
      totals.log += std::strtoull(stats["db.wal_bytes_written"].c_str(), nullptr, 10);
      totals.stall_micros += std::strtoull(stats["db.user_write_stall_micros"].c_str(), nullptr, 10);
    }
    // Each open starts a new MANIFEST, and none gets near the gigabyte at which RocksDB would roll it.
    std::vector<std::string> files;
    std::uint64_t manifest_bytes = 0;
    if (db_->GetLiveFiles(files, &manifest_bytes, /*flush_memtable=*/false).ok()) totals.manifest += manifest_bytes;
    return totals;
  }

  rocksdb::Status OpenOptimistic() {
    rocksdb::OptimisticTransactionDB* db = nullptr;
    rocksdb::Status status = rocksdb::OptimisticTransactionDB::Open(options_, config_.path, &db);
    if (!status.ok()) return status;
    rocksdb::OptimisticTransactionOptions options;
    options.set_snapshot = config_.transaction.set_snapshot;
    begin_ = [db, options](const rocksdb::WriteOptions& write, rocksdb::Transaction* old) {
      return db->BeginTransaction(write, options, old);
    };
    db_.reset(db);
    return status;
  }
  rocksdb::Status OpenLocking() {
    rocksdb::TransactionDB* db = nullptr;
    rocksdb::Status status =
        rocksdb::TransactionDB::Open(options_, rocksdb::TransactionDBOptions(), config_.path, &db);
    if (!status.ok()) return status;
    rocksdb::TransactionOptions options;
    options.set_snapshot = config_.transaction.set_snapshot;
    options.deadlock_detect = true;
    begin_ = [db, options](const rocksdb::WriteOptions& write, rocksdb::Transaction* old) {
      return db->BeginTransaction(write, options, old);
    };
    db_.reset(db);
    return status;
  }

  // Polls properties if the release has no function for it. A job schedules the next one while it still counts as
  // running, so if all properties are zero, no work is left. Universal compaction may stay pending forever without
  // picking anything: if nothing else happens for a second, no work is left either, and *idle_seconds is that time.
  template <typename Db>
  static Status WaitForCompact(Db* db, double* idle_seconds) {
    *idle_seconds = 0;
    if constexpr (kHasWaitForCompact<Db>) return Ours(db->WaitForCompact({}));
    constexpr double kPatienceSeconds = 1;
    auto last_busy = std::chrono::steady_clock::now();
    while (!Interrupted()) {
      std::uint64_t running = 0;
      for (const char* name : {"rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
                               "rocksdb.num-running-compactions"}) {
        std::uint64_t value = 0;
        if (!db->GetIntProperty(name, &value)) return Status::NotSupported(std::string("property ") + name);
        running += value;
      }
      std::uint64_t pending = 0;
      if (!db->GetIntProperty("rocksdb.compaction-pending", &pending)) {
        return Status::NotSupported("property rocksdb.compaction-pending");
      }
      std::uint64_t errors = 0;
      if (db->GetIntProperty("rocksdb.background-errors", &errors) && errors != 0) {
        return Status::IOError("RocksDB counted " + std::to_string(errors) + " background errors");
      }
      if (running == 0 && pending == 0) return {};
      const auto now = std::chrono::steady_clock::now();
      if (running != 0) last_busy = now;
      const double seconds = std::chrono::duration<double>(now - last_busy).count();
      if (seconds >= kPatienceSeconds) {
        *idle_seconds = seconds;
        return {};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
  }

  // Sets options_. This makes a new cache, so it is done at each open: in a cache that outlived the database, blocks
  // would keep their names, and the next open would begin warm.
  rocksdb::Status ParseOptions() {
    rocksdb::Options options;
    const rocksdb::Status status = rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), rocksdb::Options(),
                                                                 RocksDbOptionsText(config_, shape_), &options);
    options.listeners.push_back(ledger_);
    options_ = options;
    return status;
  }

  EngineConfig config_;
  RocksDbShape shape_;
  std::shared_ptr<RocksDbLedger> ledger_;
  CacheTally tally_;
  Totals earlier_;
  rocksdb::Options options_;
  rocksdb::Status parsed_;  // whether this RocksDB knows all options
  WriteMode mode_;
  std::unique_ptr<rocksdb::DB> db_;
  BeginFunction begin_;  // calls db_; empty if it was not opened for transactions
};

}  // namespace

std::unique_ptr<Engine> MakeRocksDbLeveled(const EngineConfig& config) {
  return std::make_unique<RocksDbEngine>(config, RocksDbShape::kLeveled);
}
std::unique_ptr<Engine> MakeRocksDbUniversal(const EngineConfig& config) {
  return std::make_unique<RocksDbEngine>(config, RocksDbShape::kUniversal);
}
std::unique_ptr<Engine> MakeRocksDbWithBlobs(const EngineConfig& config) {
  return std::make_unique<RocksDbEngine>(config, RocksDbShape::kBlobs);
}
std::unique_ptr<Engine> MakeRocksDbWithoutBlobGc(const EngineConfig& config) {
  return std::make_unique<RocksDbEngine>(config, RocksDbShape::kBlobsWithoutGc);
}

}  // namespace cambium::bench
