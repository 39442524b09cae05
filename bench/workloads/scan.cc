// Workloads that walk in key order. All check that the order is right and every value they ask for what was written.
#include <optional>

#include "key.h"
#include "workload.h"

namespace cambium::bench {
namespace {

// Checks the entries of one walk, in the order in which a cursor shows them.
class EntryCheck {
 public:
  EntryCheck(const Phase& phase, bool forward) : phase_(phase), forward_(forward) {}

  // A new walk begins.
  void Restart() { last_.reset(); }

  Status Key(Slice key) {
    const std::optional<std::uint64_t> id = ParseKey(key, phase_.flags.key_size);
    if (!id.has_value() || *id >= phase_.flags.num) {
      return Status::Corruption("a key that was never written: " + key.ToString(true));
    }
    if (last_.has_value() && (forward_ ? *id <= *last_ : *id >= *last_)) {
      return Status::Corruption("key " + std::to_string(*id) + " came after key " + std::to_string(*last_));
    }
    if (phase_.keys.known() && !phase_.keys.Contains(*id)) {
      return Status::Corruption("key " + std::to_string(*id) + " was found, but deleted or never written");
    }
    last_ = id;
    return {};
  }
  // After Key(): of the same entry.
  Status Value(Slice value) const {
    if (phase_.pool.Matches(*last_, value, phase_.flags.check)) return {};
    return Status::Corruption(phase_.pool.Explain(*last_, value));
  }
  [[nodiscard]] std::uint64_t last() const { return *last_; }

 private:
  const Phase& phase_;
  bool forward_;
  std::optional<std::uint64_t> last_;
};

// Checks the entry under the cursor; an error of the cursor itself is more telling than the empty value it caused.
template <Fetch kFetch>
Status CheckEntry(EntryCheck* check, Cursor* cursor, std::uint64_t* bytes) {
  Status status = check->Key(cursor->key());
  if (!status.ok()) return status;
  if (kFetch == Fetch::kKeys) {
    *bytes += cursor->key().size();
    return {};
  }
  const Slice value = cursor->value();
  status = check->Value(value);
  if (!status.ok()) return cursor->status().ok() ? status : cursor->status();
  *bytes += cursor->key().size() + value.size();
  return {};
}

// A walk that comes to the end has seen every key there is.
template <bool kForward, Fetch kFetch>
void Walk(Worker* w) {
  EntryCheck check(w->phase, kForward);
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

// A seek must not pass over a key that exists; only the target itself can be looked up at no cost.
Status CheckLanding(const Phase& phase, std::uint64_t target, std::optional<std::uint64_t> landed) {
  const bool right = landed == target || !phase.keys.known() || !phase.lasting->Contains(target);
  if (right && (!landed.has_value() || *landed >= target)) return {};
  return Status::Corruption("a seek to key " + std::to_string(target) + " ended at " +
                            (landed.has_value() ? "key " + std::to_string(*landed) : "the end"));
}

template <Fetch kFetch>
void SeekAtRandom(Worker* w) {
  const Phase& phase = w->phase;
  KeyBuffer key(phase.flags.key_size);
  EntryCheck check(phase, true);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t target = w->random.Uniform(phase.key_space);
    std::uint64_t bytes = 0;
    {
      const std::unique_ptr<Cursor> cursor = w->session.NewCursor(kFetch);
      bool valid = cursor->Seek(key.Make(target));
      ++w->reads;
      check.Restart();
      std::optional<std::uint64_t> landed;
      if (valid) {
        landed = ParseKey(cursor->key(), phase.flags.key_size);
        if (landed == target) ++w->found;
      }
      w->status = valid ? Status() : cursor->status();
      if (w->status.ok()) w->status = CheckLanding(phase, target, landed);
      for (std::uint64_t i = 0; i < phase.flags.seek_nexts && valid && w->status.ok(); ++i) {
        w->status = CheckEntry<kFetch>(&check, cursor.get(), &bytes);
        if (w->status.ok()) valid = cursor->Next();
      }
      if (w->status.ok() && !valid) w->status = cursor->status();
    }
    w->meter.Finish(1, bytes);
  }
}

}  // namespace

void ReadForward(Worker* w) { Walk<true, Fetch::kEntries>(w); }

void ReadKeysForward(Worker* w) { Walk<true, Fetch::kKeys>(w); }

void ReadBackward(Worker* w) { Walk<false, Fetch::kEntries>(w); }

void SeekRandom(Worker* w) { SeekAtRandom<Fetch::kEntries>(w); }

void SeekRandomKeys(Worker* w) { SeekAtRandom<Fetch::kKeys>(w); }

void VerifyAll(Worker* w) { Walk<true, Fetch::kEntries>(w); }

}  // namespace cambium::bench
