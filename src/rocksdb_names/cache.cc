#include "cambium/rocksdb_names/rocksdb/cache.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/db.h"
#include "util/mutex.h"

namespace rocksdb::inline on_cambium {

struct Cache::Rep {
  std::atomic<std::size_t> capacity;
  cambium::Mutex mutex;  // before DB::Rep::mutex
  std::vector<DB*> users CAMBIUM_GUARDED_BY(mutex);
};

Cache::Cache(std::size_t capacity) : rep_(new Rep{.capacity = capacity, .mutex = {}, .users = {}}) {}
Cache::~Cache() = default;

void Cache::SetCapacity(std::size_t capacity) {
  rep_->capacity = capacity;
  const cambium::MutexLock lock(rep_->mutex);
  for (DB* const each : rep_->users) each->SetPageCacheSize();
}

std::size_t Cache::GetCapacity() const { return rep_->capacity; }

std::size_t Cache::GetUsage() const {
  std::uint64_t bytes = 0;
  const cambium::MutexLock lock(rep_->mutex);
  for (DB* const each : rep_->users) {
    std::uint64_t its = 0;
    if (each->GetIntProperty(Properties::kBlockCacheUsage, &its)) bytes += its;
  }
  return bytes;
}

void Cache::Add(DB* db) {
  const cambium::MutexLock lock(rep_->mutex);
  rep_->users.push_back(db);
}

void Cache::Remove(DB* db) {
  const cambium::MutexLock lock(rep_->mutex);
  std::erase(rep_->users, db);
}

}  // namespace rocksdb::inline on_cambium
