// How far a level is beyond its size: from 1 on it is due to be compacted.
//
// Level 0 counts runs, or bytes if these are beyond the size of level 1. The others count bytes of index files: values
// are in the log, and count here only where they are inline; and tiers, where there may be several, because a read asks
// them all. A file that mostly deletes counts for what it deletes too, as in RocksDB, and so do range deletes for the
// files below that they cover as a whole: what is hidden keeps values alive in the log.
#pragma once

#include <cstdint>

#include "lsm_fallback/compaction_policy.h"
#include "lsm_fallback/compaction_shape.h"

namespace cambium {

[[nodiscard]] double RunScore(const CompactionShape& shape, const CompactionPolicy& policy);
// `is_last`: the level is, or is to become, one sorted sequence whatever the style, so its tiers do not count.
[[nodiscard]] double LevelScore(const CompactionShape& shape, const CompactionPolicy& policy, std::uint32_t level,
                                bool is_last);

}  // namespace cambium
