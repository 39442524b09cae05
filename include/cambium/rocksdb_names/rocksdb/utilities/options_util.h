// Reads the options of a database from two files in its directory: the newest OPTIONS file has the options that Cambium
// has, and ROCKSDB_OPTIONS has the hints. Checkpoints and backups leave ROCKSDB_OPTIONS out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/convenience.h"

namespace rocksdb::inline on_cambium {

// Reads the options of the database at `path`. Objects are left out: listeners, filters, caches and others. If `cache`
// has a cache, the table options of each family get it. Errors: those of cambium::LoadLatestOptions; Corruption, naming
// the line, if ROCKSDB_OPTIONS is damaged.
Status LoadLatestOptions(const ConfigOptions& config, const std::string& path, DBOptions* options,
                         std::vector<ColumnFamilyDescriptor>* families, std::shared_ptr<Cache>* cache = nullptr);

}  // namespace rocksdb::inline on_cambium
