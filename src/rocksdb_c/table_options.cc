// Options of tables, of caches and of compaction styles. Of these the cache's capacity and the filter's bits have an
// effect here; the others choose formats that RocksDB has.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

struct rocksdb_lru_cache_options_t {
  std::size_t capacity = 32u << 20;
};
struct rocksdb_hyper_clock_cache_options_t {
  std::size_t capacity = 0;
};
struct rocksdb_memory_allocator_t {};

namespace {

rocksdb_cache_t* NewCache(std::size_t capacity) { return new rocksdb_cache_t{std::make_shared<RocksCache>(capacity)}; }

}  // namespace

extern "C" {

#define CAMBIUM_ROCKSDB_LIFE(object, type)               \
  type* rocksdb_##object##_create() { return new type; } \
  void rocksdb_##object##_destroy(type* options) { delete options; }
#define CAMBIUM_ROCKSDB_TABLE_ACCESSORS(prefix, name, set_type, get_type, initial)                                 \
  void rocksdb_##prefix##_set_##name(Object* options, set_type value) { options->name = Stored<get_type>(value); } \
  get_type rocksdb_##prefix##_get_##name(Object* options) { return options->name; }

#define Object rocksdb_block_based_table_options_t
CAMBIUM_ROCKSDB_LIFE(block_based_options, rocksdb_block_based_table_options_t)
CAMBIUM_ROCKSDB_BLOCK_BASED_OPTIONS(CAMBIUM_ROCKSDB_TABLE_ACCESSORS, block_based_options)
#undef Object
#define Object rocksdb_cuckoo_table_options_t
CAMBIUM_ROCKSDB_LIFE(cuckoo_options, rocksdb_cuckoo_table_options_t)
CAMBIUM_ROCKSDB_CUCKOO_OPTIONS(CAMBIUM_ROCKSDB_TABLE_ACCESSORS, cuckoo_options)
#undef Object
#define Object rocksdb_universal_compaction_options_t
CAMBIUM_ROCKSDB_LIFE(universal_compaction_options, rocksdb_universal_compaction_options_t)
CAMBIUM_ROCKSDB_UNIVERSAL_COMPACTION_OPTIONS(CAMBIUM_ROCKSDB_TABLE_ACCESSORS, universal_compaction_options)
#undef Object
#define Object rocksdb_fifo_compaction_options_t
CAMBIUM_ROCKSDB_LIFE(fifo_compaction_options, rocksdb_fifo_compaction_options_t)
CAMBIUM_ROCKSDB_FIFO_COMPACTION_OPTIONS(CAMBIUM_ROCKSDB_TABLE_ACCESSORS, fifo_compaction_options)
#undef Object

#undef CAMBIUM_ROCKSDB_LIFE
#undef CAMBIUM_ROCKSDB_TABLE_ACCESSORS

// ---- Tables ----

void rocksdb_block_based_options_set_checksum(rocksdb_block_based_table_options_t* options, char checksum) {
  options->checksum = checksum;
}
int rocksdb_block_based_options_get_checksum(rocksdb_block_based_table_options_t* options) { return options->checksum; }
void rocksdb_block_based_options_set_data_block_hash_ratio(rocksdb_block_based_table_options_t* options, double ratio) {
  options->data_block_hash_table_util_ratio = ratio;
}
void rocksdb_block_based_options_set_top_level_index_pinning_tier(rocksdb_block_based_table_options_t* /*options*/,
                                                                  int /*tier*/) {}
void rocksdb_block_based_options_set_partition_pinning_tier(rocksdb_block_based_table_options_t* /*options*/,
                                                            int /*tier*/) {}
void rocksdb_block_based_options_set_unpartitioned_pinning_tier(rocksdb_block_based_table_options_t* /*options*/,
                                                                int /*tier*/) {}
void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t* options,
                                                   rocksdb_filterpolicy_t* policy) {
  options->filter_bits_per_key = policy == nullptr ? 0 : policy->bits_per_key;
  delete policy;
}
void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t* options, rocksdb_cache_t* cache) {
  options->block_cache = cache == nullptr ? nullptr : cache->rep;
}
void rocksdb_block_based_options_set_user_defined_index_factory_from_string(
    rocksdb_block_based_table_options_t* options, const char* value, size_t length, char** /*errptr*/) {
  options->user_defined_index = std::string(value, length);
}
void rocksdb_block_based_options_clear_user_defined_index_factory(rocksdb_block_based_table_options_t* options) {
  options->user_defined_index.reset();
}
const char* rocksdb_block_based_options_get_user_defined_index_factory_name(
    const rocksdb_block_based_table_options_t* options, size_t* length) {
  return Shown(options->user_defined_index, length);
}
void rocksdb_cuckoo_options_set_hash_ratio(rocksdb_cuckoo_table_options_t* options, double ratio) {
  options->hash_table_ratio = ratio;
}

// ---- Filters ----

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key) {
  return new rocksdb_filterpolicy_t{bits_per_key};
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key) {
  return new rocksdb_filterpolicy_t{bits_per_key};
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bits_per_key) {
  return new rocksdb_filterpolicy_t{bits_per_key};
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(double bits_per_key, int /*bloom_before_level*/) {
  return new rocksdb_filterpolicy_t{bits_per_key};
}
void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy) { delete policy; }

// ---- Caches ----

rocksdb_lru_cache_options_t* rocksdb_lru_cache_options_create() { return new rocksdb_lru_cache_options_t; }
void rocksdb_lru_cache_options_destroy(rocksdb_lru_cache_options_t* options) { delete options; }
void rocksdb_lru_cache_options_set_capacity(rocksdb_lru_cache_options_t* options, size_t capacity) {
  options->capacity = capacity;
}
void rocksdb_lru_cache_options_set_num_shard_bits(rocksdb_lru_cache_options_t* /*options*/, int /*bits*/) {}
void rocksdb_lru_cache_options_set_memory_allocator(rocksdb_lru_cache_options_t* /*options*/,
                                                    rocksdb_memory_allocator_t* /*allocator*/) {}
rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(size_t capacity, size_t /*charge*/) {
  return new rocksdb_hyper_clock_cache_options_t{capacity};
}
void rocksdb_hyper_clock_cache_options_destroy(rocksdb_hyper_clock_cache_options_t* options) { delete options; }
void rocksdb_hyper_clock_cache_options_set_capacity(rocksdb_hyper_clock_cache_options_t* options, size_t capacity) {
  options->capacity = capacity;
}
void rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(rocksdb_hyper_clock_cache_options_t* /*options*/,
                                                                  size_t /*charge*/) {}
void rocksdb_hyper_clock_cache_options_set_num_shard_bits(rocksdb_hyper_clock_cache_options_t* /*options*/,
                                                          int /*bits*/) {}
void rocksdb_hyper_clock_cache_options_set_memory_allocator(rocksdb_hyper_clock_cache_options_t* /*options*/,
                                                            rocksdb_memory_allocator_t* /*allocator*/) {}

rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity) { return NewCache(capacity); }
rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity) { return NewCache(capacity); }
rocksdb_cache_t* rocksdb_cache_create_lru_opts(const rocksdb_lru_cache_options_t* options) {
  return NewCache(options->capacity);
}
rocksdb_cache_t* rocksdb_cache_create_hyper_clock(size_t capacity, size_t /*charge*/) { return NewCache(capacity); }
rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(const rocksdb_hyper_clock_cache_options_t* options) {
  return NewCache(options->capacity);
}
void rocksdb_cache_destroy(rocksdb_cache_t* cache) { delete cache; }
void rocksdb_cache_disown_data(rocksdb_cache_t* /*cache*/) {}
// Databases that are open keep the capacity that they were opened with.
void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity) { cache->rep->capacity = capacity; }
size_t rocksdb_cache_get_capacity(const rocksdb_cache_t* cache) { return cache->rep->capacity; }
size_t rocksdb_cache_get_usage(const rocksdb_cache_t* cache) {
  std::uint64_t bytes = 0;
  const cambium::MutexLock lock(cache->rep->mutex);
  for (const std::weak_ptr<cambium::DB>& each : cache->rep->users) {
    std::uint64_t its = 0;
    if (const auto db = each.lock(); db != nullptr && db->GetIntProperty("cambium.block-cache-usage", &its))
      bytes += its;
  }
  return bytes;
}
size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t* /*cache*/) { return 0; }
size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t* /*cache*/) { return 0; }
size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t* /*cache*/) { return 0; }

rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr) {
  return Lack(errptr, "an allocator of jemalloc");
}
void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t* allocator) { delete allocator; }

}  // extern "C"
