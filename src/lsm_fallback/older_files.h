// OlderFiles: the files below a compaction. It decides for each key and each range whether a deletion is still needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "lsm_fallback/lsm_layers.h"

namespace cambium {

// All files that the newest input of a compaction hides, except the inputs themselves. Decides key by key: a tombstone
// in the middle levels is dropped as soon as no file below it spans its key. Borrows the layers.
class OlderFiles {
 public:
  // The inputs are in `level` and deeper levels.
  OlderFiles(const LsmLayers& layers, std::uint32_t level, const std::set<std::uint64_t>& inputs);

  // False only if none of the files can have the key. The keys passed to one object must ascend.
  [[nodiscard]] bool MayHold(Slice key);
  // The ranges in which at least one of the files may have a key.
  [[nodiscard]] RangeDeletes Needed(const RangeDeletes& ranges) const;

 private:
  struct Sequence {
    std::vector<const RunInfo*> files;  // in key order
    std::size_t next = 0;               // files before this index end before all further keys
  };
  [[nodiscard]] bool HoldsAny(const KeySpan& span) const;

  const KeyOrder order_;
  std::vector<Sequence> sequences_;
};

}  // namespace cambium
