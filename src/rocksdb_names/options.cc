// The functions of RocksDB that set several options at once.
#include "cambium/rocksdb_names/rocksdb/options.h"

#include <algorithm>

namespace rocksdb::inline on_cambium {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

// Returns *cache; if it is null, makes a cache of 16 MiB and sets *cache to it.
std::shared_ptr<Cache> SmallCache(std::shared_ptr<Cache>* cache) {
  if (cache != nullptr && *cache != nullptr) return *cache;
  std::shared_ptr<Cache> made = NewLRUCache(16 * kMiB);
  if (cache != nullptr) *cache = made;
  return made;
}

}  // namespace

ColumnFamilyOptions::ColumnFamilyOptions(const Options& options)
    : ColumnFamilyOptions(static_cast<const ColumnFamilyOptions&>(options)) {}

DBOptions::DBOptions(const Options& options) : DBOptions(static_cast<const DBOptions&>(options)) {}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForPointLookup(std::uint64_t block_cache_size_mb) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(static_cast<std::size_t>(block_cache_size_mb * kMiB));
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table_factory.reset(NewBlockBasedTableFactory(table));
  return this;
}

// Divides the budget as RocksDB does: each of up to six memtables gets a quarter of it, and level 1 all of it.
ColumnFamilyOptions* ColumnFamilyOptions::OptimizeLevelStyleCompaction(std::uint64_t memtable_memory_budget) {
  write_buffer_size = static_cast<std::size_t>(memtable_memory_budget / 4);
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  level0_file_num_compaction_trigger = 2;
  target_file_size_base = memtable_memory_budget / 8;
  max_bytes_for_level_base = memtable_memory_budget;
  compaction_style = kCompactionStyleLevel;
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeUniversalStyleCompaction(std::uint64_t memtable_memory_budget) {
  write_buffer_size = static_cast<std::size_t>(memtable_memory_budget / 4);
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  compaction_style = kCompactionStyleUniversal;
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  write_buffer_size = 2 * kMiB;
  target_file_size_base = 2 * kMiB;
  max_bytes_for_level_base = 10 * kMiB;
  BlockBasedTableOptions table;
  table.block_cache = SmallCache(cache);
  table_factory.reset(NewBlockBasedTableFactory(table));
  return this;
}

DBOptions* DBOptions::IncreaseParallelism(int total_threads) {
  max_background_jobs = total_threads;
  return this;
}

DBOptions* DBOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  max_file_opening_threads = 1;
  max_open_files = 5000;
  write_buffer_manager = std::make_shared<WriteBufferManager>(0, SmallCache(cache));
  return this;
}

Options* Options::OptimizeForSmallDb() {
  std::shared_ptr<Cache> cache;
  ColumnFamilyOptions::OptimizeForSmallDb(&cache);
  DBOptions::OptimizeForSmallDb(&cache);
  return this;
}

Options* Options::PrepareForBulkLoad() {
  disable_auto_compactions = true;
  return this;
}

Options* Options::DisableExtraChecks() {
  force_consistency_checks = false;
  return this;
}

}  // namespace rocksdb::inline on_cambium
