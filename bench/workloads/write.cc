// Workloads that put and delete.
#include "data/key.h"
#include "data/permutation.h"
#include "meter/pacer.h"
#include "workloads/workload.h"

namespace cambium::bench {
namespace {

constexpr std::uint64_t kBatchOfFillbatch = 1000;      // db_bench's
constexpr std::size_t kValueSizeOfFill100K = 100'000;  // db_bench's

// Makes the writes of a worker durable after each flags.sync_every of them.
class SyncGroups {
 public:
  explicit SyncGroups(Worker* w) : session_(w->session), size_(w->phase.flags.sync_every) {}
  Status Wrote(std::uint64_t count) {
    unsynced_ += count;
    if (size_ == 0 || unsynced_ < size_) return {};
    unsynced_ = 0;
    return session_.SyncAll();
  }

 private:
  Session& session_;
  const std::uint64_t size_;
  std::uint64_t unsynced_ = 0;
};

// Puts the key `id_of(op)` for op from 0 on, singly or in batches of `batch_size`. Values have the pool's sizes, or
// `value_size` if that is not 0.
template <typename IdOf>
void PutAll(Worker* w, std::uint64_t batch_size, IdOf id_of, std::size_t value_size = 0) {
  KeyBuffer key(w->phase.key_shape);
  ValueMaker values(w->phase.pool);
  std::uint64_t op = 0;
  SyncGroups groups(w);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t in_batch = w->meter.Room(batch_size);
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < in_batch && w->status.ok(); ++i, ++op) {
      const std::uint64_t id = id_of(op);
      const Slice value = value_size == 0 ? values.Make(id, w->Version(op)) : values.Make(id, w->Version(op), value_size);
      const Slice name = key.Make(id);
      w->Log(id);
      w->phase.keys.Insert(id, value.size());  // first: a concurrent reader may see the key before the call returns
      w->status = batch_size == 1 ? w->session.Put(name, value) : w->session.BatchPut(name, value);
      bytes += name.size() + value.size();
    }
    if (w->status.ok() && batch_size > 1) w->status = w->session.CommitBatch();
    if (w->status.ok()) w->status = groups.Wrote(in_batch);
    w->written_bytes += bytes;
    w->meter.Finish(in_batch, bytes);
  }
}

void PutInOrder(Worker* w, std::uint64_t batch_size) {
  const std::uint64_t first = w->index;
  const std::uint64_t step = w->phase.flags.threads;
  const std::uint64_t key_space = w->phase.key_space;
  PutAll(w, batch_size, [=](std::uint64_t op) { return (first + op * step) % key_space; });
}

void PutRandom(Worker* w, std::uint64_t batch_size) {
  PutAll(w, batch_size, [w](std::uint64_t) { return w->random.Uniform(w->phase.key_space); });
}

}  // namespace

void FillInOrder(Worker* w) { PutInOrder(w, w->phase.flags.batch_size); }

void FillInBatches(Worker* w) { PutInOrder(w, kBatchOfFillbatch); }

void FillUniqueRandom(Worker* w) {
  const Permutation order(w->phase.key_space, w->phase.seed);
  const std::uint64_t first = w->index;
  const std::uint64_t step = w->phase.flags.threads;
  PutAll(w, w->phase.flags.batch_size, [=](std::uint64_t op) { return order.At(first + op * step); });
}

void FillLarge(Worker* w) {
  PutAll(w, 1, [w](std::uint64_t) { return w->random.Uniform(w->phase.key_space); }, kValueSizeOfFill100K);
}

std::uint64_t ValueRoomOfFill100K(const BenchFlags&) { return kValueSizeOfFill100K; }

void WriteRandom(Worker* w) { PutRandom(w, w->phase.flags.batch_size); }

// Overwrites random keys. The rate limit is db_bench's: bytes of keys and values.
void WriteBeside(Worker* w) {
  const double limit = static_cast<double>(w->phase.flags.benchmark_write_rate_limit);
  if (limit == 0) return PutRandom(w, 1);
  Pacer pacer(limit);
  const double bytes = static_cast<double>(w->phase.key_shape.TypicalSize() + w->phase.pool.size_typical());
  PutAll(w, 1, [&](std::uint64_t) {
    pacer.Take(bytes, w->meter.stop());
    w->meter.Resume();
    return w->random.Uniform(w->phase.key_space);
  });
}

void DeleteInOrder(Worker* w) {
  KeyBuffer key(w->phase.key_shape);
  std::uint64_t id = w->index;
  SyncGroups groups(w);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    w->status = w->session.Delete(key.Make(id % w->phase.key_space));
    if (w->status.ok()) w->status = groups.Wrote(1);
    w->phase.keys.Erase(id % w->phase.key_space);
    w->written_bytes += w->phase.key_shape.TypicalSize();
    w->meter.Finish(1, w->phase.key_shape.TypicalSize());
    id += w->phase.flags.threads;
  }
}

void DeleteRandom(Worker* w) {
  KeyBuffer key(w->phase.key_shape);
  SyncGroups groups(w);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->random.Uniform(w->phase.key_space);
    w->status = w->session.Delete(key.Make(id));
    if (w->status.ok()) w->status = groups.Wrote(1);
    w->phase.keys.Erase(id);
    w->written_bytes += w->phase.key_shape.TypicalSize();
    w->meter.Finish(1, w->phase.key_shape.TypicalSize());
  }
}

}  // namespace cambium::bench
