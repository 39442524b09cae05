// MixedOps: the operations of workloads that mix reads and writes, checked as in the plain workloads.
#pragma once

#include "data/key.h"
#include "data/value.h"
#include "workloads/entry_check.h"
#include "workloads/lookup.h"
#include "workloads/workload.h"

namespace cambium::bench {

// Used by one thread. Each operation returns the bytes of keys and values that it moved, and sets the worker's status.
class MixedOps {
 public:
  explicit MixedOps(Worker* worker)
      : worker_(worker), key_(worker->phase.key_shape), values_(worker->phase.pool), check_(worker->phase, true) {}

  std::uint64_t Get(std::uint64_t id, Slice* value = nullptr) { return LookUp(worker_, &key_, id, value); }

  std::uint64_t Put(std::uint64_t id) {
    const std::uint64_t version = NextVersion();
    return Put(id, version, worker_->phase.pool.SizeOf(id, version));
  }
  // Puts a value of the given size: at most the pool's size_max().
  std::uint64_t PutSized(std::uint64_t id, std::size_t size) { return Put(id, NextVersion(), size); }

  std::uint64_t Delete(std::uint64_t id) {
    const Slice key = key_.Make(id);
    worker_->status = worker_->session.Delete(key);
    worker_->phase.keys.Erase(id);
    worker_->written_bytes += key.size();
    return key.size();
  }

  // Seeks to key `id` and reads at most `entries` entries with their values.
  std::uint64_t Scan(std::uint64_t id, std::uint64_t entries) {
    const std::unique_ptr<Cursor> cursor = worker_->session.NewCursor(Fetch::kEntries);
    const Slice target = key_.Make(id);
    bool valid = cursor->Seek(target);
    ++worker_->reads;
    std::optional<Slice> landed;
    if (valid) landed = cursor->key();
    if (landed == target) ++worker_->found;
    if (!valid) worker_->status = cursor->status();
    if (worker_->status.ok()) worker_->status = CheckLanding(worker_->phase, id, target, landed);
    check_.Restart();
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < entries && valid && worker_->status.ok(); ++i) {
      worker_->status = CheckEntry<Fetch::kEntries>(&check_, cursor.get(), &bytes);
      if (worker_->status.ok() && i + 1 < entries) valid = cursor->Next();  // as in seekrandom
    }
    if (worker_->status.ok() && !valid) worker_->status = cursor->status();
    return bytes;
  }

 private:
  std::uint64_t NextVersion() { return worker_->Version(writes_++); }
  std::uint64_t Put(std::uint64_t id, std::uint64_t version, std::size_t size) {
    const Slice value = values_.Make(id, version, size);
    const Slice key = key_.Make(id);
    worker_->Log(id);
    worker_->phase.keys.Insert(id, value.size());  // first: a concurrent reader may see it before the call returns
    worker_->status = worker_->session.Put(key, value);
    worker_->written_bytes += key.size() + value.size();
    return key.size() + value.size();
  }

  Worker* worker_;
  KeyBuffer key_;
  ValueMaker values_;
  EntryCheck check_;
  std::uint64_t writes_ = 0;
};

}  // namespace cambium::bench
