// ClusterWalk: how far clustering has come in the keys of a family. Each step moves it on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gc/clustering.h"
#include "gc/scan_heat.h"

namespace cambium {

struct ClusterWalk {
  std::optional<std::string> position;  // unset: before all keys
  bool is_position_done = false;        // the next step begins after `position`, not at it
  std::optional<std::string> end;       // inclusive; unset: to the last key
  std::vector<HeatMark> heat;           // marks from the position on; a step may end at one
};

// What one step has found.
struct ClusterFinds {
  bool has_more = false;             // the step passed at least one key
  bool lacks_room = false;           // nothing was done: values had to be moved, and there was no room for them
  std::string last_key;
  std::uint64_t bytes_passed = 0;    // of separated values, including those that are not moved
  std::vector<WalkMark> marks;       // sums at each heat mark passed but the first, and at the step's end
};

// ValueClustering::kFull: passes over all keys, one after the other.
struct ClusterPass {
  ClusterWalk walk;                  // used by the collect job only
  bool is_under_way = false;         // used by the collect job only
  // A value of SpaceControl::written: earlier bytes do not make another pass due, since past passes were made for them.
  std::uint64_t paid_until = 0;
  std::uint64_t begun_at = 0;        // the value of `written` when the current pass began
  std::uint64_t bytes_passed = 0;    // in the current pass
};

}  // namespace cambium
