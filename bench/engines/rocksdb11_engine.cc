// RocksDB 11 as an Engine, through its C interface, with the settings of the linked RocksDB's engines.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engines/codecs.h"
#include "engines/registry.h"
#include "engines/rocksdb11_ledger.h"
#include "engines/rocksdb11_library.h"
#include "engines/rocksdb_options.h"

namespace cambium::bench {
namespace {

using rocksdb11::Bytes;

// Owns an object of RocksDB.
template <typename Object>
using Owned = std::unique_ptr<Object, void (*)(Object*)>;

Slice Ours(const Bytes& bytes) { return {bytes.data, bytes.size}; }

class RocksDb11Cursor : public Cursor {
 public:
  RocksDb11Cursor(const RocksDb11Library& library, rocksdb11::Iterator* iterator)
      : library_(library), iterator_(iterator, library.iter_destroy_) {}
  bool SeekToFirst() override {
    library_.iter_seek_to_first_(iterator_.get());
    return IsValid();
  }
  bool SeekToLast() override {
    library_.iter_seek_to_last_(iterator_.get());
    return IsValid();
  }
  bool Seek(Slice target) override {
    library_.iter_seek_(iterator_.get(), target.data(), target.size());
    return IsValid();
  }
  bool Next() override {
    library_.iter_next_(iterator_.get());
    return IsValid();
  }
  bool Prev() override {
    library_.iter_prev_(iterator_.get());
    return IsValid();
  }
  Slice key() override { return Ours(library_.iter_key_slice_(iterator_.get())); }
  Slice value() override { return Ours(library_.iter_value_slice_(iterator_.get())); }
  Status status() override {
    char* error = nullptr;
    library_.iter_get_error_(iterator_.get(), &error);
    return library_.Take(error);
  }

 private:
  [[nodiscard]] bool IsValid() const { return library_.iter_valid_(iterator_.get()) != 0; }

  const RocksDb11Library& library_;
  Owned<rocksdb11::Iterator> iterator_;
};

// Block cache hits and misses of the sessions that have ended. RocksDB always counts them for each thread.
struct CacheTally {
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> misses{0};
};

class RocksDb11Session : public Session {
 public:
  RocksDb11Session(const RocksDb11Library& library, rocksdb11::Db* db, const WriteMode& mode, bool verify_checksum,
                   CacheTally* tally)
      : library_(library),
        db_(db),
        tally_(tally),
        before_(ReadCounts()),
        family_(library.get_default_column_family_handle_(db), library.column_family_handle_destroy_),
        read_options_(library.readoptions_create_(), library.readoptions_destroy_),
        read_keys_(library.readoptions_create_(), library.readoptions_destroy_),
        write_options_(library.writeoptions_create_(), library.writeoptions_destroy_),
        batch_(library.writebatch_create_(), library.writebatch_destroy_) {
    for (const auto* const options : {&read_options_, &read_keys_}) {
      library.readoptions_set_verify_checksums_(options->get(), static_cast<unsigned char>(verify_checksum));
    }
    library.readoptions_set_allow_unprepared_value_(read_keys_.get(), 1);
    library.writeoptions_set_sync_(write_options_.get(), static_cast<unsigned char>(mode.sync));
    library.writeoptions_disable_WAL_(write_options_.get(), static_cast<int>(mode.disable_wal));
  }

  ~RocksDb11Session() override {
    const Counts now = ReadCounts();
    tally_->hits += now.hits - before_.hits;
    tally_->misses += now.reads - before_.reads;
    DropValues();
  }

  Lookup Get(Slice key, Slice* value) override {
    DropValues();
    char* error = nullptr;
    Keep(library_.get_pinned_(db_, read_options_.get(), key.data(), key.size(), &error));
    status_ = library_.Take(error);
    return Answer(0, status_, value);
  }
  void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) override {
    DropValues();
    keys_.resize(keys.size());
    errors_.assign(keys.size(), nullptr);
    pinned_.assign(keys.size(), nullptr);
    for (std::size_t i = 0; i < keys.size(); ++i) keys_[i] = {keys[i].data(), keys[i].size()};
    library_.batched_multi_get_cf_slice_(db_, read_options_.get(), family_.get(), keys.size(), keys_.data(),
                                         pinned_.data(), errors_.data(), /*sorted=*/false);
    status_ = {};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Status status = library_.Take(errors_[i]);
      lookups[i] = Answer(i, status, &values[i]);
      if (status_.ok()) status_ = status;
    }
  }
  Status error() override { return status_; }

  Status Put(Slice key, Slice value) override {
    char* error = nullptr;
    library_.put_(db_, write_options_.get(), key.data(), key.size(), value.data(), value.size(), &error);
    return library_.Take(error);
  }
  Status Delete(Slice key) override {
    char* error = nullptr;
    library_.delete_(db_, write_options_.get(), key.data(), key.size(), &error);
    return library_.Take(error);
  }
  Status BatchPut(Slice key, Slice value) override {
    library_.writebatch_put_(batch_.get(), key.data(), key.size(), value.data(), value.size());
    return {};
  }
  Status CommitBatch() override {
    char* error = nullptr;
    library_.write_(db_, write_options_.get(), batch_.get(), &error);
    library_.writebatch_clear_(batch_.get());
    return library_.Take(error);
  }

  Status SyncAll() override {
    char* error = nullptr;
    library_.flush_wal_(db_, /*sync=*/1, &error);
    return library_.Take(error);
  }

  std::unique_ptr<Cursor> NewCursor(Fetch fetch) override {
    const auto* const options = fetch == Fetch::kKeys ? read_keys_.get() : read_options_.get();
    return std::make_unique<RocksDb11Cursor>(library_, library_.create_iterator_(db_, options));
  }

 private:
  struct Counts {
    std::uint64_t hits = 0;
    std::uint64_t reads = 0;
  };
  // Returns the counts of this thread.
  [[nodiscard]] Counts ReadCounts() const {
    const Owned<rocksdb11::PerfContext> context(library_.perfcontext_create_(), library_.perfcontext_destroy_);
    return {.hits = library_.perfcontext_metric_(context.get(), rocksdb11::kBlockCacheHits),
            .reads = library_.perfcontext_metric_(context.get(), rocksdb11::kBlockReads)};
  }

  void Keep(rocksdb11::PinnableSlice* value) { pinned_.push_back(value); }
  void DropValues() {
    for (rocksdb11::PinnableSlice* const value : pinned_) {
      if (value != nullptr) library_.pinnableslice_destroy_(value);
    }
    pinned_.clear();
  }
  Lookup Answer(std::size_t i, const Status& status, Slice* value) const {
    if (!status.ok()) return Lookup::kError;
    if (pinned_[i] == nullptr) return Lookup::kMissing;
    std::size_t size = 0;
    const char* const bytes = library_.pinnableslice_value_(pinned_[i], &size);
    *value = Slice(bytes, size);
    return Lookup::kFound;
  }

  const RocksDb11Library& library_;
  rocksdb11::Db* db_;
  CacheTally* tally_;
  Counts before_;  // the thread's counts when this session began
  Owned<rocksdb11::Family> family_;
  Owned<rocksdb11::ReadOptions> read_options_;
  Owned<rocksdb11::ReadOptions> read_keys_;
  Owned<rocksdb11::WriteOptions> write_options_;
  Owned<rocksdb11::WriteBatch> batch_;
  std::vector<rocksdb11::PinnableSlice*> pinned_;  // the values of the last call; null: missing
  std::vector<Bytes> keys_;                        // these two for MultiGet
  std::vector<char*> errors_;
  Status status_;
};

class RocksDb11Engine : public Engine {
 public:
  RocksDb11Engine(const EngineConfig& config, RocksDbShape shape)
      : config_(config),
        shape_(shape),
        library_(RocksDb11()),
        ledger_(library_, config.path, shape == RocksDbShape::kDirectBlobs),
        options_(nullptr, library_.options_destroy_),
        db_(nullptr, library_.close_) {}

  // This build of RocksDB has all codecs.
  std::string Complain() override {
    if (std::string what = ComplainOfRocksDbLevels(config_, shape_); !what.empty()) return what;
    if (const Status status = ParseOptions(false); !status.ok()) return status.ToString();
    return ComplainOfCodec(config_.compression_type, "RocksDB", {"none", "snappy", "lz4", "zstd"});
  }

  Status Open(bool create) override {
    if (Status status = ParseOptions(create); !status.ok()) return status;
    ledger_.BeforeOpen();
    char* error = nullptr;
    db_.reset(library_.open_(options_.get(), config_.path.c_str(), &error));
    return library_.Take(error);
  }
  Status Close() override {
    if (db_ == nullptr) return {};
    ledger_.BeforeClose();
    stall_micros_earlier_ = StallMicros();
    db_.reset();
    return {};
  }
  Status Destroy() override {
    if (options_ == nullptr) {
      if (Status status = ParseOptions(false); !status.ok()) return status;
    }
    char* error = nullptr;
    library_.destroy_db_(options_.get(), config_.path.c_str(), &error);
    return library_.Take(error);
  }

  Status BeginWrites(const WriteMode& mode) override {
    mode_ = mode;
    return {};
  }
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<RocksDb11Session>(library_, db_.get(), mode_, config_.verify_checksum, &tally_);
  }

  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    Status status = Flush();
    if (status.ok()) status = WaitForCompaction();
    char* error = nullptr;
    if (status.ok()) library_.flush_wal_(db_.get(), /*sync=*/1, &error);
    if (status.ok()) status = library_.Take(error);
    return status;
  }
  Status Flush() override {
    const Owned<rocksdb11::FlushOptions> options(library_.flushoptions_create_(), library_.flushoptions_destroy_);
    char* error = nullptr;
    library_.flush_(db_.get(), options.get(), &error);
    return library_.Take(error);
  }
  Status WaitForCompaction() override {
    const Owned<rocksdb11::WaitOptions> options(library_.wait_for_compact_options_create_(),
                                                library_.wait_for_compact_options_destroy_);
    char* error = nullptr;
    library_.wait_for_compact_(db_.get(), options.get(), &error);
    return library_.Take(error);
  }
  // The interface does not return the error of the compaction. If the error stopped the database, waiting returns it.
  Status Compact() override {
    const Owned<rocksdb11::CompactOptions> options(library_.compactoptions_create_(),
                                                   library_.compactoptions_destroy_);
    library_.compactoptions_set_bottommost_level_compaction_(options.get(), rocksdb11::kForceOptimized);
    library_.compact_range_opt_(db_.get(), options.get(), nullptr, 0, nullptr, 0);
    return WaitForCompaction();
  }
  Status Verify(std::string* what) override {
    *what = "VerifyChecksum";
    char* error = nullptr;
    library_.verify_checksum_(db_.get(), &error);
    return library_.Take(error);
  }

  std::string LevelStats() override { return Property("rocksdb.levelstats"); }
  std::string Stats() override { return Property("rocksdb.stats"); }

  EngineCounters ReadCounters() override {
    EngineCounters counters;
    counters.ledger = ledger_.Read();
    counters.kept_bytes = ledger_.DirectBytes();
    counters.stall_micros = StallMicros();
    counters.stall_time = StallTime::kOfTheStore;  // the leader of a group of writers waits for the group
    counters.cache_hits = tally_.hits.load();
    counters.cache_misses = tally_.misses.load();
    counters.merge_read_bytes = ledger_.MergeReadBytes();
    if (std::uint64_t bytes = 0;
        db_ != nullptr && library_.property_int_(db_.get(), "rocksdb.live-sst-files-size", &bytes) == 0) {
      counters.index_bytes = bytes;
    }
    return counters;
  }

  std::string Version() const override { return "RocksDB " + library_.version; }
  std::string Settings() const override {
    std::string text = DescribeRocksDbOptions(config_, shape_);
    if (HasBlobs(shape_)) text += ", no blob cache";
    if (shape_ == RocksDbShape::kDirectBlobs) {
      text += ", enable_blob_direct_write (experimental), no allow_concurrent_memtable_write";
    }
    return text + "; otherwise the library's defaults; called through its C interface";
  }

 private:
  // Makes new options, and with them a new cache: in a cache that outlived the database, blocks would keep their names,
  // and the next open would begin warm.
  Status ParseOptions(bool create) {
    const Owned<rocksdb11::Options> defaults(library_.options_create_(), library_.options_destroy_);
    options_.reset(library_.options_create_());
    const std::string text =
        RocksDbOptionsText(config_, shape_) + "create_if_missing=" + (create ? "true" : "false");
    char* error = nullptr;
    library_.get_options_from_string_(defaults.get(), text.c_str(), options_.get(), &error);
    library_.options_add_eventlistener_(options_.get(), ledger_.NewListener());
    return library_.Take(error);
  }

  [[nodiscard]] std::string Property(const char* name) const {
    if (db_ == nullptr) return {};
    char* const text = library_.property_value_(db_.get(), name);
    if (text == nullptr) return {};
    std::string copy = text;
    library_.free_(text);
    return copy;
  }

  // Returns the stalls of all opens. The interface has them only as text, in milliseconds: "Cumulative stall:
  // 00:00:1.234 H:M:S".
  [[nodiscard]] std::uint64_t StallMicros() const {
    constexpr const char* kLabel = "Cumulative stall: ";
    const std::string stats = Property("rocksdb.dbstats");
    const std::size_t label = stats.find(kLabel);
    unsigned hours = 0;
    unsigned minutes = 0;
    double seconds = 0;
    if (label == std::string::npos ||
        std::sscanf(stats.c_str() + label + std::strlen(kLabel), "%u:%u:%lf", &hours, &minutes, &seconds) != 3) {
      return stall_micros_earlier_;
    }
    return stall_micros_earlier_ + static_cast<std::uint64_t>((hours * 3600.0 + minutes * 60.0 + seconds) * 1e6);
  }

  EngineConfig config_;
  RocksDbShape shape_;
  const RocksDb11Library& library_;
  RocksDb11Ledger ledger_;
  CacheTally tally_;
  std::uint64_t stall_micros_earlier_ = 0;
  Owned<rocksdb11::Options> options_;
  WriteMode mode_;
  Owned<rocksdb11::Db> db_;
};

}  // namespace

std::unique_ptr<Engine> MakeRocksDb11Leveled(const EngineConfig& config) {
  return std::make_unique<RocksDb11Engine>(config, RocksDbShape::kLeveled);
}
std::unique_ptr<Engine> MakeRocksDb11WithBlobs(const EngineConfig& config) {
  return std::make_unique<RocksDb11Engine>(config, RocksDbShape::kBlobs);
}
std::unique_ptr<Engine> MakeRocksDb11WithDirectBlobs(const EngineConfig& config) {
  return std::make_unique<RocksDb11Engine>(config, RocksDbShape::kDirectBlobs);
}

}  // namespace cambium::bench
