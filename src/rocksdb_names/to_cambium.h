// From options with RocksDB's names to Cambium's, and back.
#pragma once

#include <string>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/convenience.h"

namespace rocksdb::inline on_cambium {

// NotSupported for an option whose meaning would be lost. Adds the names of the options that are set and have no effect
// to *hints. The caller sets the listeners of *to, and its page_cache_size if the families have caches.
Status ToCambium(const DBOptions& from, const std::string& path, cambium::DBOptions* to,
                 std::vector<std::string>* hints);
Status ToCambium(const ColumnFamilyOptions& from, const std::string& path, cambium::ColumnFamilyOptions* to,
                 std::vector<std::string>* hints);

// Puts the options of Cambium's that have another type in RocksDB into *to, and those of the same type into to->Same().
// Comparators are found among Cambium's own and `known`; InvalidArgument if one is not.
Status FromCambium(const cambium::ColumnFamilyOptions& from, const std::vector<const Comparator*>& known,
                   ColumnFamilyOptions* to);

}  // namespace rocksdb::inline on_cambium
