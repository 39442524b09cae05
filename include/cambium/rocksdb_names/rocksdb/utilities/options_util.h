// The options of a database from its files. Cambium's OPTIONS file has the options that Cambium has. The hints of a
// database are in the file ROCKSDB_OPTIONS in its directory; checkpoints and backups leave that file out.
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
