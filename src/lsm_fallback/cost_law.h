// The cost law of the LSM: how many bytes of index files an update costs, computed from sizes and options alone. It
// models the choices of pick_compaction.h as far as they matter for bytes, and serves to judge measurements.
//
// Updates are uniform over N keys, flushed m at a time. Level i holds S_i keys: its target, or all N in the last level.
//
//   flush       one entry of a run per update.
//   level 0     t runs at a time are compacted, together d different keys. Leveled: with all of level 1, which writes
//               S_1 + d entries; keys in both count once. Lazy: into a new tier of level 1, d entries.
//   through     leveled: what level 1 would hold beyond its target goes through to level 2 in the same step, if it
//               overlaps no more there than one file may. The cost is that of level i below, without gaps and edges.
//   level i     moves what exceeds its target to the next level, one key range after the other; a turn passes all keys.
//               So the keys that move have gathered for a whole turn and are about twice as dense as the rest. If a
//               turn has n steps, and the level holds C when it is due, then a step takes 2C/(n+1) entries and meets
//               S_(i+1)/n below. An entry costs
//
//                 S_(i+1)/C * (n+1)/(2n)         limits: S_(i+1)/C in one step, and half of that in many
//
//               plus the entry itself, unless the next level already has the key. C is the target plus half of what
//               arrives at a time. (Lazy: a turn has so few slices that they are simulated one by one.)
//   gaps        leveled: each compaction of level 0 divides level 1 into new files. The next step of the turn begins at
//               the first new file that starts after the turn's position, so half a file on average is left out. If k
//               files move between two such compactions, 1/(2k+1) of the level misses its turn. For that part the
//               limit for one step applies.
//   edges       leveled: a step is a file and what it overlaps below, which reaches half a file beyond it at either
//               end. If a file overlaps less than one file, its neighbours join the step and share that cost.
//   rests       lazy: a slice ends inside files of its tiers, and the rest of each such file is rewritten. So an entry
//               is rewritten once for every slice border between it and the beginning of its file.
//   files       each has a header, branches and a partly filled last leaf. That matters only for small files, but all
//               files are small in a level that is cut where a file would overlap too much of the next level.
//
// Between levels in tiers, an entry is written once. The result that turns cost half of the ratio is from O'Neil et al.
// 1996 for one rolling merge, and from Lim et al. 2016 (FAST, "Towards Accurate and Fast Evaluation of Multi-Stage
// Log-Structured Designs") for levels.
#pragma once

#include "lsm_fallback/pick_compaction.h"

namespace cambium {

struct LsmCost {
  double keys = 0;              // N: keys of the last level between the first and the last key of a memtable
  double entry_bytes = 22;      // bytes of a key in a file of a level, filter included
  double file_bytes = 12288;    // bytes of a file in addition to its entries: three pages
  double run_entry_bytes = 24;  // bytes of a key in a run, everything included
  double batch = 1;             // m: keys of a memtable
  double new_share = 0;         // share of the memtable's keys that no level has: 0 for overwrites, 1 for a load
  double step_bytes = 64u << 20;  // budget of a slice, see CompactionShape
  CompactionPolicy policy;
};

// How many runs level 0 has when it is compacted: t.
[[nodiscard]] double RunsPerCompaction(const LsmCost& cost);

[[nodiscard]] double BytesPerUpdate(const LsmCost& cost);

}  // namespace cambium
