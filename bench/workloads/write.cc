// Workloads that put and delete.
#include "key.h"
#include "permutation.h"
#include "workload.h"

namespace cambium::bench {
namespace {

constexpr std::uint64_t kBatchOfFillbatch = 1000;  // db_bench's

// Puts what `id_of(op)` names, op counting from 0, singly or in batches of `batch_size`.
template <typename IdOf>
void PutAll(Worker* w, std::uint64_t batch_size, IdOf id_of) {
  KeyBuffer key(w->phase.key_shape);
  ValueMaker values(w->phase.pool);
  std::uint64_t op = 0;
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t in_batch = w->meter.Room(batch_size);
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < in_batch && w->status.ok(); ++i, ++op) {
      const std::uint64_t id = id_of(op);
      const Slice value = values.Make(id, w->Version(op));
      const Slice name = key.Make(id);
      w->phase.keys.Insert(id, value.size());  // first: who reads beside this may see the key before the call returns
      w->status = batch_size == 1 ? w->session.Put(name, value) : w->session.BatchPut(name, value);
      bytes += name.size() + value.size();
    }
    if (w->status.ok() && batch_size > 1) w->status = w->session.CommitBatch();
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

void WriteRandom(Worker* w) { PutRandom(w, w->phase.flags.batch_size); }

void WriteBeside(Worker* w) { PutRandom(w, 1); }

void DeleteRandom(Worker* w) {
  KeyBuffer key(w->phase.key_shape);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->random.Uniform(w->phase.key_space);
    w->status = w->session.Delete(key.Make(id));
    w->phase.keys.Erase(id);
    w->meter.Finish(1, w->phase.key_shape.TypicalSize());
  }
}

}  // namespace cambium::bench
