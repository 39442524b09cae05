// Lookups whose answers are counted and checked.
#pragma once

#include "data/key.h"
#include "workloads/workload.h"

namespace cambium::bench {

// Counts and checks the answer of a lookup of key `id`. Returns the bytes of the entry.
inline std::uint64_t TakeAnswer(Worker* w, std::uint64_t id, Lookup lookup, Slice value) {
  const Phase& phase = w->phase;
  ++w->reads;
  if (lookup == Lookup::kError) return 0;
  const bool found = lookup == Lookup::kFound;
  if (found && !phase.pool.Matches(id, value, phase.flags.check)) {
    w->status = Status::Corruption(phase.pool.Explain(id, value));
  }
  if (phase.keys.known() && (found ? !phase.keys.Contains(id) : phase.lasting->Contains(id))) {
    w->status = Status::Corruption("key " + std::to_string(id) + " was " +
                                   (found ? "found, but deleted or never written" : "written, but not found"));
  }
  if (!found) return 0;
  ++w->found;
  return phase.key_shape.TypicalSize() + value.size();
}

// Looks up key `id` and returns the bytes of the entry. `found` may be null.
inline std::uint64_t LookUp(Worker* w, KeyBuffer* key, std::uint64_t id, Slice* found = nullptr) {
  Slice value;
  const Lookup lookup = w->session.Get(key->Make(id), &value);
  if (lookup == Lookup::kError) w->status = w->session.error();
  const std::uint64_t bytes = TakeAnswer(w, id, lookup, value);
  if (found != nullptr) *found = value;
  return bytes;
}

}  // namespace cambium::bench
