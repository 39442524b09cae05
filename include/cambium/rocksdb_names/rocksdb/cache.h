// Cache: the capacity of a block cache, which becomes the capacity of a database's page cache.
#pragma once

#include <cstddef>
#include <memory>

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

class DB;

// RocksDB's caches hold blocks of all databases that share them. Here each database has a page cache of its own, with
// the capacity of the Cache in its table options; if its families have several, with the sum of the capacities. It holds
// index pages: the operating system caches separated values. Any thread may call any function.
class Cache {
 public:
  explicit Cache(std::size_t capacity);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  [[nodiscard]] const char* Name() const { return "PageCache"; }
  // Also for the databases that are open. A database has at least 64 KiB.
  void SetCapacity(std::size_t capacity);
  [[nodiscard]] std::size_t GetCapacity() const;
  // The bytes of index pages in memory, of all open databases that use this cache.
  [[nodiscard]] std::size_t GetUsage() const;
  [[nodiscard]] std::size_t GetPinnedUsage() const { return 0; }

 private:
  friend class DB;
  struct Rep;
  // From Add to Remove, `db` is open and has a family with this cache.
  void Add(DB* db);
  void Remove(DB* db);

  const std::unique_ptr<Rep> rep_;
};

enum CacheMetadataChargePolicy { kDontChargeCacheMetadata, kFullChargeCacheMetadata };

// All but the capacity is without effect: there is one kind of cache.
struct ShardedCacheOptions {
  std::size_t capacity = 0;
  int num_shard_bits = -1;
  bool strict_capacity_limit = false;
  CacheMetadataChargePolicy metadata_charge_policy = kFullChargeCacheMetadata;

  [[nodiscard]] std::shared_ptr<Cache> MakeSharedCache() const { return std::make_shared<Cache>(capacity); }
};

struct LRUCacheOptions : public ShardedCacheOptions {
  LRUCacheOptions() = default;
  LRUCacheOptions(std::size_t its_capacity, int shard_bits, bool is_strict, double high_ratio)
      : ShardedCacheOptions{its_capacity, shard_bits, is_strict}, high_pri_pool_ratio(high_ratio) {}
  double high_pri_pool_ratio = 0.5;
  double low_pri_pool_ratio = 0.0;
};

struct HyperClockCacheOptions : public ShardedCacheOptions {
  explicit HyperClockCacheOptions(std::size_t its_capacity, std::size_t entry_charge = 0, int shard_bits = -1,
                                  bool is_strict = false)
      : ShardedCacheOptions{its_capacity, shard_bits, is_strict}, estimated_entry_charge(entry_charge) {}
  std::size_t estimated_entry_charge;
};

[[nodiscard]] inline std::shared_ptr<Cache> NewLRUCache(std::size_t capacity, int /*num_shard_bits*/ = -1,
                                                        bool /*strict_capacity_limit*/ = false,
                                                        double /*high_pri_pool_ratio*/ = 0.5) {
  return std::make_shared<Cache>(capacity);
}
[[nodiscard]] inline std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& options) {
  return options.MakeSharedCache();
}

}  // namespace rocksdb::inline on_cambium
