// OlderFiles: what lies below a compaction, asked key by key, and range by range, whether a deletion is still needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "lsm_fallback/lsm_layers.h"

namespace cambium {

// Everything that the newest input of a compaction hides and that is no input itself. By position, key by key: a
// tombstone in the middle of the levels goes as soon as no file below reaches over its key. Borrows the layers.
class OlderFiles {
 public:
  // Inputs come from `level` and from levels below it.
  OlderFiles(const LsmLayers& layers, std::uint32_t level, const std::set<std::uint64_t>& inputs);

  // False only if surely none of the files holds the key. Keys of one object ascend.
  [[nodiscard]] bool MayHold(Slice key);
  // The ranges, without those of which no file holds a key.
  [[nodiscard]] RangeDeletes Needed(const RangeDeletes& ranges) const;

 private:
  struct Sequence {
    std::vector<const RunInfo*> files;  // in key order
    std::size_t next = 0;               // those before it end before every key to come
  };
  [[nodiscard]] bool HoldsAny(const KeySpan& span) const;

  const KeyOrder order_;
  std::vector<Sequence> sequences_;
};

}  // namespace cambium
