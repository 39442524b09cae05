// Sweep: merges sorted layers into an old tree, which makes a new root.
//
//   runs, newest first   ─┐ merged, newest entry of a key wins
//   (a memtable on top)  ─┤
//   old tree             ─┴▶ walked in key order: a subtree without a key in the layers is kept by address; leaves with
//                            one are merged and rewritten ─▶ new pages, new root
//
// The tree is the lowest layer: a tombstone removes the key and is dropped, and a range delete is dropped with all keys
// that it covers. A subtree within a range is not rewritten: its pages are read, because their references must be
// subtracted from the accounts, and then left out. The old tree does not change, so views can go on reading it, and
// after any error only the new pages are garbage.
//
// A sweep may stop early, at a key: its cursor. Then the new tree has all keys of the layers below the cursor, and no
// others. Readers of the layers and the new tree must ignore the layers' keys below the cursor, because the tree may
// have newer entries of them, and the parts of the layers' ranges below it. The next step continues at the cursor with
// the same layers; the cursor never moves back. The cursor is a key of the layers or a separator between pages of the
// tree. Separators are needed because a range delete may cover far more than a step, without a key of the layers in it.
//
// A filter is asked about every value taken from the layers, and about the old tree's values in leaves that are
// rewritten anyway, except for those in `filtered`. A *walk* is a sweep without layers that asks the filter about a key
// range of the tree. Leaves in which the filter keeps everything are kept by address too.
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

// The part of the tree that a walk shows to the filter, or rewrites.
struct FilterWalk {
  std::optional<std::string> begin;  // unset: from the first key
  std::optional<std::string> end;    // included; unset: to the last
  bool rewrites = false;             // also rewrite leaves that the filter does not change; then the filter may be null
};

struct SweepInput {
  const Comparator* comparator = nullptr;
  PagePool* pool = nullptr;
  PageBuilderOptions pages;
  TreeRoot root;
  FileSet files;  // of the tree

  std::vector<MergeChild> layers;   // newest first
  bool newest_is_memtable = false;  // layers[0] is not in the accounts yet
  std::string cursor;               // earlier steps have merged all keys below it; empty: this is the first step

  std::set<std::uint64_t> victims;  // files of the tree to empty: their pages are rewritten
  ValueFilter* filter = nullptr;  // null: all values are kept
  std::shared_ptr<const FilteredPart> filtered;  // the filter was asked about these before; a walk skips their leaves
  std::optional<FilterWalk> walk;  // if set, there are no layers
  // The step ends at the next key once this much is written. Pages that were read and left out count too, and so do the
  // value bytes of the filter.
  std::uint64_t max_output_bytes = std::numeric_limits<std::uint64_t>::max();
  // If set, the step also ends once it has written this much, not counting copies of pages in `victims`. Then the
  // copies do not count against max_output_bytes either.
  std::optional<std::uint64_t> max_merged_bytes = std::nullopt;
};

struct SweepOutput {
  TreeRoot root;
  AccountDelta accounts;
  // By file: units of old pages that the new tree does not use.
  std::map<std::uint64_t, std::uint64_t> freed_units;
  // Set if the step ended before the layers did: where the next step begins. Never empty.
  std::optional<std::string> cursor;
  // Set if a walk ended before the end of its range: it has covered all keys below this one.
  std::optional<std::string> walked_to;
  CompactionStats stats;
};

// Runs one step. Every page appended to the sink is part of the new tree. Reads through the pool; uses memory for a few
// pages per level.
Result<SweepOutput> Sweep(SweepInput input, PageSink* sink);

}  // namespace cambium
