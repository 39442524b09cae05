// Workloads that walk in key order. All check the order, and every value that they read.
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "workloads/entry_check.h"

namespace cambium::bench {
namespace {

// A walk to the end must see every existing key. If keys sort in the order of their ids, looking up the last versions
// costs nothing; verify looks them up in any case.
template <bool kForward, Fetch kFetch>
void Walk(Worker* w, bool verifies = false) {
  EntryCheck check(w->phase, kForward, verifies || w->phase.key_shape.InOrder());
  w->meter.Begin();
  const std::unique_ptr<Cursor> cursor = w->session.NewCursor(kFetch);
  bool valid = kForward ? cursor->SeekToFirst() : cursor->SeekToLast();
  std::uint64_t seen = 0;
  while (valid && w->meter.More() && w->status.ok()) {
    std::uint64_t bytes = 0;
    w->status = CheckEntry<kFetch>(&check, cursor.get(), &bytes);
    if (w->status.ok()) valid = kForward ? cursor->Next() : cursor->Prev();
    ++seen;
    w->meter.Finish(1, bytes);
  }
  if (w->status.ok() && !valid) w->status = cursor->status();
  const KeySet& keys = w->phase.keys;
  if (w->status.ok() && !valid && keys.known() && seen != keys.count()) {
    w->status = Status::Corruption("the database has " + std::to_string(seen) + " keys, but " +
                                   std::to_string(keys.count()) + " were written");
  }
}

template <Fetch kFetch>
void SeekAtRandom(Worker* w) {
  const Phase& phase = w->phase;
  KeyBuffer key(phase.key_shape);
  const bool backward = phase.flags.reverse_iterator;
  const std::uint64_t nexts = phase.flags.seek_nexts;
  const Fetch fetch = nexts == 0 ? Fetch::kKeys : kFetch;  // a seek alone looks at the key only
  EntryCheck check(phase, !backward);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->RandomId();
    const Slice target = key.Make(id);
    std::uint64_t bytes = 0;
    {
      const std::unique_ptr<Cursor> cursor = w->session.NewCursor(fetch);
      bool valid = cursor->Seek(target);
      ++w->reads;
      check.Restart();
      std::optional<Slice> landed;
      if (valid) landed = cursor->key();
      if (landed == target) ++w->found;
      w->status = valid ? Status() : cursor->status();
      if (w->status.ok()) w->status = CheckLanding(phase, id, target, landed);
      // Does not move after the last entry: an engine that reads a value with each move would read one too many.
      for (std::uint64_t i = 0; i < nexts && valid && w->status.ok(); ++i) {
        w->status = CheckEntry<kFetch>(&check, cursor.get(), &bytes);
        if (w->status.ok() && i + 1 < nexts) valid = backward ? cursor->Prev() : cursor->Next();
      }
      if (w->status.ok() && !valid) w->status = cursor->status();
    }
    w->meter.Finish(1, bytes);
  }
}

}  // namespace

void MakeCursors(Worker* w) {
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    w->status = w->session.NewCursor(Fetch::kEntries)->status();
    w->meter.Finish(1, 0);
  }
}

// Scans from the beginning to the end, again and again.
void ScanBeside(Worker* w) {
  EntryCheck check(w->phase, true);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::unique_ptr<Cursor> cursor = w->session.NewCursor(Fetch::kEntries);
    check.Restart();
    bool valid = cursor->SeekToFirst();
    if (!valid) return;  // an empty database
    while (valid && w->meter.More() && w->status.ok()) {
      std::uint64_t bytes = 0;
      w->status = CheckEntry<Fetch::kEntries>(&check, cursor.get(), &bytes);
      if (w->status.ok()) valid = cursor->Next();
      w->meter.Finish(1, bytes);
    }
    if (w->status.ok() && !valid) w->status = cursor->status();
  }
}

// Holds a cursor until the workers are done. At the end it must show the same entries as at the beginning, whatever was
// written meanwhile. Counts as one operation, whose latency is the time the cursor was held.
void HoldCursor(Worker* w) {
  constexpr std::size_t kEntries = 100;
  EntryCheck check(w->phase, true);
  w->meter.Begin();
  const std::unique_ptr<Cursor> cursor = w->session.NewCursor(Fetch::kEntries);
  std::uint64_t bytes = 0;
  const auto versions = [&] {
    std::vector<std::uint64_t> found;
    bool valid = cursor->SeekToFirst();
    check.Restart();
    while (valid && found.size() < kEntries && w->status.ok()) {
      w->status = CheckEntry<Fetch::kEntries>(&check, cursor.get(), &bytes);
      found.push_back(VersionInValue(cursor->value()).value_or(0));
      if (w->status.ok()) valid = cursor->Next();
    }
    if (w->status.ok() && !valid) w->status = cursor->status();
    return found;
  };
  const std::vector<std::uint64_t> at_first = versions();
  while (!w->meter.stop().load()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (w->status.ok() && versions() != at_first && w->status.ok()) {
    w->status = Status::Corruption("an iterator shows what was written after it was made");
  }
  w->meter.Finish(1, bytes);
}

void ReadForward(Worker* w) { Walk<true, Fetch::kEntries>(w); }

void ReadKeysForward(Worker* w) { Walk<true, Fetch::kKeys>(w); }

void ReadBackward(Worker* w) { Walk<false, Fetch::kEntries>(w); }

void SeekRandom(Worker* w) { SeekAtRandom<Fetch::kEntries>(w); }

void SeekRandomKeys(Worker* w) { SeekAtRandom<Fetch::kKeys>(w); }

void VerifyAll(Worker* w) { Walk<true, Fetch::kEntries>(w, true); }

}  // namespace cambium::bench
