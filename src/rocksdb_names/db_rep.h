// The state of a DB.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/db.h"
#include "util/mutex.h"

namespace rocksdb::inline on_cambium {

struct DB::Rep {
  std::unique_ptr<cambium::DB> db;
  std::string path;
  bool is_read_only = false;

  cambium::Mutex mutex;
  // Hints and objects as the program has given them.
  DBOptions options CAMBIUM_GUARDED_BY(mutex);
  std::map<std::string, ColumnFamilyOptions> families CAMBIUM_GUARDED_BY(mutex);
  // The caches of the families, each once. A cache stays when its family is dropped.
  std::vector<std::shared_ptr<Cache>> caches CAMBIUM_GUARDED_BY(mutex);
};

// Adds the cache of the family's table options, if it has one that is not in *caches.
void AddCache(const ColumnFamilyOptions& options, std::vector<std::shared_ptr<Cache>>* caches);
// The page cache of a database whose families have these caches.
[[nodiscard]] std::size_t PageCacheSize(const std::vector<std::shared_ptr<Cache>>& caches);

}  // namespace rocksdb::inline on_cambium
