// What a trace implies: what is there before it begins, and what its look-ups and scans must find if its calls are
// made one after the other. Worked out before the clock starts, 8 bytes an answer, so that to compare costs a replay
// nearly nothing.
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

// Lengths of values, by keys as a replay has them.
using TracedContents = std::map<std::string, std::uint64_t>;

// One number for each look-up and each scan, in their order.
using ExpectedAnswers = std::vector<std::uint64_t>;

// Nothing: not found.
inline std::uint64_t AnswerOfLookup(std::optional<std::uint64_t> value_size) {
  return value_size.has_value() ? *value_size + 1 : 0;
}

// Which entries a scan passed, and how long their values were.
class AnswerOfScan {
 public:
  void Pass(Slice key, std::uint64_t value_size) { value_ = Mix(value_ ^ Checksum64(key, 0), value_size); }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

// Keys that were there when the trace began, as far as it tells: the first that is done with them is a look-up, and
// finds them. *status may be null.
TracedContents ContentsBefore(const std::string& path, Status* status = nullptr);

// Makes the calls of a trace in *contents: all of them, or those before the first that is damaged. Range deletes are
// left out, as in a replay.
ExpectedAnswers AnswersOf(const std::string& path, TracedContents* contents);

}  // namespace cambium::bench
