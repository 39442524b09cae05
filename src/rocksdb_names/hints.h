// Hints are options of RocksDB that have no effect here. These functions find those that a program has set, and convert
// them from and to text.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/options.h"

namespace rocksdb::inline on_cambium {

// Calls visit(name, field, default) for each hint of the options that has a text form.
template <typename Visit>
void VisitHints(DBOptions& options, Visit&& visit) {
  const DBOptions defaults;
#define CAMBIUM_ROCKSDB_VISIT(type, name, initial) visit(#name, options.name, defaults.name);
  CAMBIUM_ROCKSDB_DB_HINTS(CAMBIUM_ROCKSDB_VISIT)
}
template <typename Visit>
void VisitHints(ColumnFamilyOptions& options, Visit&& visit) {
  const ColumnFamilyOptions defaults;
  CAMBIUM_ROCKSDB_FAMILY_HINTS(CAMBIUM_ROCKSDB_VISIT)
}
template <typename Visit>
void VisitHints(BlockBasedTableOptions& options, Visit&& visit) {
  const BlockBasedTableOptions defaults;
  CAMBIUM_ROCKSDB_TABLE_HINTS(CAMBIUM_ROCKSDB_VISIT)
#undef CAMBIUM_ROCKSDB_VISIT
}

// Names with their values as text.
using TextPairs = std::vector<std::pair<std::string, std::string>>;

// The hints that differ from RocksDB's defaults.
[[nodiscard]] TextPairs SetHints(const DBOptions& options);
[[nodiscard]] TextPairs SetHints(const ColumnFamilyOptions& options);
[[nodiscard]] TextPairs SetHints(const BlockBasedTableOptions& options);

// Sets the hint `name` to the value that `text` denotes. NotFound if there is no such hint, InvalidArgument if the text
// is no value of it.
Status SetHint(DBOptions* options, std::string_view name, std::string_view text);
Status SetHint(ColumnFamilyOptions* options, std::string_view name, std::string_view text);
Status SetHint(BlockBasedTableOptions* options, std::string_view name, std::string_view text);

}  // namespace rocksdb::inline on_cambium
