// EntryCheck: checks the entries of a walk: their keys are in order and were written, and their values are the written
// ones. If keys sort in the order of their ids, it also checks that the walk skips no existing key.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "data/key.h"
#include "workloads/workload.h"

namespace cambium::bench {

// Checks the entries of one walk, in the order in which a cursor returns them.
class EntryCheck {
 public:
  // With `only_last` the version of a value must be the one written last, if that is known. Only for phases without
  // writers.
  EntryCheck(const Phase& phase, bool forward, bool only_last = false)
      : phase_(phase), forward_(forward), only_last_(only_last), buffer_(phase.key_shape) {}

  // Starts a new walk.
  void Restart() { last_.clear(); }

  Status Key(Slice key) {
    if (!last_.empty() && (forward_ ? key.compare(last_) <= 0 : key.compare(last_) >= 0)) {
      return Status::Corruption("key " + key.ToString(true) + " came after key " + Slice(last_).ToString(true));
    }
    const bool begins = last_.empty();
    last_.assign(key.data(), key.size());
    if (!phase_.key_shape.HasIds()) return {};
    const std::optional<std::uint64_t> id = ParseKey(key, phase_.key_shape);
    if (!id.has_value()) return Unknown(key);
    const std::uint64_t before = id_;
    if (Status status = Exists(*id); !status.ok()) return status;
    if (begins || !phase_.key_shape.InOrder() || !phase_.keys.known()) return {};
    const std::uint64_t lower = forward_ ? before : *id;
    const std::uint64_t upper = forward_ ? *id : before;
    if (!phase_.lasting->HasAnyIn(lower + 1, upper)) return {};
    return Status::Corruption("a key between " + std::to_string(lower) + " and " + std::to_string(upper) +
                              " was written, but the walk skipped it");
  }
  // Called after Key(), for the same entry. If keys do not tell their ids, the value does.
  Status Value(Slice value) {
    if (!phase_.key_shape.HasIds()) {
      const std::uint64_t id = IdInValue(value);
      if (buffer_.Make(id) != last_) return Unknown(last_);
      if (Status status = Exists(id); !status.ok()) return status;
    }
    if (!phase_.pool.Matches(id_, value, phase_.flags.check)) return Status::Corruption(phase_.pool.Explain(id_, value));
    if (!only_last_) return {};
    const std::optional<std::uint64_t> version = VersionInValue(value);
    if (!version.has_value() || phase_.keys.MayBeLast(id_, *version)) return {};
    return Status::Corruption("the value of key " + std::to_string(id_) + " is one that was overwritten: version " +
                              std::to_string(*version));
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
  bool only_last_;
  KeyBuffer buffer_;
  std::string last_;
  std::uint64_t id_ = 0;
};

// Checks the entry at the cursor and adds its size to *bytes. If the cursor has an error, that is returned rather than
// the wrong value it caused.
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

// Checks that a seek to key `id` skipped no existing key. If keys do not sort in the order of their ids, only the
// target itself can be checked at no cost.
inline Status CheckLanding(const Phase& phase, std::uint64_t id, Slice target, std::optional<Slice> landed) {
  bool right = landed == target || !phase.keys.known() || !phase.lasting->Contains(id);
  if (right && landed != target && phase.keys.known() && phase.key_shape.InOrder()) {
    const std::optional<std::uint64_t> end = landed.has_value() ? ParseKey(*landed, phase.key_shape) : phase.lasting->capacity();
    right = end.has_value() && !phase.lasting->HasAnyIn(id, std::min(*end, phase.lasting->capacity()));
  }
  if (right && (!landed.has_value() || landed->compare(target) >= 0)) return {};
  return Status::Corruption("a seek to key " + std::to_string(id) + " ended at " +
                            (landed.has_value() ? "key " + landed->ToString(true) : "the end"));
}

}  // namespace cambium::bench
