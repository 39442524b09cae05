// Sweep: sorted layers and an old root make a new root.
//
//   runs, newest first   ─┐ merged, newest entry of a key wins
//   (a memtable on top)  ─┤
//   old tree             ─┴▶ walked in key order: a subtree without a key in the layers is taken over by address,
//                            leaves with one are merged and built anew ─▶ new pages, new root
//
// The tree is the lowest layer: a tombstone that gets here removes the key and goes, and so does a range delete with all
// keys that it covers. Of a subtree that lies within a range nothing is rewritten: its pages are read, because what they
// hold has to leave the accounts, and left behind. Nothing of the old tree changes, so that views go on reading it, and
// an error anywhere means only that the new pages are garbage.
//
// A sweep may stop before the end, at a key: its cursor. All keys of the layers below the cursor are then in the new
// tree, and no others; whoever reads the layers together with the new tree must not see their keys below it (they may
// be older than the tree's by then). The same holds for the ranges of the layers and their parts below it. It goes on
// from there with the same layers and never further back. The cursor is a key of the layers, or one that separates pages
// of the tree: a range may be far larger than what a step may do, and have no key of the layers in it.
//
// A filter is asked about every value that is taken from the layers, and about those of the old tree that share a leaf
// with one, because their leaf is written anew in any case. A *walk* is a sweep of no layers that asks it about a
// stretch of the tree: leaves of which it keeps everything are taken over by address too.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "index/index.h"
#include "index/index_file.h"
#include "index/merge_cursor.h"
#include "index/page_pool.h"
#include "index/tree_builder.h"
#include "manifest/accounts.h"
#include "manifest/page_id.h"
#include "util/result.h"

namespace cambium {

// What a filter shall see of the tree, or what is written anew, although nothing is merged there.
struct FilterWalk {
  std::optional<std::string> begin;  // unset: from the first key
  std::optional<std::string> end;    // included; unset: to the last
  std::uint64_t first_new_file = 0;  // leaves in files of this number and above have been seen
  bool rewrites = false;             // leaves of which it keeps everything too; then there need be no filter
};

struct SweepInput {
  const Comparator* comparator = nullptr;
  PagePool* pool = nullptr;
  PageBuilderOptions pages;
  TreeRoot root;
  FileSet files;  // of the tree

  std::vector<MergeChild> layers;   // newest first
  bool newest_is_memtable = false;  // layers[0] is not in the accounts yet
  std::string cursor;               // keys below it arrived in an earlier step; empty: none did

  std::set<std::uint64_t> victims;  // files of the tree: their pages are rewritten wherever they are
  ValueFilter* filter = nullptr;  // null: everything stays
  std::optional<FilterWalk> walk;  // then there are no layers
  // The step ends at the next key when it has written so much; pages that were read only to be left behind count too,
  // and values for the filter.
  std::uint64_t max_output_bytes = std::numeric_limits<std::uint64_t>::max();
};

struct SweepOutput {
  TreeRoot root;
  AccountDelta accounts;
  // By file: page units of the old tree that the new one does not reach.
  std::map<std::uint64_t, std::uint64_t> freed_units;
  // Set if the step ended before the layers did: where the next one begins. Never empty.
  std::optional<std::string> cursor;
  // Set if a walk ended before its end: what lies below was seen.
  std::optional<std::string> walked_to;
  CompactionStats stats;
};

// Every page the sink gets is part of the new tree. Reads through the pool; memory is a few pages per level.
Result<SweepOutput> Sweep(SweepInput input, PageSink* sink);

}  // namespace cambium
