// Lookup: one of several keys that are looked up together.
//
// A descent waits for memory at every page: first for the page's frame, then for its heads. Several descents in step
// wait together, since the pages of one come while those of the others are searched.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/page_pool.h"
#include "memtable/entry_cursor.h"
#include "util/result.h"

namespace cambium {

// Which layer knew a key, for figures.
enum class FoundIn : unsigned char { kNowhere, kRun, kLevel1, kDeeperLevel, kTree };

struct Lookup {
  explicit Lookup(Slice its_key, std::uint64_t filter_hash) : key(its_key), hash(filter_hash) {}

  const Slice key;           // borrowed
  const std::uint64_t hash;  // FilterHash(key)
  // What was found. No older layer needs to be asked once `is_done`.
  bool is_done = false;
  bool is_found = false;
  FoundIn found_in = FoundIn::kNowhere;
  Status status;  // an error is never "not found"
  Entry entry;    // an inline value borrows from `keep`, which holds a page for as long as it is there
  PageRef keep;

  void Finish(const Result<bool>& found) {
    status = found.status();
    is_found = found.ok() && *found;
    is_done = !found.ok() || *found;
  }
};

// Those that are not done yet.
using OpenLookups = std::vector<Lookup*>;
[[nodiscard]] inline OpenLookups OpenOf(std::span<Lookup> lookups) {
  OpenLookups open;
  open.reserve(lookups.size());
  for (Lookup& lookup : lookups) {
    if (!lookup.is_done) open.push_back(&lookup);
  }
  return open;
}

// Those of them that have been found since they were open were found there.
inline void NoteFound(const OpenLookups& lookups, FoundIn where) {
  for (Lookup* const lookup : lookups) {
    if (lookup->is_found && lookup->found_in == FoundIn::kNowhere) lookup->found_in = where;
  }
}

// TreeFind for each of them.
void TreeFindTogether(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order,
                      std::span<Lookup* const> lookups);

}  // namespace cambium
