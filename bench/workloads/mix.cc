// Workloads of db_bench that mix reads and writes.
#include "workloads/mixed.h"

namespace cambium::bench {
namespace {

// A value grows to at most this many times its first size; then it starts again.
constexpr std::size_t kAppendsMax = 256;

}  // namespace

void UpdateRandom(Worker* w) {
  MixedOps ops(w);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->RandomId();
    std::uint64_t bytes = ops.Get(id);
    if (w->status.ok()) bytes += ops.Put(id);
    w->meter.Finish(1, bytes);
  }
}

void AppendRandom(Worker* w) {
  MixedOps ops(w);
  const std::size_t more = w->phase.flags.value_size;
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->RandomId();
    Slice value;
    std::uint64_t bytes = ops.Get(id, &value);
    const std::size_t size = value.size() + more > w->phase.pool.size_max() ? more : value.size() + more;
    if (w->status.ok()) bytes += ops.PutSized(id, size);
    w->meter.Finish(1, bytes);
  }
}

std::uint64_t ValueRoomOfAppends(const BenchFlags& flags) { return flags.value_size * kAppendsMax; }

std::string ComplainOfAppends(const BenchFlags& flags) {
  return flags.value_size > 0 && flags.value_size <= (1u << 20) ? "" : "--value_size must be from 1 to 1048576 for appends";
}

// In each hundred operations, --readwritepercent reads come first, then writes.
void ReadRandomWriteRandom(Worker* w) {
  MixedOps ops(w);
  std::uint64_t op = 0;
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->RandomId();
    const bool reads = op++ % 100 < w->phase.flags.readwritepercent;
    w->meter.Finish(1, reads ? ops.Get(id) : ops.Put(id));
  }
}

}  // namespace cambium::bench
