// IndexRoom says how many bytes the files of an index may take beyond its live bytes. SpaceKeeper derives it from
// SpacePlan::slack_bytes, the bytes beyond the live ones that the ceiling allows and the disk has room for.
#pragma once

#include <cstdint>
#include <limits>

namespace cambium {

struct IndexRoom {
  // For entries that may hide older ones: the index's share of the slack, by bytes.
  std::uint64_t standing = std::numeric_limits<std::uint64_t>::max();
  // For the new files of a step, until the old ones are deleted. May exceed the index's share: at most one step per
  // background thread runs at a time.
  std::uint64_t step = std::numeric_limits<std::uint64_t>::max();

  friend bool operator==(const IndexRoom&, const IndexRoom&) = default;
};

}  // namespace cambium
