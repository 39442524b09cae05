// EntryCheck: what a walk shows is in order, was written, and has the values that were written.
#pragma once

#include <optional>
#include <string>

#include "key.h"
#include "workload.h"

namespace cambium::bench {

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
[[nodiscard]] Status CheckEntry(EntryCheck* check, Cursor* cursor, std::uint64_t* bytes) {
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

// A seek must not pass over a key that exists; only the target itself can be looked up at no cost.
inline Status CheckLanding(const Phase& phase, std::uint64_t id, Slice target, std::optional<Slice> landed) {
  const bool right = landed == target || !phase.keys.known() || !phase.lasting->Contains(id);
  if (right && (!landed.has_value() || landed->compare(target) >= 0)) return {};
  return Status::Corruption("a seek to key " + std::to_string(id) + " ended at " +
                            (landed.has_value() ? "key " + landed->ToString(true) : "the end"));
}

}  // namespace cambium::bench
