// Lookup: one key of a batch of keys that are looked up together.
//
// A descent waits for memory at every page: first for the page's frame, then for its heads. When several descents
// advance together, level by level, these waits overlap: the pages of some arrive while those of others are searched.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "index/page_pool.h"
#include "memtable/entry_cursor.h"
#include "util/result.h"

namespace cambium {

// The layer in which a lookup found its key. For statistics.
enum class FoundIn : unsigned char { kNowhere, kRun, kLevel1, kDeeperLevel, kTree };

struct Lookup {
  explicit Lookup(Slice its_key, std::uint64_t filter_hash) : key(its_key), hash(filter_hash) {}

  const Slice key;           // borrowed
  const std::uint64_t hash;  // FilterHash(key)
  // The result. Once `is_done`, no older layer needs to be asked.
  bool is_done = false;
  bool is_found = false;
  FoundIn found_in = FoundIn::kNowhere;
  Status status;  // an error is never "not found"
  Entry entry;    // an inline value borrows from the page that `keep` pins
  std::uint64_t file = 0;  // the number of the file in which the entry was found; 0: a range delete covers the key
  PageRef keep;

  void Finish(const Result<bool>& found) {
    assert(!is_done && "no older layer is asked once the key is found");
    status = found.status();
    is_found = found.ok() && *found;
    is_done = !found.ok() || *found;
  }
};

// The unfinished ones among `lookups`.
using OpenLookups = std::vector<Lookup*>;
[[nodiscard]] inline OpenLookups OpenOf(std::span<Lookup> lookups) {
  OpenLookups open;
  open.reserve(lookups.size());
  for (Lookup& lookup : lookups) {
    if (!lookup.is_done) open.push_back(&lookup);
  }
  return open;
}

// Sets found_in to `where` for the lookups that were found since OpenOf listed them.
inline void NoteFound(const OpenLookups& lookups, FoundIn where) {
  for (Lookup* const lookup : lookups) {
    if (lookup->is_found && lookup->found_in == FoundIn::kNowhere) lookup->found_in = where;
  }
}

// Runs TreeFind for each lookup.
void TreeFindTogether(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order,
                      std::span<Lookup* const> lookups);

}  // namespace cambium
