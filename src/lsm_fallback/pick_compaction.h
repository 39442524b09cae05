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
// Levels are measured in bytes of index files: values are in the log, and count here only where they are inline.
//
// A level's score says how far it is beyond its size; from 1 on it is due, and the highest is due first. Level 0 counts
// runs, or bytes if these are beyond the size of level 1. A file that mostly deletes counts for what it deletes too, and
// so do range deletes for the files below that they cover as a whole: a deletion is carried out soon.
//
// Level to level, leveled: one file and what it overlaps below, with its neighbours as far as they overlap nothing more.
// One whose range deletes cover files comes first. Otherwise files take turns in key order (the newest file below shows where the last turn ended, so that this survives a new
// opening). RocksDB's choice, the file that overlaps least, writes a little less; but then a cold range is never
// merged, and what it hides there keeps its values alive in the log for ever.
//
// Level to level, lazy: all tiers at once, because each is merged into the last level only once then, but a slice of the
// keys at a time. Borders of slices are borders of files below; what of a file lies outside is written anew in its place,
// which only the files at a border need. A tier is not merged with those it is put upon, so the slices of one round can
// share a tier. A last level that has grown beyond its size becomes the next one, without a byte written.
//
// How large a step is: a slice ends near the bytes it is given. One file with what it overlaps cannot be less, about 1 +
// max_bytes_for_level_multiplier files, and neither can level 0: its runs cover all keys each, so all of them go at once
// with level 1. That is bounded by options all the same, since writers wait at level0_stop_writes_trigger runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/options.h"
#include "index/index.h"
#include "manifest/run_info.h"
#include "memtable/range_deletes.h"

namespace cambium {

// Names and meaning as in RocksDB. Legal values are the business of whoever takes them from a user.
struct CompactionPolicy {
  CompactionStyle style = kCompactionStyleLevel;
  std::uint64_t level0_file_num_compaction_trigger = 4;
  std::uint64_t target_file_size_base = 64u << 20;
  std::uint64_t target_file_size_multiplier = 1;
  std::uint64_t max_bytes_for_level_base = 256u << 20;
  double max_bytes_for_level_multiplier = 10;
  std::uint32_t num_levels = 7;  // with level 0. What lies deeper already is left there.

  [[nodiscard]] std::uint64_t TargetFileSize(std::uint32_t level) const;
  [[nodiscard]] double TargetLevelSize(std::uint32_t level) const;
};

// An output file ends where it would overlap more than so many target file sizes of what it will be merged with next.
inline constexpr std::uint64_t kGrandparentFiles = 10;

struct TierShape {
  std::uint32_t level = 0;
  std::uint64_t number = 0;
  std::vector<const RunInfo*> files;  // in key order
};

// Borrows what it points to.
struct CompactionShape {
  const Comparator* comparator = nullptr;
  std::vector<const RunInfo*> runs;  // level 0, newest first
  std::vector<TierShape> tiers;      // levels ascend, and in each the numbers of tiers descend
  std::map<std::uint64_t, const RangeDeletes*> ranges;  // of files that have some, by number
  std::uint64_t step_bytes = std::uint64_t{256} << 20;  // what a slice may have, and neighbours of a file
};

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
  std::vector<std::uint64_t> overlapped;  // files of the output tier that are merged with them
  // A slice: only keys in [begin, end) move. Unset: from the first, to the last.
  std::optional<std::string> begin;
  std::optional<std::string> end;
};

// The compaction that is most due, if any is.
[[nodiscard]] CompactionChoice PickCompaction(const CompactionShape& shape, const CompactionPolicy& policy);
// All runs, due or not.
[[nodiscard]] CompactionChoice PickRuns(const CompactionShape& shape, const CompactionPolicy& policy);

// Notes what the step that was due has done, and moves on to the next place where there is something to do. False if
// there is none.
[[nodiscard]] bool AdvanceRequest(const CompactionShape& shape, const CompactionPolicy& policy, MergeRequest* request);
// The next step for a request that AdvanceRequest says has one. The runs that are taken are those that are meant, and
// any older one that overlaps one of them: it would otherwise come to lie above what is newer.
[[nodiscard]] CompactionChoice PickRequested(const CompactionShape& shape, const CompactionPolicy& policy,
                                             const MergeRequest& request);

// The level that output files are measured against, see kGrandparentFiles: the first one below with a single tier, or
// null.
[[nodiscard]] const TierShape* GrandparentsOf(const CompactionShape& shape, std::uint32_t output_level);

}  // namespace cambium
