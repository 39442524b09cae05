// LevelDB as an Engine.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "engines/codecs.h"
#include "engines/leveldb_ledger.h"
#include "engines/registry.h"
#include "meter/sampler.h"
#include "system/interrupt.h"

namespace cambium::bench {
namespace {

leveldb::Slice Theirs(Slice s) { return {s.data(), s.size()}; }
Slice Ours(const leveldb::Slice& s) { return {s.data(), s.size()}; }

Status Ours(const leveldb::Status& status) {
  if (status.ok()) return {};
  if (status.IsNotFound()) return Status::NotFound(status.ToString());
  if (status.IsCorruption()) return Status::Corruption(status.ToString());
  return Status::IOError(status.ToString());
}

class LevelDbCursor : public Cursor {
 public:
  explicit LevelDbCursor(leveldb::Iterator* iterator) : iterator_(iterator) {}
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
  std::unique_ptr<leveldb::Iterator> iterator_;
};

leveldb::ReadOptions Reads(bool verify_checksum) {
  leveldb::ReadOptions options;
  // For an uncompressed file that it maps, LevelDB keeps no verified copy of a block, so it verifies a block at each
  // read.
  options.verify_checksums = verify_checksum;
  return options;
}

Lookup Answer(const leveldb::Status& status) {
  return status.ok() ? Lookup::kFound : status.IsNotFound() ? Lookup::kMissing : Lookup::kError;
}

// The only way to sync its log is a synced write; an empty batch adds no key.
Status SyncLog(leveldb::DB* db) {
  leveldb::WriteOptions synced;
  synced.sync = true;
  leveldb::WriteBatch nothing;
  return Ours(db->Write(synced, &nothing));
}

class LevelDbSession : public Session {
 public:
  LevelDbSession(leveldb::DB* db, bool sync, bool verify_checksum) : db_(db), read_options_(Reads(verify_checksum)) {
    write_options_.sync = sync;
  }

  Lookup Get(Slice key, Slice* value) override {
    status_ = db_->Get(read_options_, Theirs(key), &value_);
    *value = value_;
    return Answer(status_);
  }
  void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) override {
    if (values_.size() < keys.size()) values_.resize(keys.size());
    status_ = leveldb::Status();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const leveldb::Status status = db_->Get(read_options_, Theirs(keys[i]), &values_[i]);
      values[i] = values_[i];
      lookups[i] = Answer(status);
      if (lookups[i] == Lookup::kError && status_.ok()) status_ = status;
    }
  }
  Status error() override { return Ours(status_); }

  Status Put(Slice key, Slice value) override { return Ours(db_->Put(write_options_, Theirs(key), Theirs(value))); }
  Status Delete(Slice key) override { return Ours(db_->Delete(write_options_, Theirs(key))); }
  Status BatchPut(Slice key, Slice value) override {
    batch_.Put(Theirs(key), Theirs(value));
    return {};
  }
  Status CommitBatch() override {
    Status status = Ours(db_->Write(write_options_, &batch_));
    batch_.Clear();
    return status;
  }

  Status SyncAll() override { return SyncLog(db_); }

  std::unique_ptr<Cursor> NewCursor(Fetch) override {
    return std::make_unique<LevelDbCursor>(db_->NewIterator(read_options_));
  }

 private:
  leveldb::DB* db_;
  leveldb::ReadOptions read_options_;
  leveldb::WriteOptions write_options_;
  leveldb::WriteBatch batch_;
  std::string value_;
  std::vector<std::string> values_;  // for MultiGet
  leveldb::Status status_;
};

double ProcessCpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

class LevelDbEngine : public Engine {
 public:
  explicit LevelDbEngine(const EngineConfig& config)
      : config_(config),
        filter_(config.bloom_bits > 0 ? leveldb::NewBloomFilterPolicy(config.bloom_bits) : nullptr) {
    options_.env = &ledger_;
    options_.write_buffer_size = config.write_buffer_size;
    options_.filter_policy = filter_.get();
    options_.compression =
        config.compression_type == "snappy" ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  }

  std::string Complain() override { return ComplainOfCodec(config_.compression_type, "LevelDB", {"none", "snappy"}); }

  Status Open(bool create) override {
    options_.create_if_missing = create;
    cache_.reset(
        leveldb::NewLRUCache(config_.cache_size));  // a newly opened database begins cold, as with the other engines
    options_.block_cache = cache_.get();
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options_, config_.path, &db);
    db_.reset(db);
    return Ours(status);
  }
  Status Close() override {
    db_.reset();
    return {};
  }
  Status Destroy() override { return Ours(leveldb::DestroyDB(config_.path, options_)); }

  Status BeginWrites(const WriteMode& mode) override {
    sync_ = mode.sync;
    return {};
  }
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<LevelDbSession>(db_.get(), sync_, config_.verify_checksum);
  }

  Status Settle(double* idle_seconds) override {
    Status status = WaitUntilStill(idle_seconds);
    if (!status.ok()) return status;
    return SyncLog(db_.get());
  }
  // LevelDB flushes only when its buffer is full.
  Status Flush() override { return {}; }
  Status WaitForCompaction() override {
    double idle_seconds = 0;
    return WaitUntilStill(&idle_seconds);
  }
  Status Compact() override {
    db_->CompactRange(nullptr, nullptr);
    return {};
  }
  Status Verify(std::string* what) override {
    *what = "scan with verify_checksums";
    leveldb::ReadOptions options = Reads(true);
    options.fill_cache = false;
    const std::unique_ptr<leveldb::Iterator> iterator(db_->NewIterator(options));
    iterator->SeekToFirst();
    while (iterator->Valid()) iterator->Next();
    return Ours(iterator->status());
  }

  std::string Stats() override {
    std::string text;
    return db_ != nullptr && db_->GetProperty("leveldb.stats", &text) ? text : std::string();
  }

  // LevelDB counts neither stalls nor cache hits.
  EngineCounters ReadCounters() override {
    EngineCounters counters;
    counters.ledger = ledger_.Read();
    if (std::string tables; db_ != nullptr && db_->GetProperty("leveldb.sstables", &tables)) {
      counters.index_bytes = BytesOf(tables);
    }
    return counters;
  }

  std::string Version() const override {
    return "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  }
  std::string Settings() const override {
    return "block_cache " + std::to_string(config_.cache_size) + ", bloom_bits " +
           std::to_string(config_.bloom_bits) + ", write_buffer_size " + std::to_string(config_.write_buffer_size) +
           ", compression " + (options_.compression == leveldb::kSnappyCompression ? "snappy" : "none") +
           (config_.verify_checksum ? ", verify_checksums" : ", no verify_checksums") +
           "; it cannot be told to flush, so up to one write buffer stays in its log; it counts as quiet after 250 ms "
           "(not charged) without work in the background; it has no MultiGet, so that is a loop of Get; it keeps its log with "
           "--disable_wal too";
  }

 private:
  // Returns the bytes of all tables. Each has a line, " 12:4096['a' @ 1 : 1 .. 'z' @ 9 : 1]", below a line for its
  // level.
  static std::uint64_t BytesOf(const std::string& tables) {
    std::uint64_t bytes = 0;
    for (std::size_t begin = 0; begin < tables.size();) {
      const std::size_t end = std::min(tables.find('\n', begin), tables.size());
      const std::size_t colon = tables.find(':', begin);
      if (tables[begin] == ' ' && colon < end) bytes += std::strtoull(tables.c_str() + colon + 1, nullptr, 10);
      begin = end + 1;
    }
    return bytes;
  }

  // LevelDB does not tell whether it compacts. It counts as quiet if for 250 ms its files per level have not changed
  // and the process, without the samplers, has not used 2 ms of processor time.
  Status WaitUntilStill(double* idle_seconds) {
    constexpr auto kStep = std::chrono::milliseconds(10);
    constexpr int kStillSteps = 25;
    std::string stats;
    double cpu = ProcessCpuSeconds() - SamplerCpuSeconds();
    for (int still = 0; still < kStillSteps;) {
      if (Interrupted().load()) return Status::Aborted("interrupted");
      std::this_thread::sleep_for(kStep);
      std::string now;
      if (!db_->GetProperty("leveldb.stats", &now)) return Status::NotSupported("property leveldb.stats");
      const double cpu_now = ProcessCpuSeconds() - SamplerCpuSeconds();
      const bool moved = now != stats || cpu_now - cpu > 0.002;
      still = moved ? 0 : still + 1;
      if (moved) {
        stats = std::move(now);
        cpu = cpu_now;
      }
    }
    *idle_seconds = std::chrono::duration<double>(kStep * kStillSteps).count();
    return {};
  }

  EngineConfig config_;
  LevelDbLedger ledger_;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  leveldb::Options options_;
  bool sync_ = false;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

std::unique_ptr<Engine> MakeLevelDb(const EngineConfig& config) { return std::make_unique<LevelDbEngine>(config); }

}  // namespace cambium::bench
