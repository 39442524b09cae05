// Workloads of lookups.
#include <algorithm>
#include <string>
#include <vector>

#include "workloads/lookup.h"

namespace cambium::bench {

void ReadRandom(Worker* w) {
  KeyBuffer key(w->phase.key_shape);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    w->meter.Finish(1, LookUp(w, &key, w->RandomId()));
  }
}

void ReadRandomTogether(Worker* w) {
  const Phase& phase = w->phase;
  const std::size_t batch_size = phase.flags.batch_size;
  std::vector<KeyBuffer> buffers(batch_size, KeyBuffer(phase.key_shape));
  std::vector<std::uint64_t> ids(batch_size);
  std::vector<Slice> keys(batch_size);
  std::vector<Slice> values(batch_size);
  std::vector<Lookup> lookups(batch_size);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::size_t count = w->meter.Room(batch_size);
    for (std::size_t i = 0; i < count; ++i) {
      ids[i] = w->RandomId();
      keys[i] = buffers[i].Make(ids[i]);
    }
    w->session.MultiGet({keys.data(), count}, {values.data(), count}, {lookups.data(), count});
    if (std::count(lookups.begin(), lookups.begin() + static_cast<std::ptrdiff_t>(count), Lookup::kError) != 0) {
      w->status = w->session.error();
    }
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += TakeAnswer(w, ids[i], lookups[i], values[i]);
    w->meter.Finish(count, bytes);
  }
}

void ReadRandomAsync(Worker* w) {
  KeyBuffer key(w->phase.key_shape);
  const std::size_t depth = w->phase.flags.async_depth;
  std::uint64_t outstanding = 0;
  const Session::Take take = [w, &outstanding](std::uint64_t id, Lookup lookup, Slice value) {
    --outstanding;
    if (lookup == Lookup::kError) w->status = w->session.error();
    w->meter.Finish(1, TakeAnswer(w, id, lookup, value));
  };
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    if (outstanding >= w->meter.Room(depth + 1)) {  // the outstanding ones are the last
      w->session.FinishGets();
      continue;
    }
    const std::uint64_t id = w->RandomId();
    ++outstanding;
    w->session.BeginGet(key.Make(id), id, depth, take);
  }
  w->session.FinishGets();
}

void ReadMissing(Worker* w) {
  KeyBuffer key(w->phase.key_shape);
  std::string longer;
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->RandomId();
    Slice value;
    const Slice name = key.Make(id);
    longer.assign(name.data(), name.size()).push_back('0');
    const Lookup lookup = w->session.Get(longer, &value);
    ++w->reads;
    if (lookup == Lookup::kError) w->status = w->session.error();
    if (lookup == Lookup::kFound) {
      w->status = Status::Corruption("key " + std::to_string(id) + " with an extra byte was found, but never written");
    }
    w->meter.Finish(1, 0);
  }
}

}  // namespace cambium::bench
