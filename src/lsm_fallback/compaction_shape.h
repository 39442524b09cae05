// CompactionShape: the files of an LSM and their places, as input for choosing a compaction, with queries about them.
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

// Borrows the RunInfos and RangeDeletes it points to.
struct CompactionShape {
  const Comparator* comparator = nullptr;
  FileList runs;                 // level 0, newest first
  std::vector<TierShape> tiers;  // by ascending level; within a level by descending number
  std::map<std::uint64_t, const RangeDeletes*> ranges;  // by file number, for files that have range deletes
  std::uint64_t step_bytes = std::uint64_t{256} << 20;  // budget of a slice, and of neighbours that join a file

  // The tiers of a level, newest first. Empty if the level is.
  [[nodiscard]] std::span<const TierShape> TiersOf(std::uint32_t level) const;
  // The deepest level that is not empty; 0 if all are.
  [[nodiscard]] std::uint32_t deepest() const { return tiers.empty() ? 0 : tiers.back().level; }
  // The bytes of the files below `level` that the file's range deletes cover completely.
  [[nodiscard]] std::uint64_t BytesCovered(const RunInfo& file, std::uint32_t level) const;
};

// Files [first, end) of a tier.
struct Stretch {
  std::size_t first = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return first >= end; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

// The files of a tier that overlap the span. The files are in order, so these are neighbours.
[[nodiscard]] Stretch Overlapped(const KeyOrder& order, const TierShape& tier, const KeySpan& span);
// The smallest span that covers all files. Requires at least one file.
[[nodiscard]] KeySpan SpanOf(const KeyOrder& order, std::span<const RunInfo* const> files);
[[nodiscard]] std::uint64_t SumBytes(std::span<const RunInfo* const> files);
[[nodiscard]] inline std::span<const RunInfo* const> FilesOf(const TierShape& tier, Stretch stretch) {
  return std::span<const RunInfo* const>(tier.files).subspan(stretch.first, stretch.end - stretch.first);
}
[[nodiscard]] inline bool HasDeletions(const RunInfo& file) {
  return file.tombstone_count > 0 || file.range_delete_count > 0;
}

// The tier whose overlap with an output file is limited (kGrandparentFiles): that of the next deeper level with a
// single tier. Null if there is none.
[[nodiscard]] const TierShape* GrandparentsOf(const CompactionShape& shape, std::uint32_t output_level);

}  // namespace cambium
