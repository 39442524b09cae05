// MapEngine is an Engine over a std::map that can be told to give wrong answers, so that tests see whether the bench
// notices.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engines/engine.h"

namespace cambium::bench {

// Wrong answers that a test asks for, and functions to be called during calls. Empty functions are not called.
struct Lies {
  std::function<void(std::string* value)> value;        // may change a value before it is returned
  std::function<bool(const std::string& key)> lost;     // true: lookups do not find this key, and walks skip it
  std::function<bool(const std::string& key)> ghost;    // true: lookups find this key although it is absent
  std::function<Status()> read;                         // returns the error of a lookup
  std::function<Status()> write;                        // returns the error of a write
  bool snapshots = false;                               // cursors walk over a copy, which is correct
  bool backwards = false;                               // a walk forward goes back
  std::function<void()> before_read;                    // called before each lookup and seek, without a lock
  std::function<void()> around_put;                     // the same before and after each single put
  std::function<bool()> conflict;                       // true: a commit fails although nothing conflicts with it
  std::function<bool()> forgets;                        // true: a commit succeeds, and nothing is written
  bool has_transactions = true;
  std::function<void()> in_settle;                      // called while the engine settles, and while it compacts
};

class MapEngine : public Engine {
 public:
  Lies lies;
  std::map<std::string, std::string> map;
  std::uint64_t commits = 0;
  std::uint64_t syncs = 0;          // calls of SyncAll
  std::uint64_t values_walked = 0;  // values that cursors returned
  std::uint64_t calls = 0;          // of MultiGet
  bool settled = false;
  bool sync = false;
  bool groups = false;
  std::mutex mutex;

  bool HasTransactions() override { return lies.has_transactions; }
  Status Open(bool) override { return {}; }
  Status Close() override { return {}; }
  Status Destroy() override {
    map.clear();
    return {};
  }
  Status BeginWrites(const WriteMode& mode) override {
    sync = mode.sync;
    groups = mode.groups;
    settled = false;
    return {};
  }
  std::unique_ptr<Session> NewSession() override { return std::make_unique<MapSession>(this); }
  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    if (lies.in_settle) lies.in_settle();
    settled = true;
    return {};
  }
  Status Flush() override { return {}; }
  Status WaitForCompaction() override {
    if (lies.in_settle) lies.in_settle();
    return {};
  }
  Status Compact() override { return Status::NotSupported("maps have no levels"); }
  Status Verify(std::string* what) override {
    *what = "nothing";
    return {};
  }
  std::string Version() const override { return "map"; }
  std::string Settings() const override { return ""; }

 private:
  class MapCursor : public Cursor {
   public:
    explicit MapCursor(MapEngine* engine) : engine_(engine), map_(&engine->map), at_(map_->end()) {
      if (!engine_->lies.snapshots) return;
      const std::lock_guard lock(engine_->mutex);
      copy_ = engine_->map;
      map_ = &copy_;
      at_ = map_->end();
    }
    bool SeekToFirst() override {
      const std::lock_guard lock(engine_->mutex);
      return Land(map_->begin(), true);
    }
    bool SeekToLast() override {
      const std::lock_guard lock(engine_->mutex);
      at_ = map_->end();
      return Back();
    }
    bool Seek(Slice target) override {
      engine_->ToldToRead();
      const std::lock_guard lock(engine_->mutex);
      return Land(map_->lower_bound(target.ToString()), true);
    }
    bool Next() override {
      const std::lock_guard lock(engine_->mutex);
      return engine_->lies.backwards ? Back() : Land(std::next(at_), true);
    }
    bool Prev() override {
      const std::lock_guard lock(engine_->mutex);
      return Back();
    }
    Slice key() override { return at_->first; }
    Slice value() override {
      const std::lock_guard lock(engine_->mutex);
      ++engine_->values_walked;
      value_ = at_->second;
      if (engine_->lies.value) engine_->lies.value(&value_);
      return value_;
    }
    Status status() override { return {}; }

   private:
    using Position = std::map<std::string, std::string>::iterator;
    bool Back() { return at_ != map_->begin() && Land(std::prev(at_), false); }
    bool Land(Position at, bool forward) {
      while (at != map_->end() && engine_->lies.lost && engine_->lies.lost(at->first)) {
        if (!forward && at == map_->begin()) return false;
        at = forward ? std::next(at) : std::prev(at);
      }
      at_ = at;
      return at != map_->end();
    }
    MapEngine* engine_;
    std::map<std::string, std::string> copy_;
    std::map<std::string, std::string>* map_;  // the engine's or the copy
    Position at_;
    std::string value_;
  };

  class MapSession : public Session {
   public:
    explicit MapSession(MapEngine* engine) : engine_(engine) {}
    Lookup Get(Slice key, Slice* value) override {
      engine_->ToldToRead();
      return Find(key, &value_, value);
    }
    void MultiGet(std::span<const Slice> keys, std::span<Slice> values, std::span<Lookup> lookups) override {
      engine_->ToldToRead();
      values_.resize(std::max(values_.size(), keys.size()));
      for (std::size_t i = 0; i < keys.size(); ++i) lookups[i] = Find(keys[i], &values_[i], &values[i]);
      const std::lock_guard lock(engine_->mutex);
      ++engine_->calls;
    }
    Status error() override { return error_; }
    Status Put(Slice key, Slice value) override {
      if (engine_->lies.around_put) engine_->lies.around_put();
      Status status = BatchPut(key, value);
      if (status.ok()) status = CommitBatch();
      if (engine_->lies.around_put) engine_->lies.around_put();
      return status;
    }
    Status Delete(Slice key) override {
      const std::lock_guard lock(engine_->mutex);
      engine_->map.erase(key.ToString());
      ++engine_->commits;
      return {};
    }
    Status BatchPut(Slice key, Slice value) override {
      const std::lock_guard lock(engine_->mutex);
      if (engine_->lies.write) return engine_->lies.write();
      engine_->map[key.ToString()] = value.ToString();
      return {};
    }
    Status SyncAll() override {
      const std::lock_guard lock(engine_->mutex);
      ++engine_->syncs;
      return {};
    }
    Status CommitBatch() override {
      const std::lock_guard lock(engine_->mutex);
      ++engine_->commits;
      return {};
    }
    std::unique_ptr<Cursor> NewCursor(Fetch) override { return std::make_unique<MapCursor>(engine_); }
    std::unique_ptr<Transactions> NewTransactions() override {
      return std::make_unique<MapTransactions>(engine_, this);
    }

   private:
    Lookup Find(Slice key, std::string* bytes, Slice* value) {
      const std::lock_guard lock(engine_->mutex);
      const std::string name = key.ToString();
      const auto found = engine_->map.find(name);
      const Lies& lies = engine_->lies;
      if (lies.read) {
        error_ = lies.read();
        if (!error_.ok()) return Lookup::kError;
      }
      if (found == engine_->map.end()) {
        return lies.ghost && lies.ghost(name) ? Lookup::kFound : Lookup::kMissing;
      }
      if (lies.lost && lies.lost(name)) return Lookup::kMissing;
      *bytes = found->second;
      if (lies.value) lies.value(bytes);
      *value = *bytes;
      return Lookup::kFound;
    }

    MapEngine* engine_;
    std::string value_;
    std::vector<std::string> values_;
    Status error_;
  };

  // Optimistic transactions: a commit compares what was read with what is there.
  class MapTransactions : public Transactions {
   public:
    MapTransactions(MapEngine* engine, Session* session) : engine_(engine), session_(session) {}
    Status Begin() override {
      read_.clear();
      written_.clear();
      return {};
    }
    Status ReadForUpdate(Slice key, Slice* value) override {
      {
        const std::lock_guard lock(engine_->mutex);
        const auto found = engine_->map.find(key.ToString());
        read_[key.ToString()] = found == engine_->map.end() ? "" : found->second;
      }
      const Lookup lookup = session_->Get(key, value);
      return lookup == Lookup::kFound     ? Status()
             : lookup == Lookup::kMissing ? Status::NotFound("no such key")
                                          : session_->error();
    }
    Status Put(Slice key, Slice value) override {
      written_[key.ToString()] = value.ToString();
      return {};
    }
    Status Commit() override {
      const std::lock_guard lock(engine_->mutex);
      const Lies& lies = engine_->lies;
      if (lies.write) return lies.write();
      if (lies.conflict && lies.conflict()) return Status::Busy("a lie");
      for (const auto& [key, value] : read_) {
        const auto now = engine_->map.find(key);
        if (value != (now == engine_->map.end() ? "" : now->second)) return Status::Busy("a conflict");
      }
      ++engine_->commits;
      if (lies.forgets && lies.forgets()) return {};
      for (const auto& [key, value] : written_) engine_->map[key] = value;
      return {};
    }

   private:
    MapEngine* engine_;
    Session* session_;
    std::map<std::string, std::string> read_;  // "": absent
    std::map<std::string, std::string> written_;
  };

  void ToldToRead() const {
    if (lies.before_read) lies.before_read();
  }
};

}  // namespace cambium::bench
