// What to compact next: pure functions of a CompactionShape. level_compaction.h carries out what they choose.
//
//   kCompactionStyleLevel       level 0    runs as they were flushed
//                               level 1    one tier, max_bytes_for_level_base
//                               level 2    one tier, times max_bytes_for_level_multiplier, and so on
//
//   kCompactionStyleLazyLevel   level 0    runs as they were flushed
//                               level 1    several tiers, together max_bytes_for_level_base
//                               ...
//                               the last   one tier: the deepest level that is not empty
//
// The level with the highest score (level_score.h) is compacted first.
//
// Level to level, leveled: one file is merged with the files that it overlaps below. Files after it join while the
// level without them is still larger than its size: if two neighbours overlap one file below, that file is then merged
// only once. Neighbours on both sides join as long as they add no overlap. A file whose range deletes cover other files
// is taken first; otherwise files take turns in key order. (The newest file below shows where the last turn ended, also
// after the next Open.) RocksDB takes the file that overlaps least, which writes a little less. But then a cold range
// is never compacted, and the entries that it hides keep their values alive in the log for ever.
//
// Level to level, lazy: all tiers of a level are compacted together, so that each is merged into the last level only
// once, but only one slice of the keys at a time (key_slice.h). The parts of files outside of the slice are rewritten
// in place; only files at a border have such parts. The slice is put on top of the output level's tiers without merging
// with them, so the slices of one round can share a tier. If the last level outgrows its size, it becomes the next
// level, without a byte written.
//
// Level 0, leveled: the excess of level 1 goes through to level 2 at once, at the place of level 1's turn (between
// borders of level 2's files, so that nothing else is rewritten). The excess is then written once instead of twice (in
// level 1, and soon after in level 2). So level 1 mostly stays within its size, and level-to-level compaction handles
// the remainder.
//
// The size of a step: a slice ends near its byte budget. A step cannot be smaller than one file with what it overlaps,
// about 1 + max_bytes_for_level_multiplier files. A step of level 0 cannot be small either: each run covers all keys,
// so all runs are compacted at once with level 1. The keys that go through overlap no more than one file may. The
// options still bound this step, because writers wait at level0_stop_writes_trigger runs. If there is too little room on
// disk for it, the caller passes a policy with tiers (CompactionPolicy::Within): then level 0 is compacted alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"
#include "lsm_fallback/compaction_policy.h"
#include "lsm_fallback/compaction_shape.h"

namespace cambium {

struct CompactionChoice {
  enum class Kind : unsigned char {
    kNothing,
    kCompact,  // merge inputs and overlapped files into new files in the output place
    kMove,     // the inputs only change their place
  };
  Kind kind = Kind::kNothing;
  double score = 0;                 // the score of the level; from 1 on it is due
  std::uint32_t level = 0;          // the level of the inputs; 0: runs
  std::uint32_t output_level = 0;
  std::uint64_t output_tier = 0;
  std::vector<std::uint64_t> inputs;      // file numbers
  // The files that the inputs are merged with, in the output tier and in the tier of `through`.
  std::vector<std::uint64_t> overlapped;
  // A slice: only keys in [begin, end) move. Unset: no bound.
  std::optional<std::string> begin;
  std::optional<std::string> end;
  // Keys in this [begin, end) go through the output place to the tier below it. The files that they are merged with
  // there are among `overlapped`.
  struct Through {
    std::uint64_t tier = 0;
    std::optional<std::string> begin;
    std::optional<std::string> end;
  };
  std::optional<Through> through;
};

// The compaction that is most due; kNothing if none is.
[[nodiscard]] CompactionChoice PickCompaction(const CompactionShape& shape, const CompactionPolicy& policy);
// The compaction of all runs, due or not.
[[nodiscard]] CompactionChoice PickRuns(const CompactionShape& shape, const CompactionPolicy& policy);

// Records what the last step has done, and moves on to the next place that needs work. Returns false if there is none.
[[nodiscard]] bool AdvanceRequest(const CompactionShape& shape, const CompactionPolicy& policy, CompactionRequest* request);
// The next step of a request for which AdvanceRequest has returned true; records how far the step goes. It takes the
// request's runs, and any older run that overlaps one of them: if left out, such a run would end up above newer
// entries. If a filter must be asked, files are never just moved, and files of the last level are compacted in place.
[[nodiscard]] CompactionChoice PickRequested(const CompactionShape& shape, const CompactionPolicy& policy,
                                             CompactionRequest* request);

}  // namespace cambium
