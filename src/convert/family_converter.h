// Convert reads a family's layers as one sorted sequence, and writes it as the lowest layer of the other index.
//
//   runs and tree ─┬▶ the newest entry of each key, ─┬▶ a tree, as a sweep into an empty tree makes it
//   or levels ─────┘  without tombstones             └▶ runs of one level, the first that is large enough
//
// Entries are unchanged: addresses refer to the same records of the log.
#pragma once

#include <functional>

#include "cambium/options.h"
#include "index/family_files.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

struct ConvertFamily {
  const ColumnFamilyOptions* options = nullptr;  // of the new family; index_type is the index to make
  OpenIndexFile open_file;                       // opens files of the old family
  CreateIndexFile create_file;                   // creates files of the new family
  std::function<void(std::uint64_t entries)> on_entries;  // called with each batch of entries read; may be null
};

// Converts a family, and returns its new state: with the old name, id and flushed sequence number, and with accounts
// counted from its entries. Sets *entries to their number. The new files are synced, their names are not.
Result<FamilyState> Convert(const FamilyState& from, const ConvertFamily& how, std::uint64_t* entries);

}  // namespace cambium
