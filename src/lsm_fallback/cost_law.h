// The cost law of the LSM: how many bytes of index files an update costs, from sizes and options alone. What
// pick_compaction.h decides is in it as far as it matters for bytes; it is what measurements are held against.
//
// Updates are uniform over N keys, flushed m at a time. Level i holds S_i keys: its target, or all N in the lowest.
//
//   flush       an entry of a run each.
//   level 0     t runs at a time are merged, together d different keys. Leveled: with all of level 1, S_1 + d entries
//               written, those counted once that are in both. Lazy: into a new tier of level 1, d entries.
//   through     leveled: what of this is beyond the target of level 1 goes through to level 2 in the same step, if it meets
//               no more there than one file may. As with level i below; no gaps, no edges.
//   level i     loses what is beyond its target to the next one, a part of the keys at a time, in turns. So what goes
//               has gathered for a whole turn and is about twice as dense as the rest. If a turn has n steps, and C is
//               what the level holds when it is due, then a step takes 2C/(n+1) entries and meets S_(i+1)/n below: per
//               entry
//
//                 S_(i+1)/C * (n+1)/(2n)         the limits are S_(i+1)/C in one step, and half of that in many
//
//               and itself, unless the key is below already. C is the target and half of what arrives at a time. (Lazy,
//               a turn has so few slices that they are counted one by one.)
//   gaps        leveled, level 1 is cut into files anew whenever level 0 comes. The file that has the turn's place in
//               it then waits, half a file on average; with k files that go in between, 1/(2k+1) of the level misses
//               its turn. To that part the limit for one step applies.
//   edges       leveled, a step is a file and what it overlaps below: half a file more at either end, that it does not
//               reach over. Where a file overlaps less than one, neighbours go with it and share that.
//   rests       lazy, a slice ends within files of its tiers, whose rests are written anew: each entry as often as
//               there are borders between it and its file's beginning.
//   files       each has a header, branches, and a last leaf with little in it. That shows only in small ones; but all
//               are small in a level that is cut where a file would overlap too much of the next one.
//
// From level to level in tiers an entry is written once. Turns that make it "half of the ratio": O'Neil et al. 1996 for
// one rolling merge, Lim et al. 2016 (FAST, "Towards Accurate and Fast Evaluation of Multi-Stage Log-Structured
// Designs") for levels.
#pragma once

#include "lsm_fallback/pick_compaction.h"

namespace cambium {

struct LsmCost {
  double keys = 0;              // N: of the lowest level, between the first and the last key of a memtable
  double entry_bytes = 22;      // what a key takes in a file of a level, filter included
  double file_bytes = 12288;    // what a file takes beside its entries: three pages
  double run_entry_bytes = 24;  // what a key takes in a run, everything included
  double batch = 1;             // m: keys of a memtable
  double new_share = 0;         // of them, those that no level has: 0 overwrites, 1 loads
  double step_bytes = 64u << 20;  // what a slice may have, see CompactionShape
  CompactionPolicy policy;
};

// How many runs level 0 has when they are merged: t.
[[nodiscard]] double RunsPerCompaction(const LsmCost& cost);

[[nodiscard]] double BytesPerUpdate(const LsmCost& cost);

}  // namespace cambium
