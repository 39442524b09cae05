// LMDB as an Engine.
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engines/codecs.h"
#include "engines/registry.h"

namespace cambium::bench {
namespace {

constexpr std::uint64_t kMapOfDiskMax = std::uint64_t{16} << 40;  // the address space is limited
// Unsynced writes share transactions of this many: with a transaction for each write, LMDB's page copies would be
// compared with the other engines' log records. A synced write has a transaction of its own.
constexpr int kPutsPerTransaction = 1000;

MDB_val Theirs(Slice s) { return {s.size(), const_cast<char*>(s.data())}; }  // LMDB only reads through it
Slice Ours(const MDB_val& v) { return {static_cast<const char*>(v.mv_data), v.mv_size}; }

Status Ours(int code) {
  if (code == MDB_SUCCESS) return {};
  const std::string message = std::string("LMDB: ") + mdb_strerror(code);
  if (code == MDB_NOTFOUND) return Status::NotFound(message);
  if (code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND) return Status::Corruption(message);
  return Status::IOError(message);
}

class LmdbCursor : public Cursor {
 public:
  // `cursor` belongs to the session; null if it could not be opened, for the reason `code`.
  LmdbCursor(int code, MDB_cursor* cursor, Fetch fetch)
      : code_(code), cursor_(cursor), wanted_(fetch == Fetch::kKeys ? nullptr : &value_) {}

  bool SeekToFirst() override { return Move(MDB_FIRST); }
  bool SeekToLast() override { return Move(MDB_LAST); }
  bool Seek(Slice target) override {
    key_ = Theirs(target);
    return Move(MDB_SET_RANGE);
  }
  bool Next() override { return Move(MDB_NEXT); }
  bool Prev() override { return Move(MDB_PREV); }
  Slice key() override { return Ours(key_); }
  Slice value() override { return Ours(value_); }
  Status status() override { return code_ == MDB_NOTFOUND ? Status() : Ours(code_); }

 private:
  bool Move(MDB_cursor_op operation) {
    if (cursor_ == nullptr) return false;
    code_ = mdb_cursor_get(cursor_, &key_, wanted_, operation);
    return code_ == MDB_SUCCESS;
  }

  int code_;
  MDB_cursor* cursor_;
  MDB_val key_{};
  MDB_val value_{};
  MDB_val* wanted_;  // null: LMDB does not look at the value
};

// Write transactions, of which LMDB runs one at a time: the others wait in Begin(). So there are no conflicts.
class LmdbTransactions : public Transactions {
 public:
  LmdbTransactions(MDB_env* env, MDB_dbi table) : env_(env), table_(table) {}
  ~LmdbTransactions() override {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }

  Status Begin() override { return Ours(mdb_txn_begin(env_, nullptr, 0, &transaction_)); }
  Status ReadForUpdate(Slice key, Slice* value) override {
    MDB_val k = Theirs(key);
    MDB_val v{};
    const int code = mdb_get(transaction_, table_, &k, &v);
    *value = Ours(v);
    return Ours(code);
  }
  Status Put(Slice key, Slice value) override {
    MDB_val k = Theirs(key);
    MDB_val v = Theirs(value);
    return Ours(mdb_put(transaction_, table_, &k, &v, 0));
  }
  Status Commit() override { return Ours(mdb_txn_commit(std::exchange(transaction_, nullptr))); }

 private:
  MDB_env* env_;
  MDB_dbi table_;
  MDB_txn* transaction_ = nullptr;
};

// Every read operation renews the read transaction, so that it sees the newest commit, as with the other engines.
class LmdbSession : public Session {
 public:
  LmdbSession(MDB_env* env, MDB_dbi table, const WriteMode& mode)
      : env_(env), table_(table), single_(mode.sync || mode.visible) {}
  ~LmdbSession() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
    if (read_ != nullptr) mdb_txn_abort(read_);
    if (write_ != nullptr) mdb_txn_abort(write_);
  }

  Lookup Get(Slice key, Slice* value) override {
    code_ = Renew();
    if (code_ != MDB_SUCCESS) return Lookup::kError;
    MDB_val k = Theirs(key);
    MDB_val v{};
    code_ = mdb_get(read_, table_, &k, &v);
    *value = Ours(v);
    return Answer(code_);
  }
  // One transaction for all keys, because a MultiGet is one operation.
  void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) override {
    code_ = Renew();
    const bool begun = code_ == MDB_SUCCESS;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      MDB_val k = Theirs(keys[i]);
      MDB_val v{};
      const int code = begun ? mdb_get(read_, table_, &k, &v) : code_;
      values[i] = Ours(v);
      lookups[i] = Answer(code);
      if (lookups[i] == Lookup::kError && code_ == MDB_SUCCESS) code_ = code;
    }
  }
  Status error() override { return Ours(code_); }

  Status Put(Slice key, Slice value) override {
    Status status = BatchPut(key, value);
    return status.ok() ? EndOfWrite() : status;
  }
  Status Delete(Slice key) override {
    Status status = BeginTransaction();
    if (!status.ok()) return status;
    MDB_val k = Theirs(key);
    const int code = mdb_del(write_, table_, &k, nullptr);
    if (code != MDB_NOTFOUND) status = Ours(code);
    return status.ok() ? EndOfWrite() : status;
  }
  Status BatchPut(Slice key, Slice value) override {
    Status status = BeginTransaction();
    if (!status.ok()) return status;
    MDB_val k = Theirs(key);
    MDB_val v = Theirs(value);
    return Ours(mdb_put(write_, table_, &k, &v, 0));
  }
  Status CommitBatch() override { return Finish(); }
  Status SyncAll() override { return Finish(); }  // a commit syncs, unless the phase is unsynced
  Status Finish() override {
    if (write_ == nullptr) return {};
    pending_ = 0;
    return Ours(mdb_txn_commit(std::exchange(write_, nullptr)));
  }

  std::unique_ptr<Cursor> NewCursor(Fetch fetch) override {
    int code = Renew();
    if (code == MDB_SUCCESS) {
      code = cursor_ == nullptr ? mdb_cursor_open(read_, table_, &cursor_) : mdb_cursor_renew(read_, cursor_);
    }
    return std::make_unique<LmdbCursor>(code, code == MDB_SUCCESS ? cursor_ : nullptr, fetch);
  }

  std::unique_ptr<Transactions> NewTransactions() override { return std::make_unique<LmdbTransactions>(env_, table_); }

 private:
  static Lookup Answer(int code) {
    return code == MDB_SUCCESS ? Lookup::kFound : code == MDB_NOTFOUND ? Lookup::kMissing : Lookup::kError;
  }
  int Renew() {
    if (read_ == nullptr) return mdb_txn_begin(env_, nullptr, MDB_RDONLY, &read_);
    mdb_txn_reset(read_);
    return mdb_txn_renew(read_);
  }
  Status BeginTransaction() {
    return write_ != nullptr ? Status() : Ours(mdb_txn_begin(env_, nullptr, 0, &write_));
  }
  Status EndOfWrite() { return single_ || ++pending_ == kPutsPerTransaction ? Finish() : Status(); }

  MDB_env* env_;
  MDB_dbi table_;
  bool single_;  // a transaction for each write
  int code_ = MDB_SUCCESS;
  MDB_txn* read_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  MDB_txn* write_ = nullptr;
  int pending_ = 0;  // single writes in the open transaction
};

class LmdbEngine : public Engine {
 public:
  explicit LmdbEngine(const EngineConfig& config) : config_(config) {
    // The map takes address space, not disk. It has room for eight times the data, because freed pages are not reused
    // at once. It also has room for everything the file system can hold, because it is not known here how much a
    // workload adds: so the disk gets full before the map does.
    const std::uint64_t data = config.num * (config.key_size + config.value_size + 64);
    std::error_code error;
    const auto space = std::filesystem::space(std::filesystem::path(config.path).parent_path(), error);
    const std::uint64_t disk = error ? 0 : std::min<std::uint64_t>(space.capacity, kMapOfDiskMax);
    map_size_ = (std::max({std::uint64_t{16} << 30, 8 * data, disk}) + 4095) & ~std::uint64_t{4095};
  }
  ~LmdbEngine() override {
    if (env_ != nullptr) mdb_env_close(env_);
  }

  std::string Complain() override {
    MDB_env* env = nullptr;
    if (mdb_env_create(&env) != MDB_SUCCESS) return "mdb_env_create fails";
    const auto limit = static_cast<std::size_t>(mdb_env_get_maxkeysize(env));
    mdb_env_close(env);
    if (config_.key_size > limit) {
      return "--key_size=" + std::to_string(config_.key_size) + ": LMDB takes keys of at most " + std::to_string(limit) +
             " bytes";
    }
    return ComplainOfCodec(config_.compression_type, "LMDB", {"none"});
  }

  bool HasTransactions() override { return true; }

  Status Open(bool create) override {
    if (create && mkdir(config_.path.c_str(), 0755) != 0 && errno != EEXIST) {
      return Status::IOError("mkdir " + config_.path + ": " + std::strerror(errno));
    }
    int code = mdb_env_create(&env_);
    if (code == MDB_SUCCESS) code = mdb_env_set_mapsize(env_, map_size_);
    if (code == MDB_SUCCESS) {
      code = mdb_env_open(env_, config_.path.c_str(), MDB_NOSYNC | MDB_NOMETASYNC | MDB_NORDAHEAD, 0644);
    }
    MDB_txn* transaction = nullptr;
    if (code == MDB_SUCCESS) code = mdb_txn_begin(env_, nullptr, 0, &transaction);
    if (code == MDB_SUCCESS) {
      code = mdb_dbi_open(transaction, nullptr, 0, &table_);
      if (code == MDB_SUCCESS) {
        code = mdb_txn_commit(transaction);
      } else {
        mdb_txn_abort(transaction);
      }
    }
    if (code != MDB_SUCCESS && env_ != nullptr) mdb_env_close(std::exchange(env_, nullptr));
    return Ours(code);
  }
  Status Close() override {
    if (env_ == nullptr) return {};
    const int code = mdb_env_sync(env_, 1);
    mdb_env_close(std::exchange(env_, nullptr));
    return Ours(code);
  }
  Status Destroy() override {
    for (const char* name : {"/data.mdb", "/lock.mdb", ""}) {
      const std::string path = config_.path + name;
      if ((*name == '\0' ? rmdir(path.c_str()) : unlink(path.c_str())) != 0 && errno != ENOENT && errno != ENOTEMPTY) {
        return Status::IOError("cannot remove " + path + ": " + std::strerror(errno));
      }
    }
    return {};
  }

  Status BeginWrites(const WriteMode& mode) override {
    mode_ = mode;
    return Ours(mdb_env_set_flags(env_, MDB_NOSYNC | MDB_NOMETASYNC, mode.sync || mode.groups ? 0 : 1));
  }
  std::unique_ptr<Session> NewSession() override { return std::make_unique<LmdbSession>(env_, table_, mode_); }

  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    return Flush();
  }
  Status Flush() override { return Ours(mdb_env_sync(env_, 1)); }
  Status WaitForCompaction() override { return {}; }  // LMDB has no background work
  Status Compact() override {
    return Status::NotSupported("LMDB compacts only into a copy");
  }
  Status Verify(std::string* what) override {
    *what = "nothing of its own: LMDB has no checksums";
    return {};
  }

  // LMDB keeps no counters. Values on pages of their own are not part of the index.
  EngineCounters ReadCounters() override {
    EngineCounters counters;
    MDB_stat stat;
    if (env_ != nullptr && mdb_env_stat(env_, &stat) == MDB_SUCCESS) {
      counters.index_bytes = std::uint64_t{stat.ms_psize} * (stat.ms_branch_pages + stat.ms_leaf_pages);
    }
    return counters;
  }

  std::string Version() const override {
    return "LMDB " + std::to_string(MDB_VERSION_MAJOR) + "." + std::to_string(MDB_VERSION_MINOR) + "." +
           std::to_string(MDB_VERSION_PATCH);
  }
  std::string Settings() const override {
    return "map size " + std::to_string(map_size_) +
           ", MDB_NORDAHEAD, no MDB_WRITEMAP, no compression (it has none), no cache of its own; unsynced writes go " +
           std::to_string(kPutsPerTransaction) +
           " to a transaction with MDB_NOSYNC | MDB_NOMETASYNC and one mdb_env_sync at the end, synced ones have a "
           "transaction each without these flags, and one each with them where reads and writes are mixed; with --sync_every a thread's puts between two syncs, at most as many, share one without them; every read renews its transaction, and so does every MultiGet, which "
           "is a loop of mdb_get in it" +
           (config_.transacts ? "; a transaction is a write transaction, one at a time" : "");
  }

 private:
  EngineConfig config_;
  std::uint64_t map_size_ = 0;
  MDB_env* env_ = nullptr;
  MDB_dbi table_ = 0;
  WriteMode mode_;
};

}  // namespace

std::unique_ptr<Engine> MakeLmdb(const EngineConfig& config) { return std::make_unique<LmdbEngine>(config); }

}  // namespace cambium::bench
