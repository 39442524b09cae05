// Cambium as an Engine.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/options_check.h"
#include "cambium/async.h"
#include "cambium/db.h"
#include "cambium/optimistic_transaction_db.h"
#include "cambium/statistics.h"
#include "cambium/transaction_db.h"
#include "engines/registry.h"
#include "engines/transaction_text.h"

namespace cambium::bench {
namespace {

class CambiumCursor : public Cursor {
 public:
  explicit CambiumCursor(Iterator* iterator) : iterator_(iterator) {}
  bool SeekToFirst() override {
    iterator_->SeekToFirst();
    return iterator_->Valid();
  }
  bool SeekToLast() override {
    iterator_->SeekToLast();
    return iterator_->Valid();
  }
  bool Seek(Slice target) override {
    iterator_->Seek(target);
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
  Slice key() override { return iterator_->key(); }
  Slice value() override { return iterator_->value(); }
  Status status() override { return iterator_->status(); }

 private:
  std::unique_ptr<Iterator> iterator_;
};

// Cambium has everything that the bench asks for, so NotSupported means bytes that it does not understand. If it were
// returned unchanged, the bench would believe that this engine lacks the operation.
Status Ours(const Status& status) {
  return status.IsNotSupported() ? Status::Corruption(status.ToString()) : status;
}

// Begins a transaction of an open database; `old` is as in BeginTransaction.
using BeginFunction = std::function<Transaction*(const WriteOptions&, Transaction* old)>;

class CambiumTransactions : public Transactions {
 public:
  CambiumTransactions(const BeginFunction& begin, const WriteOptions& write, const ReadOptions& read)
      : begin_(begin), write_options_(write), read_options_(read) {}

  Status Begin() override {
    Transaction* const begun = begin_(write_options_, transaction_.get());
    if (begun == nullptr) return Status::IOError("no transaction can begin");
    if (begun != transaction_.get()) transaction_.reset(begun);
    return {};
  }
  Status ReadForUpdate(Slice key, Slice* value) override {
    value_.Reset();
    const Status status = transaction_->GetForUpdate(read_options_, key, &value_);
    *value = value_;
    return Outcome(status);
  }
  Status Put(Slice key, Slice value) override { return Outcome(transaction_->Put(key, value)); }
  Status Commit() override { return Outcome(transaction_->Commit()); }

 private:
  // Rolls back after a conflict.
  Status Outcome(const Status& status) {
    if (!status.IsBusy() && !status.IsTryAgain() && !status.IsTimedOut()) return Ours(status);
    const Status ended = transaction_->Rollback();
    if (!ended.ok()) return Ours(ended);
    return status.IsBusy() ? status : Status::Busy("a conflict");
  }

  const BeginFunction& begin_;
  WriteOptions write_options_;
  ReadOptions read_options_;
  PinnableSlice value_;
  std::unique_ptr<Transaction> transaction_;  // used again and again
};

class CambiumSession : public Session {
 public:
  // `begin` may be empty: then there are no transactions.
  CambiumSession(DB* db, const WriteMode& mode, const EngineConfig& config, const BeginFunction& begin)
      : db_(db), begin_(begin) {
    write_options_.sync = mode.sync;
    write_options_.disableWAL = mode.disable_wal;
    read_options_.verify_checksums = config.verify_checksum;
    read_options_.pin_mapped_values = config.pin_mapped_values;
  }

  Lookup Get(Slice key, Slice* value) override {
    value_.Reset();
    error_ = db_->Get(read_options_, key, &value_);
    *value = value_;
    return Answer(error_);
  }
  void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) override {
    if (values_.size() < keys.size()) {
      values_ = std::vector<PinnableSlice>(keys.size());
      statuses_.resize(keys.size());
    }
    for (PinnableSlice& value : values_) value.Reset();
    db_->MultiGet(read_options_, keys.size(), keys.data(), values_.data(), statuses_.data());
    error_ = Status();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      values[i] = values_[i];
      lookups[i] = Answer(statuses_[i]);
      if (lookups[i] == Lookup::kError && error_.ok()) error_ = statuses_[i];
    }
  }
  // Polls for several answers at a time, so that as many reads go to the system together.
  void BeginGet(Slice key, std::uint64_t tag, std::size_t depth, const Take& take) override {
    take_ = &take;
    if (reader_ == nullptr) error_ = db_->NewAsyncReader({.depth = depth}, &reader_);
    if (reader_ != nullptr) {
      if (!reader_->HasRoom()) reader_->Poll(std::max<std::size_t>(1, depth / kPolledPart));
      error_ = reader_->Get(read_options_, key, [this, tag](const Status& status, Slice value) {
        error_ = status;
        (*take_)(tag, Answer(status), value);
      });
    }
    if (!error_.ok() && !error_.IsNotFound()) take(tag, Lookup::kError, {});
  }
  void FinishGets() override {
    while (reader_ != nullptr && reader_->in_flight() > 0) reader_->Poll(reader_->in_flight());
  }
  Status error() override { return error_; }

  Status Put(Slice key, Slice value) override { return db_->Put(write_options_, key, value); }
  Status Delete(Slice key) override { return db_->Delete(write_options_, key); }
  Status BatchPut(Slice key, Slice value) override { return batch_.Put(key, value); }
  Status CommitBatch() override {
    Status status = db_->Write(write_options_, &batch_);
    batch_.Clear();
    return status;
  }

  Status SyncAll() override { return db_->SyncWAL(); }

  std::unique_ptr<Cursor> NewCursor(Fetch fetch) override {
    ReadOptions options = read_options_;
    options.allow_unprepared_value = fetch == Fetch::kKeys;
    return std::make_unique<CambiumCursor>(db_->NewIterator(options));
  }

  std::unique_ptr<Transactions> NewTransactions() override {
    if (!begin_) return nullptr;
    return std::make_unique<CambiumTransactions>(begin_, write_options_, read_options_);
  }

 private:
  static constexpr std::size_t kPolledPart = 8;

  static Lookup Answer(const Status& status) {
    return status.ok() ? Lookup::kFound : status.IsNotFound() ? Lookup::kMissing : Lookup::kError;
  }

  DB* db_;
  const BeginFunction& begin_;
  ReadOptions read_options_;
  WriteOptions write_options_;
  WriteBatch batch_;
  PinnableSlice value_;
  std::vector<PinnableSlice> values_;  // for MultiGet
  std::vector<Status> statuses_;
  Status error_;
  const Take* take_ = nullptr;
  std::unique_ptr<AsyncReader> reader_;  // destroyed first: its callbacks use the session
};

class CambiumEngine : public Engine {
 public:
  explicit CambiumEngine(const EngineConfig& config) : config_(config) {
    options_.index_type = config.index == "lsm" ? IndexKind::kLsm : IndexKind::kBTree;
    options_.page_cache_size = config.cache_size;
    options_.filter_bits_per_key = config.bloom_bits;
    options_.write_buffer_size = config.write_buffer_size;
    options_.max_write_buffer_number = config.max_write_buffer_number;
    if (config.mmap_read.has_value()) options_.allow_mmap_reads = *config.mmap_read;
    options_.min_blob_size = config.min_blob_size;
    options_.blob_file_size = config.blob_file_size;
    options_.max_space_amplification = config.space.max_space_amplification;
    options_.enable_blob_garbage_collection = config.space.enable_blob_garbage_collection;
    options_.blob_garbage_collection_age_cutoff = config.space.blob_garbage_collection_age_cutoff;
    options_.blob_garbage_collection_force_threshold = config.space.blob_garbage_collection_force_threshold;
    options_.value_clustering = config.space.value_clustering == "full"   ? ValueClustering::kFull
                                : config.space.value_clustering == "auto" ? ValueClustering::kAuto
                                                                          : ValueClustering::kOff;
    options_.blob_compression_type = config.compression_type == "zstd"     ? CompressionType::kZSTD
                                     : config.compression_type == "lz4"    ? CompressionType::kLZ4Compression
                                     : config.compression_type == "snappy" ? CompressionType::kSnappyCompression
                                                                           : CompressionType::kNoCompression;
    if (options_.index_type == IndexKind::kLsm) SetLevels(config.levels.OfKeys());
    options_.statistics = CreateDBStatistics();
    options_.statistics->set_stats_level(kExceptHistogramOrTimers);
  }

  std::string Complain() override {
    const Status status = CheckOptions(options_);
    return status.ok() ? "" : status.ToString();
  }

  bool HasTransactions() override { return true; }

  Status Open(bool create) override {
    options_.create_if_missing = create;
    begin_ = nullptr;
    if (!config_.transacts) return DB::Open(options_, config_.path, &db_);
    return config_.transaction.kind == TransactionKind::kLocking ? OpenLocking() : OpenOptimistic();
  }
  Status Close() override {
    Status status = is_recording_ ? db_->EndTrace() : Status();
    is_recording_ = false;
    Status closed = db_ == nullptr ? Status() : db_->Close();
    db_.reset();
    return closed.ok() ? status : closed;
  }
  Status Destroy() override { return DestroyDB(config_.path, options_); }

  Status BeginWrites(const WriteMode& mode) override {
    mode_ = mode;
    return config_.trace.record && !is_recording_ ? StartRecording() : Status();
  }
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<CambiumSession>(db_.get(), mode_, config_, begin_);
  }

  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    Status status = db_->Flush(FlushOptions());
    if (status.ok()) status = db_->WaitForCompact();
    if (status.ok()) status = db_->SyncWAL();
    return status;
  }
  Status Flush() override { return Ours(db_->Flush(FlushOptions())); }
  Status WaitForCompaction() override { return Ours(db_->WaitForCompact()); }
  Status Compact() override {
    CompactRangeOptions all;
    all.cluster_values = config_.space.cluster_values;
    return Ours(db_->CompactRange(all, nullptr, nullptr));
  }

  Status Verify(std::string* what) override {
    *what = "VerifyDB deep";
    Status status = Close();
    if (!status.ok()) return status;
    VerifyReport report;
    status = Ours(VerifyDB(config_.path, options_, VerifyOptions{.deep = true}, &report));
    if (status.ok() && !report.problems.empty()) {
      status = Status::Corruption(std::to_string(report.problems.size()) + " problems, first: " + report.problems[0]);
    }
    Status opened = Open(false);
    return status.ok() ? opened : status;
  }

  std::string LevelStats() override {
    std::string text;
    return db_ != nullptr && db_->GetProperty("cambium.levelstats", &text) ? text : std::string();
  }
  std::string Stats() override {
    std::string text;
    for (const char* name : {"cambium.index-stats", "cambium.space", "cambium.gc-forecast", "cambium.levelstats"}) {
      std::string value;
      if (db_ != nullptr && db_->GetProperty(name, &value)) text += std::string(name) + "\n" + value + "\n";
    }
    return text;
  }

  EngineCounters ReadCounters() override {
    const auto count = [this](Tickers ticker) { return options_.statistics->getTickerCount(ticker); };
    EngineCounters counters;
    counters.ledger = WriteLedger{.log = count(FILE_BYTES_LOG),
                                  .flush = count(FILE_BYTES_FLUSH),
                                  .merge = count(FILE_BYTES_MERGE),
                                  .gc = count(FILE_BYTES_GC),
                                  .manifest = count(FILE_BYTES_MANIFEST),
                                  .other = count(FILE_BYTES_OTHER)};
    counters.kept_bytes = KeptBytes();
    counters.stall_micros = count(STALL_MICROS);
    counters.stall_time = StallTime::kOfEachWriter;
    counters.cache_hits = count(BLOCK_CACHE_HIT);
    counters.cache_misses = count(BLOCK_CACHE_MISS);
    counters.merge_read_bytes = count(COMPACT_READ_BYTES);
    if (std::uint64_t bytes = 0; db_ != nullptr && db_->GetIntProperty("cambium.index-bytes", &bytes)) {
      counters.index_bytes = bytes;
    }
    return counters;
  }

  std::optional<IndexFigures> ReadIndexFigures() override {
    std::map<std::string, std::string> stats;
    if (db_ == nullptr || !db_->GetMapProperty("cambium.index-stats", &stats)) return std::nullopt;
    const auto count = [&stats](const std::string& name) -> std::uint64_t {
      return std::strtoull(stats[name].c_str(), nullptr, 10);
    };
    IndexFigures figures;
    figures.runs = count("runs");
    figures.run_keys = count("run_keys");
    figures.updates = count("flushed_keys");
    figures.bytes = count("flush_bytes") + count("merge_bytes");
    figures.law_bytes = count("law_bytes");
    figures.merges = count("sweeps") + count("straight_merges") + count("compactions");
    const std::string tree = stats["tree_keys"] + " keys in " + stats["tree_height"] + " levels of pages";
    figures.shape = stats["index"] == "lsm" ? LevelsOf(stats) : tree;
    return figures;
  }

  std::string Version() const override { return std::string("Cambium ") + CAMBIUM_BENCH_VERSION; }
  std::string Settings() const override {
    return "index " + config_.index + ", page_cache_size " + std::to_string(options_.page_cache_size) +
           ", filter_bits_per_key " + std::to_string(options_.filter_bits_per_key) + ", write_buffer_size " +
           std::to_string(options_.write_buffer_size) + " x " + std::to_string(options_.max_write_buffer_number) +
           ", min_blob_size " + std::to_string(options_.min_blob_size) + ", blob_file_size " +
           std::to_string(options_.blob_file_size) + SpaceSettings() + ", blob_compression_type " + config_.compression_type +
           (options_.index_type == IndexKind::kLsm ? LevelSettings() : "") +
           (options_.allow_mmap_reads ? "; allow_mmap_reads" : "; no allow_mmap_reads") + "; statistics without times" +
           (config_.pin_mapped_values ? "; pin_mapped_values" : "") + DescribeTransactions(config_) +
           (config_.verify_checksum ? "; value checksums are verified" : "; value checksums are not verified");
  }

 private:
  // Separated values, without those that log GC has relocated.
  [[nodiscard]] std::uint64_t KeptBytes() const {
    const std::uint64_t moved = options_.statistics->getTickerCount(BLOB_DB_GC_BYTES_RELOCATED);
    const std::uint64_t separated = options_.statistics->getTickerCount(BLOB_DB_BLOB_FILE_BYTES_WRITTEN);
    return separated > moved ? separated - moved : 0;
  }
  Status OpenOptimistic() {
    std::unique_ptr<OptimisticTransactionDB> db;
    Status status = OptimisticTransactionDB::Open(options_, config_.path, &db);
    if (!status.ok()) return status;
    OptimisticTransactionOptions options;
    options.set_snapshot = config_.transaction.set_snapshot;
    begin_ = [db = db.get(), options](const WriteOptions& write, Transaction* old) {
      return db->BeginTransaction(write, options, old);
    };
    db_ = std::move(db);
    return status;
  }
  Status OpenLocking() {
    std::unique_ptr<TransactionDB> db;
    Status status = TransactionDB::Open(options_, TransactionDBOptions(), config_.path, &db);
    if (!status.ok()) return status;
    TransactionOptions options;
    options.set_snapshot = config_.transaction.set_snapshot;
    options.deadlock_detect = true;
    begin_ = [db = db.get(), options](const WriteOptions& write, Transaction* old) {
      return db->BeginTransaction(write, options, old);
    };
    db_ = std::move(db);
    return status;
  }
  // Called at the first workload, after its database has been recreated.
  Status StartRecording() {
    TraceOptions options;
    options.sampling_frequency = config_.trace.sampling_frequency;
    options.include_values = config_.trace.include_values;
    options.preserve_write_order = config_.trace.preserve_write_order;
    Status status = db_->StartTrace(options, config_.trace.file);
    is_recording_ = status.ok();
    return status;
  }
  void SetLevels(const LevelShape& levels) {
    options_.compression = options_.blob_compression_type;
    options_.compaction_style = levels.compaction_style;
    options_.level0_file_num_compaction_trigger = levels.level0_file_num_compaction_trigger;
    options_.level0_slowdown_writes_trigger = levels.level0_slowdown_writes_trigger;
    options_.level0_stop_writes_trigger = levels.level0_stop_writes_trigger;
    options_.target_file_size_base = levels.target_file_size_base;
    options_.target_file_size_multiplier = levels.target_file_size_multiplier;
    options_.max_bytes_for_level_base = levels.max_bytes_for_level_base;
    options_.max_bytes_for_level_multiplier = levels.max_bytes_for_level_multiplier;
    options_.num_levels = levels.num_levels;
  }
  std::string LevelSettings() const {
    return std::string(", compaction_style ") +
           (options_.compaction_style == kCompactionStyleLevel ? "level" : "lazy level") +
           ", level0_file_num_compaction_trigger " + std::to_string(options_.level0_file_num_compaction_trigger) +
           ", target_file_size_base " + std::to_string(options_.target_file_size_base) +
           ", max_bytes_for_level_base " + std::to_string(options_.max_bytes_for_level_base) + ", compression " +
           config_.compression_type;
  }
  std::string SpaceSettings() const {
    return ", max_space_amplification " + std::to_string(options_.max_space_amplification) + ", log GC " +
           (options_.enable_blob_garbage_collection
                ? "(age cutoff " + std::to_string(options_.blob_garbage_collection_age_cutoff) + ", force threshold " +
                      std::to_string(options_.blob_garbage_collection_force_threshold) + ")"
                : "off") +
           ", value_clustering " + config_.space.value_clustering +
           (config_.space.cluster_values ? ", compact clusters values" : "");
  }
  // "L1 12 files, L2 60 files"
  static std::string LevelsOf(const std::map<std::string, std::string>& stats) {
    std::string text;
    for (std::uint32_t level = 1; level < 64; ++level) {
      const auto files = stats.find("level_" + std::to_string(level) + "_files");
      if (files == stats.end()) continue;
      text += (text.empty() ? "L" : ", L") + std::to_string(level) + " " + files->second + " files";
    }
    return text.empty() ? "empty" : text;
  }

  EngineConfig config_;
  Options options_;
  WriteMode mode_;
  std::unique_ptr<DB> db_;
  BeginFunction begin_;  // calls db_; empty if it was not opened for transactions
  bool is_recording_ = false;
};

}  // namespace

std::unique_ptr<Engine> MakeCambium(const EngineConfig& config) { return std::make_unique<CambiumEngine>(config); }

}  // namespace cambium::bench
