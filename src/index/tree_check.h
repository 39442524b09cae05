// CheckTree: reads every page of a tree from its files, bypassing the pool, and checks all that can be checked.
#pragma once

#include <cstdint>
#include <functional>

#include "index/index_file.h"

namespace cambium {

struct TreeCheckStats {
  std::uint64_t leaves = 0;
  std::uint64_t branches = 0;
  std::uint64_t page_bytes = 0;      // as stored
  std::uint64_t raw_page_bytes = 0;  // before compression
  std::uint64_t entries = 0;
  std::uint64_t tombstones = 0;
};

struct TreeCheckCallbacks {
  // Each may be empty. If one returns an error, the walk ends with it. Arguments are valid for the call only.
  std::function<Status(Slice key, const Entry& entry)> on_entry;
  std::function<Status(const PageView& page)> on_page;
  // If set, called with the error for each page that is damaged or unreadable, or for which another callback returns
  // Corruption, NotSupported or IOError. If it returns OK, the walk skips what is below the page and goes on.
  std::function<Status(const Status& damage)> on_damage;
};

// Checks the checksum of each page (its own and the one its parent expects), id and level; that keys strictly ascend,
// in pages and across them; that separators bound what is below them; the totals of every subtree; and that no unit of
// a file belongs to two pages. Returns the first defect as Corruption, unless on_damage handles it. Uses memory for one
// page per level and one bit per unit of the files. *stats covers what the walk has reached, even after an error.
Status CheckTree(const TreeRoot& root, const FileSet& files, const Comparator* comparator,
                 const TreeCheckCallbacks& callbacks, TreeCheckStats* stats);

}  // namespace cambium
