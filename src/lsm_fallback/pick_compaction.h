// What to compact next: pure functions of what lies where. compaction.h carries out what they say.
//
//   kCompactionStyleLevel       level 0    runs as they were flushed
//                               level 1    one tier, max_bytes_for_level_base
//                               level 2    one tier, times max_bytes_for_level_multiplier, and so on
//
//   kCompactionStyleLazyLevel   level 0    runs as they were flushed
//                               level 1    several tiers, together max_bytes_for_level_base
//                               ...
//                               the last   one tier: the deepest level that holds anything
//
// The level with the highest score (level_score.h) goes first.
//
// Level to level, leveled: one file and what it overlaps below. Files behind it go too while the level is larger than
// its size without them, since what two neighbours both overlap is then merged once; and neighbours on both sides as far
// as they overlap nothing more. A file whose range deletes cover files comes first; otherwise files take turns in key
// order. (The newest file below shows where the last turn ended, so that this survives a new opening.) RocksDB's choice,
// the file that overlaps least, writes a little less; but then a cold range is never merged, and what it hides keeps
// values alive in the log for ever.
//
// Level to level, lazy: all tiers at once, because each is merged into the last level only once then, but a slice of
// the keys at a time (key_slice.h). What of a file lies outside is written anew in its place, which only the files at
// a border need. A tier is not merged with those it is put upon, so the slices of one round can share a tier. A last
// level that has grown beyond its size becomes the next one, without a byte written.
//
// Level 0, leveled: what level 1 would have too much then goes through to level 2 at once, where its turn is (between
// borders of files there, so that nothing else is rewritten). It is written once instead of twice: in level 1, and soon
// after that below. So level 1 is mostly within its size, and level to level is for what is left.
//
// How large a step is: a slice ends near the bytes it is given. One file with what it overlaps cannot be less, about 1
// + max_bytes_for_level_multiplier files, and neither can level 0: its runs cover all keys each, so all of them go at
// once with level 1, and through it not more than one file would meet. Options bound that all the same, since writers
// wait at level0_stop_writes_trigger runs.
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
    kMerge,  // inputs and overlapped are merged into new files in their place below
    kMove,   // the inputs only change their place
  };
  Kind kind = Kind::kNothing;
  double score = 0;                 // that made it due
  std::uint32_t level = 0;          // of the inputs; 0: runs
  std::uint32_t output_level = 0;
  std::uint64_t output_tier = 0;
  std::vector<std::uint64_t> inputs;      // by number
  // Files of the output tier, and of the one that keys go through to, that are merged with them.
  std::vector<std::uint64_t> overlapped;
  // A slice: only keys in [begin, end) move. Unset: from the first, to the last.
  std::optional<std::string> begin;
  std::optional<std::string> end;
  // Keys in [begin, end) of these do not stop in the output place but go through to the tier below it, whose files
  // there are among the overlapped ones.
  struct Through {
    std::uint64_t tier = 0;
    std::optional<std::string> begin;
    std::optional<std::string> end;
  };
  std::optional<Through> through;
};

// The compaction that is most due, if any is.
[[nodiscard]] CompactionChoice PickCompaction(const CompactionShape& shape, const CompactionPolicy& policy);
// All runs, due or not.
[[nodiscard]] CompactionChoice PickRuns(const CompactionShape& shape, const CompactionPolicy& policy);

// Notes what the step that was due has done, and moves on to the next place where there is something to do. False if
// there is none.
[[nodiscard]] bool AdvanceRequest(const CompactionShape& shape, const CompactionPolicy& policy, CompactionRequest* request);
// The next step for a request that AdvanceRequest says has one; notes how far it goes. The runs that are taken are
// those that are meant, and any older one that overlaps one of them: it would otherwise come to lie above what is
// newer. If a filter is to be asked it is always a merge, and files of the lowest level are merged with nothing but
// their own deletions.
[[nodiscard]] CompactionChoice PickRequested(const CompactionShape& shape, const CompactionPolicy& policy,
                                             CompactionRequest* request);

}  // namespace cambium
