// Workloads that look keys up.
#include "key.h"
#include "workload.h"

namespace cambium::bench {

void ReadRandom(Worker* w) {
  const Phase& phase = w->phase;
  KeyBuffer key(phase.flags.key_size);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->random.Uniform(phase.key_space);
    Slice value;
    const Lookup lookup = w->session.Get(key.Make(id), &value);
    ++w->reads;
    std::uint64_t bytes = 0;
    if (lookup == Lookup::kFound) {
      ++w->found;
      bytes = phase.flags.key_size + value.size();
      if (!phase.pool.Matches(id, value, phase.flags.check)) {
        w->status = Status::Corruption(phase.pool.Explain(id, value));
      }
    } else if (lookup == Lookup::kError) {
      w->status = w->session.error();
    }
    if (phase.keys.known() && lookup != Lookup::kError && (lookup == Lookup::kFound) != phase.keys.Contains(id)) {
      w->status = Status::Corruption("key " + std::to_string(id) + " was " +
                                     (lookup == Lookup::kFound ? "found, but deleted or never written"
                                                               : "written, but not found"));
    }
    w->meter.Finish(1, bytes);
  }
}

void ReadMissing(Worker* w) {
  KeyBuffer key(w->phase.flags.key_size + 1);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->random.Uniform(w->phase.key_space);
    Slice value;
    const Lookup lookup = w->session.Get(key.Make(id), &value);
    ++w->reads;
    if (lookup == Lookup::kError) w->status = w->session.error();
    if (lookup == Lookup::kFound) {
      w->status = Status::Corruption("key " + std::to_string(id) + " with a byte more was found, but never written");
    }
    w->meter.Finish(1, 0);
  }
}

}  // namespace cambium::bench
