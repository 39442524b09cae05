// CompactLevel: carries out a CompactionChoice of kind kCompact.
//
//   inputs, newest first   ─┐ merged, the newest entry of a key wins
//   overlapped files       ─┴▶ new runs in the place below
//
// Only entries are rewritten, separated values are not: a dropped address is subtracted from its segment's account, a
// moved one is not. A tombstone or a range delete is dropped once no layer older than the inputs can hold its keys.
// Keys that newer inputs' range deletes cover are dropped here; the new runs keep the ranges, cut at their borders. The
// inputs do not change, so views can go on reading them, and after any error only the new files are garbage.
//
// For a slice [begin, end), keys and ranges outside stay where they are: if an input file crosses a border, its rest is
// rewritten into its old place.
//
// The filter is asked about the newest value of each key that moves, unless it was asked before (filtered_part.h). If
// it removes the value, a tombstone takes its place, unless no older layer can hold the key.
//
// If the choice has a `through`, the keys in that range are written into the tier below the output place.
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
  RunOptions run;  // for the new runs; `kind` is set here
  CreateIndexFile create_file;
  std::uint64_t target_bytes = 64u << 20;  // of a new run
  // The files whose overlap limits new runs; see RunWriter.
  std::vector<const RunInfo*> grandparents;
  std::uint64_t grandparent_bytes_max = 0;
  // The same three for keys that go through.
  std::uint64_t target_bytes_through = 64u << 20;
  std::vector<const RunInfo*> grandparents_through;
  std::uint64_t grandparent_bytes_max_through = 0;
  std::function<bool()> is_abandoned;  // from CompactionInput
  ValueFilter* filter = nullptr;       // from CompactionInput; Begin has been called
  std::shared_ptr<const FilteredPart> filtered;  // from CompactionInput
  FileSyncs* syncs = nullptr;          // from CompactionInput
};

struct LevelCompactionOutput {
  RunList runs;  // for the output place: in key order, open and, without `syncs`, synced
  struct Placed {
    std::shared_ptr<const Run> run;
    std::uint32_t level = 0;
    std::uint64_t tier = 0;
    bool was_filtered = true;  // the filter was asked about all of its values
  };
  std::vector<Placed> others;  // rests, and runs of keys that went through
  AccountDelta accounts;
  CompactionStats stats;
};

// Reads with a page pool of its own, so that the shared pool keeps what readers use. Corruption if a file has keys out
// of order; Aborted if an input is not in the layers; ShutdownInProgress if it was abandoned.
Result<LevelCompactionOutput> CompactLevel(const LevelCompactionInput& input);

}  // namespace cambium
