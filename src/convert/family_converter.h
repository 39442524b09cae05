// FamilyConverter: reads a family's layers as one sorted sequence, and writes it as the lowest layer of the other index.
//
//   runs ─┐                                              ┌─▶ a tree, as a sweep of it into nothing would leave it
//   tree ─┴▶ merged: the newest entry of each key, no tombstones
//   or levels                                            └─▶ runs of one level, the first that is large enough
//
// Entries are taken as they are: what points into the log goes on pointing there.
#pragma once

#include <functional>

#include "cambium/options.h"
#include "index/family_files.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

struct ConvertFamily {
  const ColumnFamilyOptions* options = nullptr;  // of the new one; index_type is what it shall be
  OpenIndexFile open_file;                       // of the old one
  CreateIndexFile create_file;                   // for the new one
  std::function<void(std::uint64_t entries)> on_entries;  // now and then: so many more; may be null
};

// The state that the family has then; name, id and flushed sequence number are as before. Its files are synced, their names
// are not. Accounts are those of its entries, and *entries is how many there are.
Result<FamilyState> Convert(const FamilyState& from, const ConvertFamily& how, std::uint64_t* entries);

}  // namespace cambium
