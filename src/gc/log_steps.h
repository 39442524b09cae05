// Log steps: all that is alive in a row of segments, cut into steps that log GC can carry out. For whoever empties a log as
// a whole: once to say what it will cost, and once to do it.
//
//   segments ─▶ what is alive in each, looked up ─▶ joined, as long as they are of one generation and a step has room
//        ─▶ cut by place, so that a step reads what lies side by side ─▶ each step in the order of keys
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gc/live_records.h"
#include "memtable/arena.h"
#include "util/result.h"

namespace cambium {

// Sources that are emptied together, and the keys of what is alive in them.
struct LogGroup {
  std::vector<GcSource> sources;
  Arena keys;
};

struct LogStep {
  std::shared_ptr<const LogGroup> group;  // what the records borrow from
  std::vector<GcRecord> records;          // by family and key
  // Behind this step nothing in the group's sources is alive, and they go with it. Such a step must not be committed before
  // all other steps of its group have been.
  bool empties = false;
};

// Appends what is alive in `source`, in any order; `index` is what the records say of their source. Keys go to *keys. False,
// with nothing appended: its records cannot be listed, and it is left out.
using FindLive = std::function<Result<bool>(const GcSource& source, std::uint32_t index, Arena* keys,
                                            std::vector<GcRecord>* live)>;

// Sources of a group, at most.
inline constexpr std::size_t kLogGroupMax = 64;

// The steps of the first sources, and in *taken how many of them these are: the same whether there are more behind or not,
// as long as there are kLogGroupMax. `families` by id. Memory: for each record that is alive 40 bytes and its key.
Result<std::vector<LogStep>> TakeLogSteps(std::span<const GcSource> sources, std::span<const GcFamily> families,
                                          std::uint64_t step_bytes, const FindLive& find, std::size_t* taken);

// The size of the file that takes these records, as they are.
[[nodiscard]] std::uint64_t RelocatedFileSize(std::span<const GcRecord> records);

}  // namespace cambium
