// The cost law of the tree: how many bytes of index files an update costs, from sizes and options alone. Nothing is
// decided by it but what sweep_policy.h says; it is what measurements are held against.
//
// m keys a memtable, uniform over the N keys of a tree with L leaves of P bytes, are merged M at a time:
//
//   leaves     touched = L (1 - e^(-M/L)) pages of P bytes are written for M updates. Limits: P bytes an update while M
//              is far below L, s * N/M when it is above (s bytes a key), whatever P is.
//   parents    the same for each level of branches. Those above the leaves hold a filter, and are up to four pages
//              large.
//   runs       the M/m memtables become runs: an entry of a run (about 22 bytes with a filter, for separated values and
//              keys of 16 bytes) each. All but the last, where that one may bring the merge with it.
//   copies     files of pages may hold twice what is alive. Where sweeps leave pages alive here and there, what of the
//              oldest file still lives is copied. With e for that part, each page written stays for 2 (1-e) L pages, so
//              e = (1 - q)^(2 (1-e) / q) if a merge writes the part q of all pages, and 1/(1-e) pages are written for
//              each that an update touched. From q = 0.9 on that is nothing, and a quarter more at worst. A ceiling
//              may let dead pages of small values have less, so that more is copied; that is not counted here.
//   growth     of the keys merged a part is new: they make the leaves that are written so much larger.
//
// M comes from the policy: the fewest whole memtables that hold N/sweep_ratio keys; but not more than runs_max + 1, all
// of them runs then. The second bound is what a very large database meets (N > 136 m by default), and pays for.
//
// Leaves touched, limits and runs: Yao's formula for uniform draws, as in the cost models of LSM trees since O'Neil et
// al. 1996. Copies: the FIFO law of log-structured storage at utilisation 1/2 (Rosenblum 1991, Desnoyers 2012).
#pragma once

#include "btree/sweep_policy.h"

namespace cambium {

struct TreeCost {
  double keys = 0;              // N: those of the tree that lie between the first and the last key to be merged
  double entry_bytes = 22;      // s: what a key takes in a leaf, gaps included
  double page_bytes = 4096;     // P
  double children = 86;         // of a branch, see ChildrenOf
  double filter_bytes = 1.25;   // of a key, in the branch above its leaf; 0: no filters
  double run_entry_bytes = 24;  // what a key takes in a run, filter included
  double batch = 1;             // m: keys of a memtable
  double new_share = 0;         // of them, those that the tree does not have: 0 overwrites, 1 loads
  SweepPolicy policy;
};

// How many children a branch has if its separators are short. It is not much that depends on it.
[[nodiscard]] double ChildrenOf(double page_bytes, unsigned fill_percent);

// The part of the tree's bytes per key that is of leaves. What is left is of branches, and in the law already.
[[nodiscard]] double LeafPartOf(double bytes_per_key, const TreeCost& cost);

// How many memtables are merged at a time: M/m.
[[nodiscard]] double MemtablesPerMerge(const TreeCost& cost);

[[nodiscard]] double BytesPerUpdate(const TreeCost& cost);

}  // namespace cambium
