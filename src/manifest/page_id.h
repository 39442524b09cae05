// PageId: the place of an index page, in 8 bytes. TreeRoot: the root page of a tree.
//
//   bits 63..26  file    number of the run or index segment (1 to 274,877,906,943)
//   bits 25..6   offset  in the file, in units of its page size (1,048,576 units)
//   bits  5..0   size    units - 1: a page is 1 to 64 units
//
// Branch pages store it on disk, and the checksum of a page includes its own id. Unit 0 of a file holds the FileHeader,
// so no page has the id 0.
#pragma once

#include <cassert>
#include <cstdint>

namespace cambium {

enum class PageId : std::uint64_t { kNone = 0 };

inline constexpr unsigned kPageUnitsBits = 6;
inline constexpr unsigned kPageUnitsMax = 1u << kPageUnitsBits;
inline constexpr unsigned kPageUnitOffsetBits = 20;
inline constexpr std::uint64_t kPageUnitOffsetMax = std::uint64_t{1} << kPageUnitOffsetBits;  // offsets are below it
inline constexpr std::uint64_t kPageFileNumberMax =
    (std::uint64_t{1} << (64 - kPageUnitOffsetBits - kPageUnitsBits)) - 1;

[[nodiscard]] constexpr PageId MakePageId(std::uint64_t file_number, std::uint64_t unit_offset, unsigned units) {
  assert(file_number <= kPageFileNumberMax && unit_offset < kPageUnitOffsetMax);
  assert(units >= 1 && units <= kPageUnitsMax);
  return static_cast<PageId>(file_number << (kPageUnitOffsetBits + kPageUnitsBits) | unit_offset << kPageUnitsBits |
                             (units - 1));
}
[[nodiscard]] constexpr std::uint64_t FileNumberOf(PageId id) {
  return static_cast<std::uint64_t>(id) >> (kPageUnitOffsetBits + kPageUnitsBits);
}
[[nodiscard]] constexpr std::uint64_t UnitOffsetOf(PageId id) {
  return (static_cast<std::uint64_t>(id) >> kPageUnitsBits) & (kPageUnitOffsetMax - 1);
}
[[nodiscard]] constexpr unsigned UnitsOf(PageId id) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(id) & (kPageUnitsMax - 1)) + 1;
}

// A page, and its checksum, which is its first 8 bytes: a reader that follows the pointer detects a lost or misdirected
// write.
struct PagePointer {
  PageId id = PageId::kNone;
  std::uint64_t checksum = 0;
  friend bool operator==(const PagePointer&, const PagePointer&) = default;
};

struct TreeRoot {
  PagePointer page;
  std::uint32_t height = 0;       // levels; 0: the tree is empty, and all other fields are zero
  std::uint64_t entry_count = 0;  // in the whole tree, tombstones included
  std::uint64_t value_bytes = 0;  // of all entries, by size code
  friend bool operator==(const TreeRoot&, const TreeRoot&) = default;
};

}  // namespace cambium
