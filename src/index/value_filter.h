// ValueFilter: decides during a compaction which values are kept.
//
// A compaction asks the filter about the newest entry that it has of each key, unless that entry is a tombstone or
// covered by a range of a newer layer. A removed entry leaves the layers as if it had been overwritten: its reference
// is subtracted from the accounts, and if an older layer may have the key, a tombstone replaces the entry.
#pragma once

#include <cstdint>

#include "cambium/slice.h"
#include "util/result.h"
#include "vlog/entry.h"

namespace cambium {

struct FilterVerdict {
  enum class Kind : unsigned char { kKeep, kRemove, kChange };
  Kind kind = Kind::kKeep;
  // For kChange: the new entry. Its address, if any, is not in any layer yet. An inline value borrows from the filter
  // and is valid until the next call of Ask.
  Entry changed = Entry::Tombstone();
};

// For one compaction. One thread.
class ValueFilter {
 public:
  virtual ~ValueFilter() = default;

  // Called before the first key. `level`: the output level of the compaction; 1 for a tree. `is_full`: the compaction
  // takes all layers.
  virtual Status Begin(std::uint32_t level, bool is_full) = 0;

  // Decides about one value. Keys ascend from call to call. An error ends the compaction with it.
  virtual Result<FilterVerdict> Ask(Slice key, const Entry& entry) = 0;

  // Decides about a value that the filter was asked about before (see filtered_part.h): it is kept, unless an earlier
  // answer of this compaction (kRemoveAndSkipUntil) skips its key.
  virtual FilterVerdict Pass(Slice key, const Entry& entry) = 0;

  // Bytes of values read and written so far, for compactions that may stop part-way.
  [[nodiscard]] virtual std::uint64_t value_bytes() const = 0;
};

}  // namespace cambium
