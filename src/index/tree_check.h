// CheckTree: reads every page of a tree from its files, past the pool, and checks all that can be checked.
#pragma once

#include <cstdint>
#include <functional>

#include "index/index_file.h"

namespace cambium {

struct TreeCheckStats {
  std::uint64_t leaves = 0;
  std::uint64_t branches = 0;
  std::uint64_t page_bytes = 0;      // as stored
  std::uint64_t raw_page_bytes = 0;  // more than that by what compression saves
  std::uint64_t entries = 0;
  std::uint64_t tombstones = 0;
};

struct TreeCheckCallbacks {
  // Each may be empty. An error they return ends the walk and is returned. What they are given lives for the call.
  std::function<Status(Slice key, const Entry& entry)> on_entry;
  std::function<Status(const PageView& page)> on_page;
  // Set: is told of a page that is damaged or cannot be read, and the walk goes on beside what lies below it; the same
  // for a page at which one of the others returns such an error.
  std::function<Status(const Status& damage)> on_damage;
};

// Checksums (the page's own, and the one its parent expects), ids, levels; keys strictly ascending, in pages and across
// them; separators bound what is below them; totals of every subtree; no unit of a file in two pages. The first thing
// that is wrong is returned as Corruption, unless on_damage takes it. Memory: one page a level and a bit per unit of the files. *stats is filled
// as far as the walk came.
Status CheckTree(const TreeRoot& root, const FileSet& files, const Comparator* comparator,
                 const TreeCheckCallbacks& callbacks, TreeCheckStats* stats);

}  // namespace cambium
