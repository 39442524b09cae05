// Compaction: carries out a CompactionChoice of kind kMerge.
//
//   inputs, newest first   ─┐ merged, the newest entry of a key wins
//   overlapped files       ─┴▶ new runs in the place below
//
// Entries move, values never do: an address that is dropped is charged to its segment, one that moves is not. A
// tombstone, or a range delete, goes when nothing older than the inputs can hold its keys. What newer inputs' range
// deletes cover is dropped here; the new runs keep the ranges, cut at their borders. Nothing of the inputs changes, so
// that views go on reading them, and an error anywhere means only that the new files are garbage.
//
// Of a slice [begin, end) keys and ranges outside stay where they are: a file that reaches over a border is written
// anew, as its rest, into its old place.
//
// A filter is asked about the newest value of each key that moves. What it removes becomes a tombstone, or goes, by the
// same rule as those that were there.
//
// What goes through, [begin, end) of the choice's, is written into the tier below the output place.
//
//   tier 7   [a.....|....k]  [m..|..r]         slice:  |          |
//   tier 3      [c..|.........|....q]          rests of tier 7: a..  ..r;  of tier 3: c..  ..q
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "index/family_files.h"
#include "index/index.h"
#include "lsm_fallback/lsm_layers.h"
#include "lsm_fallback/pick_compaction.h"
#include "manifest/accounts.h"

namespace cambium {

struct LevelCompactionInput {
  const LsmLayers* layers = nullptr;
  const CompactionChoice* choice = nullptr;
  RunOptions run;  // how the new runs are to be; kind is set here
  CreateIndexFile create_file;
  std::uint64_t target_bytes = 64u << 20;  // of a new run
  // The files that new ones are cut by; see RunWriter.
  std::vector<const RunInfo*> grandparents;
  std::uint64_t grandparent_bytes_max = 0;
  // The same for what goes through.
  std::uint64_t target_bytes_through = 64u << 20;
  std::vector<const RunInfo*> grandparents_through;
  std::uint64_t grandparent_bytes_max_through = 0;
  std::function<bool()> is_abandoned;  // CompactionInput's
  ValueFilter* filter = nullptr;       // CompactionInput's, which has been told of the merge
};

struct LevelCompactionOutput {
  RunList runs;  // for the output place, in key order, synced and open
  struct Placed {
    std::shared_ptr<const Run> run;
    std::uint32_t level = 0;
    std::uint64_t tier = 0;
  };
  std::vector<Placed> others;  // rests, and what went through
  AccountDelta accounts;
  CompactionStats stats;
};

// Reads past the page pool, which keeps what readers want. Corruption if a file holds keys out of order, or if an input
// is not where the choice says. ShutdownInProgress if it was abandoned.
Result<LevelCompactionOutput> CompactLevel(const LevelCompactionInput& input);

}  // namespace cambium
