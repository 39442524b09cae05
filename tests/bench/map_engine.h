// MapEngine: an Engine over a std::map that can be told to lie, so that tests see whether the bench notices.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine.h"

namespace cambium::bench {

// What a test may do to the answers. Each sees the key, and may change or drop what is under it.
struct Lies {
  std::function<void(std::string* value)> value;        // of every value given back
  std::function<bool(const std::string& key)> lost;     // true: a lookup does not find it, a walk passes it over
  std::function<bool(const std::string& key)> ghost;    // true: a lookup finds it although it is not there
  std::function<Status()> write;                        // an error of a write
  bool backwards = false;                               // a walk forward goes back
};

class MapEngine : public Engine {
 public:
  Lies lies;
  std::map<std::string, std::string> map;
  std::uint64_t commits = 0;
  bool settled = false;
  bool sync = false;
  std::mutex mutex;

  Status Open(bool) override { return {}; }
  Status Close() override { return {}; }
  Status Destroy() override {
    map.clear();
    return {};
  }
  Status BeginWrites(bool s) override {
    sync = s;
    settled = false;
    return {};
  }
  std::unique_ptr<Session> NewSession() override { return std::make_unique<MapSession>(this); }
  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    settled = true;
    return {};
  }
  Status Flush() override { return {}; }
  Status WaitForCompaction() override { return {}; }
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
    explicit MapCursor(MapEngine* engine) : engine_(engine), at_(engine->map.end()) {}
    bool SeekToFirst() override { return Land(engine_->map.begin(), true); }
    bool SeekToLast() override {
      at_ = engine_->map.end();
      return Prev();
    }
    bool Seek(Slice target) override { return Land(engine_->map.lower_bound(target.ToString()), true); }
    bool Next() override { return engine_->lies.backwards ? Prev() : Land(std::next(at_), true); }
    bool Prev() override {
      if (at_ == engine_->map.begin()) return false;
      return Land(std::prev(at_), false);
    }
    Slice key() override { return at_->first; }
    Slice value() override {
      value_ = at_->second;
      if (engine_->lies.value) engine_->lies.value(&value_);
      return value_;
    }
    Status status() override { return {}; }

   private:
    using Position = std::map<std::string, std::string>::iterator;
    bool Land(Position at, bool forward) {
      while (at != engine_->map.end() && engine_->lies.lost && engine_->lies.lost(at->first)) {
        if (!forward && at == engine_->map.begin()) return false;
        at = forward ? std::next(at) : std::prev(at);
      }
      at_ = at;
      return at != engine_->map.end();
    }
    MapEngine* engine_;
    Position at_;
    std::string value_;
  };

  class MapSession : public Session {
   public:
    explicit MapSession(MapEngine* engine) : engine_(engine) {}
    Lookup Get(Slice key, Slice* value) override {
      const std::lock_guard lock(engine_->mutex);
      const std::string name = key.ToString();
      const auto found = engine_->map.find(name);
      const Lies& lies = engine_->lies;
      if (found == engine_->map.end()) {
        return lies.ghost && lies.ghost(name) ? Lookup::kFound : Lookup::kMissing;
      }
      if (lies.lost && lies.lost(name)) return Lookup::kMissing;
      value_ = found->second;
      if (lies.value) lies.value(&value_);
      *value = value_;
      return Lookup::kFound;
    }
    Status error() override { return {}; }
    Status Put(Slice key, Slice value) override {
      Status status = BatchPut(key, value);
      return status.ok() ? CommitBatch() : status;
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
    Status CommitBatch() override {
      const std::lock_guard lock(engine_->mutex);
      ++engine_->commits;
      return {};
    }
    std::unique_ptr<Cursor> NewCursor() override { return std::make_unique<MapCursor>(engine_); }

   private:
    MapEngine* engine_;
    std::string value_;
  };
};

}  // namespace cambium::bench
