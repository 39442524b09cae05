// CompactionShape: what lies where, as far as a choice of what to compact needs it, and questions about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "cambium/comparator.h"
#include "lsm_fallback/key_span.h"
#include "manifest/run_info.h"
#include "memtable/range_deletes.h"

namespace cambium {

using FileList = std::vector<const RunInfo*>;

struct TierShape {
  std::uint32_t level = 0;
  std::uint64_t number = 0;
  FileList files;  // in key order
};

// Borrows what it points to.
struct CompactionShape {
  const Comparator* comparator = nullptr;
  FileList runs;                 // level 0, newest first
  std::vector<TierShape> tiers;  // levels ascend, and in each the numbers of tiers descend
  std::map<std::uint64_t, const RangeDeletes*> ranges;  // of files that have some, by number
  std::uint64_t step_bytes = std::uint64_t{256} << 20;  // what a slice may have, and neighbours of a file

  // Newest first. Empty if the level is.
  [[nodiscard]] std::span<const TierShape> TiersOf(std::uint32_t level) const;
  // The deepest level that holds anything; 0: none does.
  [[nodiscard]] std::uint32_t deepest() const { return tiers.empty() ? 0 : tiers.back().level; }
  // Of the files below `level` of which the file's range deletes leave nothing.
  [[nodiscard]] std::uint64_t BytesCovered(const RunInfo& file, std::uint32_t level) const;
};

// Files [first, end) of a tier.
struct Stretch {
  std::size_t first = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return first >= end; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

// Files of a tier are in order, so those that overlap a span are neighbours.
[[nodiscard]] Stretch Overlapped(const KeyOrder& order, const TierShape& tier, const KeySpan& span);
// The smallest span that covers all files, of which there is one at least.
[[nodiscard]] KeySpan SpanOf(const KeyOrder& order, std::span<const RunInfo* const> files);
[[nodiscard]] std::uint64_t SumBytes(std::span<const RunInfo* const> files);
[[nodiscard]] inline std::span<const RunInfo* const> FilesOf(const TierShape& tier, Stretch stretch) {
  return std::span<const RunInfo* const>(tier.files).subspan(stretch.first, stretch.end - stretch.first);
}
[[nodiscard]] inline bool HasDeletions(const RunInfo& file) {
  return file.tombstone_count > 0 || file.range_delete_count > 0;
}

// The level that output files are measured against, see kGrandparentFiles: the first one below with a single tier, or
// null.
[[nodiscard]] const TierShape* GrandparentsOf(const CompactionShape& shape, std::uint32_t output_level);

}  // namespace cambium
