// Workloads that walk in key order. All check that the order is right and every value they ask for what was written.
#include <optional>
#include <string>

#include "key.h"
#include "workload.h"

namespace cambium::bench {
namespace {

// Checks the entries of one walk, in the order in which a cursor shows them.
class EntryCheck {
 public:
  EntryCheck(const Phase& phase, bool forward) : phase_(phase), forward_(forward), buffer_(phase.key_shape) {}

  // A new walk begins.
  void Restart() { last_.clear(); }

  Status Key(Slice key) {
    if (!last_.empty() && (forward_ ? key.compare(last_) <= 0 : key.compare(last_) >= 0)) {
      return Status::Corruption("key " + key.ToString(true) + " came after key " + Slice(last_).ToString(true));
    }
    last_.assign(key.data(), key.size());
    if (!phase_.key_shape.HasIds()) return {};
    const std::optional<std::uint64_t> id = ParseKey(key, phase_.key_shape);
    return id.has_value() ? Exists(*id) : Unknown(key);
  }
  // After Key(): of the same entry. A value says whose it is where its key does not.
  Status Value(Slice value) {
    if (!phase_.key_shape.HasIds()) {
      const std::uint64_t id = IdInValue(value);
      if (buffer_.Make(id) != last_) return Unknown(last_);
      if (Status status = Exists(id); !status.ok()) return status;
    }
    if (phase_.pool.Matches(id_, value, phase_.flags.check)) return {};
    return Status::Corruption(phase_.pool.Explain(id_, value));
  }

 private:
  static Status Unknown(Slice key) {
    return Status::Corruption("a key that was never written: " + key.ToString(true));
  }
  Status Exists(std::uint64_t id) {
    id_ = id;
    if (id >= phase_.keys.capacity()) return Unknown(last_);
    if (!phase_.keys.known() || phase_.keys.Contains(id)) return {};
    return Status::Corruption("key " + std::to_string(id) + " was found, but deleted or never written");
  }

  const Phase& phase_;
  bool forward_;
  KeyBuffer buffer_;
  std::string last_;
  std::uint64_t id_ = 0;
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
Status CheckLanding(const Phase& phase, std::uint64_t id, Slice target, std::optional<Slice> landed) {
  const bool right = landed == target || !phase.keys.known() || !phase.lasting->Contains(id);
  if (right && (!landed.has_value() || landed->compare(target) >= 0)) return {};
  return Status::Corruption("a seek to key " + std::to_string(id) + " ended at " +
                            (landed.has_value() ? "key " + landed->ToString(true) : "the end"));
}

template <Fetch kFetch>
void SeekAtRandom(Worker* w) {
  const Phase& phase = w->phase;
  KeyBuffer key(phase.key_shape);
  EntryCheck check(phase, true);
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const std::uint64_t id = w->RandomId();
    const Slice target = key.Make(id);
    std::uint64_t bytes = 0;
    {
      const std::unique_ptr<Cursor> cursor = w->session.NewCursor(kFetch);
      bool valid = cursor->Seek(target);
      ++w->reads;
      check.Restart();
      std::optional<Slice> landed;
      if (valid) landed = cursor->key();
      if (landed == target) ++w->found;
      w->status = valid ? Status() : cursor->status();
      if (w->status.ok()) w->status = CheckLanding(phase, id, target, landed);
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
