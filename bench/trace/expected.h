// Computes from a trace which keys exist before it begins, and what its lookups and scans must find if its calls are
// made one after the other. This is done before the clock starts. An answer has 8 bytes, so that comparing costs a
// replay nearly nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "data/mix.h"
#include "util/checksum.h"

namespace cambium::bench {

// Lengths of values, by the keys of a replay (ReplayKey).
using TracedContents = std::map<std::string, std::uint64_t>;

// One number for each lookup and each scan, in the order of the trace.
using ExpectedAnswers = std::vector<std::uint64_t>;

// The answer of a lookup. No size: not found.
inline std::uint64_t AnswerOfLookup(std::optional<std::uint64_t> value_size) {
  return value_size.has_value() ? *value_size + 1 : 0;
}

// The answer of a scan: a hash of the entries that it passes and the lengths of their values.
class AnswerOfScan {
 public:
  void Pass(Slice key, std::uint64_t value_size) { value_ = Mix(value_ ^ Checksum64(key, 0), value_size); }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

// Returns the keys that must have existed when the trace began: those whose first operation is a lookup that finds
// them. `status` may be null.
TracedContents ContentsBefore(const std::string& path, Status* status = nullptr);

// Applies the calls of a trace to *contents, up to its end or the first damaged call, and returns the answers. Range
// deletes are left out, as in a replay.
ExpectedAnswers AnswersOf(const std::string& path, TracedContents* contents);

}  // namespace cambium::bench
