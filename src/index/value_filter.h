// ValueFilter: who decides, while layers are merged, which values are carried on.
//
// A merge asks it about the newest entry it has of each key, unless that is a tombstone or a range of a newer layer
// covers it. What the filter removes leaves the layers as if it were overwritten: its reference is taken off the
// accounts, and where something older may hold the key a tombstone takes its place.
#pragma once

#include <cstdint>

#include "cambium/slice.h"
#include "util/result.h"
#include "vlog/entry.h"

namespace cambium {

struct FilterVerdict {
  enum class Kind : unsigned char { kKeep, kRemove, kChange };
  Kind kind = Kind::kKeep;
  // Of kChange: what takes the entry's place. An address is one that no layer has yet. An inline value borrows from the
  // filter, until it is asked again.
  Entry changed = Entry::Tombstone();
};

// For one merge. One thread.
class ValueFilter {
 public:
  virtual ~ValueFilter() = default;

  // Before the first key. `level`: into which the merge writes; of a tree 1. `is_full`: the merge takes all there is.
  virtual Status Begin(std::uint32_t level, bool is_full) = 0;

  // Of a value. Keys ascend from call to call. An error is the merge's.
  virtual Result<FilterVerdict> Ask(Slice key, const Entry& entry) = 0;

  // Bytes of values that were read and written so far, for merges that can stop on the way.
  [[nodiscard]] virtual std::uint64_t value_bytes() const = 0;
};

}  // namespace cambium
