// Log steps: all live records of a list of segments, divided into steps of log GC. For callers that empty a whole log:
// once to forecast the cost, and once to do it.
//
//   segments ─▶ live records of each, by lookup ─▶ grouped, while they have one generation and a step has room
//        ─▶ divided by place, so that a step reads adjacent records ─▶ each step in key order
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

// Sources that are emptied together, and the keys of their live records.
struct LogGroup {
  std::vector<GcSource> sources;
  Arena keys;
};

struct LogStep {
  std::shared_ptr<const LogGroup> group;  // owns what the records borrow
  std::vector<GcRecord> records;          // by family and key
  // After this step, no record in the group's sources is alive, and the step drops them. It must be committed after all
  // other steps of its group.
  bool empties = false;
};

// Appends the live records of `source` to *live, in any order, with source index `index` and their keys in *keys.
// Returns false, with nothing appended, if the records cannot be listed: the source is then skipped.
using FindLive = std::function<Result<bool>(const GcSource& source, std::uint32_t index, Arena* keys,
                                            std::vector<GcRecord>* live)>;

// The most sources of a group.
inline constexpr std::size_t kLogGroupMax = 64;

// Returns the steps of the first group of `sources`, and in *taken how many sources it covers. The result does not
// depend on sources after the first kLogGroupMax. `families` are matched by id. Memory: 40 bytes and the key per live
// record.
Result<std::vector<LogStep>> TakeLogSteps(std::span<const GcSource> sources, std::span<const GcFamily> families,
                                          std::uint64_t step_bytes, const FindLive& find, std::size_t* taken);

// The size of a relocation segment with these records, unchanged.
[[nodiscard]] std::uint64_t RelocatedFileSize(std::span<const GcRecord> records);

}  // namespace cambium
