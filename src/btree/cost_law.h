// The cost law of the tree: how many bytes of index files an update costs, computed from sizes and options alone. It
// serves to judge measurements; the only decisions that depend on it are those of sweep_policy.h.
//
// A memtable has m keys, uniform over the N keys of a tree with L leaves of P bytes. Sweeps merge M keys at a time:
//
//   leaves     M updates write touched = L (1 - e^(-M/L)) pages of P bytes. Limits: P bytes per update while M is far
//              below L; s * N/M (s bytes per key) when it is above, whatever P is.
//   parents    the same for each level of branches. Those above the leaves hold a filter and have up to four pages.
//   runs       the M/m memtables become runs: one entry of a run per key (about 22 bytes with a filter, for separated
//              values and keys of 16 bytes). If the last flush can merge everything itself, its memtable makes no run.
//   copies     files of pages may hold twice the live bytes. Sweeps leave live pages scattered over old files; the live
//              part e of the oldest file is copied. Each written page survives the writing of 2 (1-e) L pages, so
//              e = (1 - q)^(2 (1-e) / q) if a sweep writes the part q of all pages, and 1/(1-e) pages are written for
//              each page that an update touches. From q = 0.9 on, copying adds nothing; at worst it adds a quarter.
//              Under a ceiling, or on a disk with little room, files with many inline values may hold fewer dead bytes.
//              Then more is copied; the law does not count that.
//   growth     some of the merged keys are new: they add leaves.
//
// M follows from the policy: the fewest whole memtables that hold N/sweep_ratio keys, but at most runs_max + 1. At this
// bound all of these memtables are runs. Only a very large database (by default N > 136 m) reaches it and pays for it.
//
// Leaves touched, limits and runs: Yao's formula for uniform draws, as in the cost models of LSM trees since O'Neil et
// al. 1996. Copies: the FIFO law of log-structured storage at utilisation 1/2 (Rosenblum 1991, Desnoyers 2012).
#pragma once

#include "btree/sweep_policy.h"

namespace cambium {

struct TreeCost {
  double keys = 0;              // N: keys of the tree between the first and the last key to be merged
  double entry_bytes = 22;      // s: bytes of a key in a leaf, unused space included
  double page_bytes = 4096;     // P
  double children = 86;         // of a branch, see ChildrenOf
  double filter_bytes = 1.25;   // per key, in the branch above its leaf; 0: no filters
  double run_entry_bytes = 24;  // bytes of a key in a run, filter included
  double batch = 1;             // m: keys of a memtable
  double new_share = 0;         // share of a memtable's keys that the tree lacks: 0 for overwrites, 1 for a load
  SweepPolicy policy;
};

// How many children a branch has if its separators are short. Little depends on the exact number.
[[nodiscard]] double ChildrenOf(double page_bytes, unsigned fill_percent);

// The leaves' share of the tree's bytes per key. The rest is the branches' share, which the law computes itself.
[[nodiscard]] double LeafPartOf(double bytes_per_key, const TreeCost& cost);

// How many memtables one sweep merges: M/m.
[[nodiscard]] double MemtablesPerSweep(const TreeCost& cost);

[[nodiscard]] double BytesPerUpdate(const TreeCost& cost);

}  // namespace cambium
