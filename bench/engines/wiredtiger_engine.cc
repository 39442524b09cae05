// WiredTiger as an Engine: one table, a B-tree, and its log. For WiredTiger 3.2 and later.
#include <sys/stat.h>
#include <wiredtiger.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engines/codecs.h"
#include "engines/registry.h"

namespace cambium::bench {
namespace {

constexpr const char* kTable = "table:bench";
constexpr const char* kTableFile = "bench.wt";

WT_ITEM Theirs(Slice s) {
  WT_ITEM item{};
  item.data = s.data();
  item.size = s.size();
  return item;
}
Slice Ours(const WT_ITEM& item) { return {static_cast<const char*>(item.data), item.size}; }

Status Ours(int code) {
  if (code == 0) return {};
  const std::string message = std::string("WiredTiger: ") + wiredtiger_strerror(code);
  if (code == WT_NOTFOUND) return Status::NotFound(message);
  if (code == WT_PANIC || code == WT_TRY_SALVAGE) return Status::Corruption(message);
  return Status::IOError(message);
}

// A session and a cursor on the table; both null after an error.
struct Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (session != nullptr) session->close(session, nullptr);  // closes its cursors too
  }
  int Open(WT_CONNECTION* connection) {
    int code = connection->open_session(connection, nullptr, nullptr, &session);
    if (code == 0) code = session->open_cursor(session, kTable, nullptr, nullptr, &cursor);
    return code;
  }
  int Insert(Slice key, Slice value) const {
    const WT_ITEM k = Theirs(key);
    const WT_ITEM v = Theirs(value);
    cursor->set_key(cursor, &k);
    cursor->set_value(cursor, &v);
    return cursor->insert(cursor);  // overwrites an existing entry
  }

  WT_SESSION* session = nullptr;
  WT_CURSOR* cursor = nullptr;
};

// Walks within a transaction, so that it sees the keys as they were at its beginning.
class WiredTigerCursor : public Cursor {
 public:
  // `handle` belongs to the session and serves one walk at a time; null if it could not be opened, for the reason
  // `code`.
  WiredTigerCursor(int code, Handle* handle) : code_(code), handle_(handle) {
    if (code_ == 0) code_ = handle_->session->begin_transaction(handle_->session, "isolation=snapshot");
    if (code_ != 0) handle_ = nullptr;
  }
  ~WiredTigerCursor() override {
    if (handle_ == nullptr) return;
    handle_->cursor->reset(handle_->cursor);
    handle_->session->rollback_transaction(handle_->session, nullptr);
  }

  // For a cursor without a position, next() moves to the first entry and prev() to the last.
  bool SeekToFirst() override { return Reset() && Move(&WT_CURSOR::next); }
  bool SeekToLast() override { return Reset() && Move(&WT_CURSOR::prev); }
  bool Seek(Slice target) override {
    if (handle_ == nullptr) return false;
    WT_CURSOR* const cursor = handle_->cursor;
    const WT_ITEM key = Theirs(target);
    cursor->set_key(cursor, &key);
    int order = 0;
    code_ = cursor->search_near(cursor, &order);
    return code_ == 0 && (order >= 0 || Move(&WT_CURSOR::next));
  }
  bool Next() override { return Move(&WT_CURSOR::next); }
  bool Prev() override { return Move(&WT_CURSOR::prev); }
  Slice key() override { return Read(handle_->cursor->get_key); }
  Slice value() override { return Read(handle_->cursor->get_value); }
  Status status() override { return code_ == WT_NOTFOUND ? Status() : Ours(code_); }

 private:
  bool Reset() {
    if (handle_ == nullptr) return false;
    code_ = handle_->cursor->reset(handle_->cursor);
    return code_ == 0;
  }
  bool Move(int (*WT_CURSOR::* step)(WT_CURSOR*)) {
    if (handle_ == nullptr) return false;
    code_ = (handle_->cursor->*step)(handle_->cursor);
    return code_ == 0;
  }
  Slice Read(int (*get)(WT_CURSOR*, ...)) {
    WT_ITEM item{};
    if (const int code = get(handle_->cursor, &item); code != 0) {
      code_ = code;
      return {};
    }
    return Ours(item);
  }

  int code_;
  Handle* handle_;
};

// Transactions with snapshot isolation. A write of a key that another transaction has written since the snapshot is a
// conflict; that is enough for keys that are read and then written, so reads need not announce the write.
class WiredTigerTransactions : public Transactions {
 public:
  // `handle` belongs to the session.
  WiredTigerTransactions(Handle* handle, bool sync) : handle_(handle), sync_(sync) {}
  ~WiredTigerTransactions() override { static_cast<void>(Rollback()); }

  Status Begin() override {
    const int code = handle_->session->begin_transaction(handle_->session, "isolation=snapshot");
    is_open_ = code == 0;
    return Ours(code);
  }
  Status ReadForUpdate(Slice key, Slice* value) override {
    WT_CURSOR* const cursor = handle_->cursor;
    const WT_ITEM item = Theirs(key);
    cursor->set_key(cursor, &item);
    WT_ITEM found{};
    int code = cursor->search(cursor);
    if (code == 0) code = cursor->get_value(cursor, &found);
    *value = Ours(found);
    return Outcome(code);
  }
  Status Put(Slice key, Slice value) override { return Outcome(handle_->Insert(key, value)); }
  Status Commit() override {
    is_open_ = false;  // if it fails, WiredTiger rolls back
    return Outcome(handle_->session->commit_transaction(handle_->session, sync_ ? "sync=on" : nullptr));
  }

 private:
  Status Outcome(int code) {
    if (code != WT_ROLLBACK) return Ours(code);
    code = Rollback();
    return code == 0 ? Status::Busy("a conflict") : Ours(code);
  }
  int Rollback() {
    return std::exchange(is_open_, false) ? handle_->session->rollback_transaction(handle_->session, nullptr) : 0;
  }

  Handle* handle_;
  const bool sync_;
  bool is_open_ = false;
};

// Unsynced single writes commit by themselves. Synced writes and batches are transactions, which are repeated if
// another thread has changed the same key meanwhile.
class WiredTigerSession : public Session {
 public:
  WiredTigerSession(WT_CONNECTION* connection, bool sync) : connection_(connection), sync_(sync) {
    code_ = handle_.Open(connection);
  }

  Lookup Get(Slice key, Slice* value) override { return Find(key, value); }
  // A value lives until its cursor moves, so the values of many keys are copied.
  void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) override {
    if (values_.size() < keys.size()) values_.resize(keys.size());
    int first = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Slice value;
      lookups[i] = Find(keys[i], &value);
      values_[i].assign(value.data(), value.size());
      values[i] = values_[i];
      if (lookups[i] == Lookup::kError && first == 0) first = code_;
    }
    code_ = first;
  }
  Status error() override { return Ours(code_); }

  Status Put(Slice key, Slice value) override {
    if (handle_.cursor == nullptr) return Ours(code_);
    if (!sync_) return Ours(handle_.Insert(key, value));
    return InTransaction([&] { return handle_.Insert(key, value); });
  }
  Status Delete(Slice key) override {
    if (handle_.cursor == nullptr) return Ours(code_);
    const auto remove = [&] {
      const WT_ITEM item = Theirs(key);
      handle_.cursor->set_key(handle_.cursor, &item);
      const int code = handle_.cursor->remove(handle_.cursor);
      return code == WT_NOTFOUND ? 0 : code;
    };
    return sync_ ? InTransaction(remove) : Ours(remove());
  }
  Status BatchPut(Slice key, Slice value) override {
    batch_.push_back({batch_bytes_.size(), key.size(), value.size()});
    batch_bytes_.append(key.data(), key.size());
    batch_bytes_.append(value.data(), value.size());
    return {};
  }
  Status CommitBatch() override {
    if (handle_.cursor == nullptr) return Ours(code_);
    Status status = InTransaction([this] {
      int code = 0;
      for (const BatchEntry& entry : batch_) {
        const char* const key = batch_bytes_.data() + entry.at;
        code = handle_.Insert({key, entry.key_size}, {key + entry.key_size, entry.value_size});
        if (code != 0) break;
      }
      return code;
    });
    batch_.clear();
    batch_bytes_.clear();
    return status;
  }

  Status SyncAll() override {
    if (handle_.cursor == nullptr) return Ours(code_);
    return Ours(handle_.session->log_flush(handle_.session, "sync=on"));
  }

  std::unique_ptr<Cursor> NewCursor(Fetch) override {
    const int code = walk_.cursor == nullptr ? walk_.Open(connection_) : 0;
    return std::make_unique<WiredTigerCursor>(code, code == 0 ? &walk_ : nullptr);
  }

  std::unique_ptr<Transactions> NewTransactions() override {
    return handle_.cursor == nullptr ? nullptr : std::make_unique<WiredTigerTransactions>(&handle_, sync_);
  }

 private:
  struct BatchEntry {
    std::size_t at;  // in batch_bytes_: the key, and then the value
    std::size_t key_size;
    std::size_t value_size;
  };

  Lookup Find(Slice key, Slice* value) {
    WT_CURSOR* const cursor = handle_.cursor;
    if (cursor == nullptr) return Lookup::kError;
    const WT_ITEM item = Theirs(key);
    cursor->set_key(cursor, &item);
    code_ = cursor->search(cursor);
    WT_ITEM found{};
    if (code_ == 0) code_ = cursor->get_value(cursor, &found);
    *value = Ours(found);
    return code_ == 0 ? Lookup::kFound : code_ == WT_NOTFOUND ? Lookup::kMissing : Lookup::kError;
  }
  template <typename Change>
  Status InTransaction(Change change) {
    WT_SESSION* const session = handle_.session;
    while (true) {
      int code = session->begin_transaction(session, nullptr);
      if (code != 0) return Ours(code);
      code = change();
      if (code == 0) return Ours(session->commit_transaction(session, sync_ ? "sync=on" : nullptr));
      session->rollback_transaction(session, nullptr);
      if (code != WT_ROLLBACK) return Ours(code);
    }
  }

  WT_CONNECTION* connection_;
  bool sync_;
  int code_ = 0;
  Handle handle_;
  Handle walk_;                      // for cursors, opened by the first one
  std::vector<std::string> values_;  // for MultiGet
  std::vector<BatchEntry> batch_;
  std::string batch_bytes_;
};

constexpr std::uint64_t kCacheMax = std::uint64_t{10} << 40;

class WiredTigerEngine : public Engine {
 public:
  explicit WiredTigerEngine(const EngineConfig& config)
      : config_(config),
        cache_size_(std::max<std::uint64_t>(
            std::uint64_t{1} << 20,
            config.cache_size + config.write_buffer_size * static_cast<std::uint64_t>(config.max_write_buffer_number))) {
#ifdef CAMBIUM_BENCH_WIREDTIGER_SNAPPY
    is_compressed_ = config.compression_type == "snappy";
#endif
  }
  ~WiredTigerEngine() override { static_cast<void>(CloseConnection()); }

  std::string Complain() override {
    if (config_.cache_size > kCacheMax || cache_size_ > kCacheMax) {
      return "--cache_size=" + std::to_string(config_.cache_size) + " and the write buffers are more than the " +
             std::to_string(kCacheMax) + " bytes (10 TB) that WiredTiger takes";
    }
    std::vector<std::string> has = {"none"};
#ifdef CAMBIUM_BENCH_WIREDTIGER_SNAPPY
    has.emplace_back("snappy");
#endif
    return ComplainOfCodec(config_.compression_type, "this WiredTiger", has);
  }

  bool HasTransactions() override { return true; }

  Status Open(bool create) override {
    if (create && mkdir(config_.path.c_str(), 0755) != 0 && errno != EEXIST) {
      return Status::IOError("mkdir " + config_.path + ": " + std::strerror(errno));
    }
    std::string config = "cache_size=" + std::to_string(cache_size_) +
                         ",session_max=1000,log=(enabled=true),transaction_sync=(enabled=false,method=fsync),"
                         "statistics=(fast)";
    if (create) config += ",create";
    if (!config_.mmap_read.value_or(false)) config += ",mmap=false";
#ifdef CAMBIUM_BENCH_WIREDTIGER_SNAPPY
    if (is_compressed_) config += ",extensions=[" CAMBIUM_BENCH_WIREDTIGER_SNAPPY "]";
#endif
    int code = wiredtiger_open(config_.path.c_str(), nullptr, config.c_str(), &connection_);
    if (code != 0) {
      connection_ = nullptr;
      return Ours(code);
    }
    WT_SESSION* session = nullptr;
    code = connection_->open_session(connection_, nullptr, nullptr, &session);
    if (code == 0 && create) {
      const std::string table =
          std::string("key_format=u,value_format=u") + (is_compressed_ ? ",block_compressor=snappy" : "");
      code = session->create(session, kTable, table.c_str());
    }
    if (session != nullptr) session->close(session, nullptr);
    if (code != 0) static_cast<void>(CloseConnection());
    return Ours(code);
  }
  // WiredTiger writes a checkpoint when it closes.
  Status Close() override {
    if (connection_ != nullptr) earlier_ = ReadTotals();
    return CloseConnection();
  }
  Status Destroy() override {
    std::error_code error;
    std::filesystem::directory_iterator files(config_.path, error);
    if (error == std::errc::no_such_file_or_directory) return {};
    for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
      const std::string name = files->path().filename();
      if (!name.starts_with("WiredTiger") && name != kTableFile) continue;
      std::error_code gone;
      std::filesystem::remove(files->path(), gone);
      if (gone) error = gone;
    }
    if (!error && std::filesystem::is_empty(config_.path, error) && !error) std::filesystem::remove(config_.path, error);
    return error ? Status::IOError("cannot remove " + config_.path + ": " + error.message()) : Status();
  }

  Status BeginWrites(const WriteMode& mode) override {
    sync_ = mode.sync;
    return {};
  }
  std::unique_ptr<Session> NewSession() override { return std::make_unique<WiredTigerSession>(connection_, sync_); }

  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    return Flush();
  }
  Status Flush() override {
    return WithSession([](WT_SESSION* session) {
      const int code = session->checkpoint(session, nullptr);
      return code == 0 ? session->log_flush(session, "sync=on") : code;
    });
  }
  // There is nothing to wait for: its background threads only evict pages, which the next checkpoint need not write.
  Status WaitForCompaction() override { return {}; }
  Status Compact() override {
    Status status = WithSession([](WT_SESSION* session) { return session->compact(session, kTable, "timeout=0"); });
    return status.ok() ? Flush() : status;
  }
  Status Verify(std::string* what) override {
    *what = "WT_SESSION::verify";
    Status status = Flush();
    if (!status.ok()) return status;
    return WithSession([](WT_SESSION* session) { return session->verify(session, kTable, nullptr); });
  }

  std::string Stats() override {
    std::string text;
    if (connection_ == nullptr) return text;
    static_cast<void>(WithSession([&text](WT_SESSION* session) {
      WT_CURSOR* cursor = nullptr;
      int code = session->open_cursor(session, "statistics:", nullptr, "statistics=(fast)", &cursor);
      while (code == 0 && (code = cursor->next(cursor)) == 0) {
        const char* description = nullptr;
        const char* printed = nullptr;
        std::int64_t value = 0;
        code = cursor->get_value(cursor, &description, &printed, &value);
        if (code == 0 && value != 0) text += std::string(description) + ": " + printed + "\n";
      }
      return code == WT_NOTFOUND ? 0 : code;
    }));
    return text;
  }

  EngineCounters ReadCounters() override {
    const Totals totals = ReadTotals();
    EngineCounters counters;
    counters.ledger = WriteLedger{.log = totals.log_bytes, .merge = totals.page_bytes};
    counters.stall_micros = totals.stall_micros;
    counters.stall_time = StallTime::kOfEachThread;
    counters.cache_misses = totals.pages_read;
    counters.cache_hits = totals.pages_requested - std::min(totals.pages_requested, totals.pages_read);
    return counters;
  }

  std::string Version() const override {
    int major = 0;
    int minor = 0;
    int patch = 0;
    wiredtiger_version(&major, &minor, &patch);
    return "WiredTiger " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }
  std::string Settings() const override {
    return "cache_size " + std::to_string(cache_size_) +
           " (what the others have for blocks and for write buffers: it has one cache for both), block_compressor " +
           (is_compressed_ ? "snappy" : "none") +
           ", log enabled, statistics fast" + (config_.mmap_read.value_or(false) ? ", mmap" : ", no mmap") +
           "; unsynced writes wait in its log buffer, synced ones and batches are transactions, synced with fsync; it "
           "settles by a checkpoint; it keeps its log with --disable_wal too, and its checksums with "
           "--verify_checksum=false; it has no filters and no MultiGet, which is a loop of searches; its key-only scans "
           "read the values too" +
           (config_.transacts ? "; transactions with isolation=snapshot" : "") + "; otherwise the library's defaults";
  }

 private:
  struct Totals {
    std::uint64_t log_bytes = 0;
    std::uint64_t page_bytes = 0;
    std::uint64_t stall_micros = 0;
    std::uint64_t pages_requested = 0;
    std::uint64_t pages_read = 0;
  };

  Status CloseConnection() {
    if (connection_ == nullptr) return {};
    WT_CONNECTION* const connection = std::exchange(connection_, nullptr);
    return Ours(connection->close(connection, nullptr));
  }

  template <typename Work>
  Status WithSession(Work work) {
    WT_SESSION* session = nullptr;
    int code = connection_->open_session(connection_, nullptr, nullptr, &session);
    if (code != 0) return Ours(code);
    code = work(session);
    const int closed = session->close(session, nullptr);
    return Ours(code != 0 ? code : closed);
  }

  // Returns totals over all opens; WiredTiger counts from 0 in each. The bytes that it writes while it closes are
  // missing: its counters cannot be read then.
  Totals ReadTotals() {
    Totals totals = earlier_;
    if (connection_ == nullptr) return totals;
    static_cast<void>(WithSession([&totals](WT_SESSION* session) {
      WT_CURSOR* cursor = nullptr;
      const int code = session->open_cursor(session, "statistics:", nullptr, "statistics=(fast)", &cursor);
      if (code != 0) return code;
      Add(cursor, WT_STAT_CONN_LOG_BYTES_WRITTEN, &totals.log_bytes);
      Add(cursor, WT_STAT_CONN_BLOCK_BYTE_WRITE, &totals.page_bytes);
      Add(cursor, WT_STAT_CONN_APPLICATION_CACHE_TIME, &totals.stall_micros);
      Add(cursor, WT_STAT_CONN_CACHE_PAGES_REQUESTED, &totals.pages_requested);
      Add(cursor, WT_STAT_CONN_CACHE_READ, &totals.pages_read);
      return 0;
    }));
    return totals;
  }
  static void Add(WT_CURSOR* cursor, int statistic, std::uint64_t* total) {
    cursor->set_key(cursor, statistic);
    const char* description = nullptr;
    const char* printed = nullptr;
    std::int64_t value = 0;
    if (cursor->search(cursor) == 0 && cursor->get_value(cursor, &description, &printed, &value) == 0 && value > 0) {
      *total += static_cast<std::uint64_t>(value);
    }
  }

  EngineConfig config_;
  std::uint64_t cache_size_;
  bool is_compressed_ = false;
  bool sync_ = false;
  Totals earlier_;
  WT_CONNECTION* connection_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> MakeWiredTiger(const EngineConfig& config) { return std::make_unique<WiredTigerEngine>(config); }

}  // namespace cambium::bench
