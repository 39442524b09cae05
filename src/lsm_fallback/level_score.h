// The score of a level: its size relative to its target. From 1 on, the level is due for compaction.
//
// Level 0 counts its runs, or its bytes, measured by the size of level 1, if that gives the higher score. The other
// levels count bytes of index files; values count only if they are inline, since the others are in the log. Where
// several tiers are allowed, levels also count tiers, because a read asks all of them. As in RocksDB, a file with
// mostly tombstones also counts the entries that these delete. A file with range deletes also counts the files below
// that its ranges cover completely. The reason for both: hidden entries keep their values in the log.
#pragma once

#include <cstdint>

#include "lsm_fallback/compaction_policy.h"
#include "lsm_fallback/compaction_shape.h"

namespace cambium {

[[nodiscard]] double RunScore(const CompactionShape& shape, const CompactionPolicy& policy);
// `is_last`: the level is, or will become, one sorted sequence under any style, so its tiers do not count.
[[nodiscard]] double LevelScore(const CompactionShape& shape, const CompactionPolicy& policy, std::uint32_t level,
                                bool is_last);

}  // namespace cambium
