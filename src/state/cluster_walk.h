// A way along the keys of a family, step by step, whose values are brought into the order of the keys.
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
  bool is_position_done = false;        // what comes next is behind it
  std::optional<std::string> end;       // included; unset: to the last key
  std::vector<HeatMark> heat;           // from the position on: where a step may end
};

// What a step has found on its way.
struct ClusterFinds {
  bool has_more = false;             // a key, at least
  bool lacks_room = false;           // something has to be moved, and there is no room for it: nothing was done
  std::string last_key;
  std::uint64_t bytes_passed = 0;    // of values in the log, those that stay among them
  std::vector<WalkMark> marks;       // one per heat mark, where it ends
};

// ValueClustering::kFull: over all keys, one pass after the other.
struct ClusterPass {
  ClusterWalk walk;                  // the collect job's
  bool is_under_way = false;         // the collect job's
  std::uint64_t paid_until = 0;      // by the clock of SpaceControl::written: passes have been made for what was before
  std::uint64_t begun_at = 0;        // by the same clock
  std::uint64_t bytes_passed = 0;
};

}  // namespace cambium
