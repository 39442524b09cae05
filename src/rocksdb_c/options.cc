// Options: numbers, objects, and calls that set several at once.
#include <algorithm>
#include <string_view>

#include "cambium/convenience.h"
#include "rocksdb_c/objects.h"
#include "rocksdb_c/prefix.h"

using namespace cambium::rocks;

namespace {

// Calls that RocksDB's programs make to tune it, and that have no effect here. LOG names them.
void Hint(rocksdb_options_t* options, const char* name) {
  if (std::ranges::find(options->hints, name) == options->hints.end()) options->hints.emplace_back(name);
}
void Refuse(rocksdb_options_t* options, const char* name) { options->refused.emplace_back(name); }

}  // namespace

extern "C" {

rocksdb_options_t* rocksdb_options_create() { return new rocksdb_options_t; }
rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options) { return new rocksdb_options_t(*options); }
void rocksdb_options_destroy(rocksdb_options_t* options) { delete options; }

#define CAMBIUM_ROCKSDB_NOTED_ACCESSORS(prefix, name, set_type, get_type, initial) \
  void rocksdb_##prefix##_set_##name(rocksdb_options_t* options, set_type value) { \
    options->name = Stored<get_type>(value);                                       \
    options->given.set(kRocks_##name);                                             \
  }                                                                                \
  get_type rocksdb_##prefix##_get_##name(rocksdb_options_t* options) { return options->name; }
CAMBIUM_ROCKSDB_OPTIONS(CAMBIUM_ROCKSDB_NOTED_ACCESSORS, options)
#undef CAMBIUM_ROCKSDB_NOTED_ACCESSORS

// ---- Objects ----

void rocksdb_options_set_comparator(rocksdb_options_t* options, rocksdb_comparator_t* comparator) {
  options->comparator = comparator;
}
void rocksdb_options_set_compaction_filter(rocksdb_options_t* options, rocksdb_compactionfilter_t* filter) {
  options->compaction_filter = filter;
}
void rocksdb_options_set_compaction_filter_factory(rocksdb_options_t* options,
                                                   rocksdb_compactionfilterfactory_t* factory) {
  options->compaction_filter_factory = factory == nullptr ? nullptr : std::move(factory->rep);
  delete factory;
}
void rocksdb_options_set_merge_operator(rocksdb_options_t* options, rocksdb_mergeoperator_t* merge_operator) {
  options->has_merge_operator = merge_operator != nullptr;
  options->merge_operator = merge_operator == nullptr ? nullptr : std::move(merge_operator->state);
  delete merge_operator;
}
void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* options) {
  options->has_merge_operator = true;
  options->merge_operator = nullptr;
}
void rocksdb_options_set_prefix_extractor(rocksdb_options_t* options, rocksdb_slicetransform_t* extractor) {
  options->prefix_extractor = extractor == nullptr ? nullptr : std::move(extractor->rep);
  delete extractor;
}
void rocksdb_options_set_env(rocksdb_options_t* options, rocksdb_env_t* env) {
  options->is_in_memory = env != nullptr && env->is_in_memory;
}
void rocksdb_options_set_info_log(rocksdb_options_t* options, rocksdb_logger_t* logger) {
  options->info_log = logger == nullptr ? nullptr : logger->rep;
}
rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* options) {
  return options->info_log == nullptr ? nullptr : new rocksdb_logger_t{options->info_log};
}
void rocksdb_options_set_ratelimiter(rocksdb_options_t* options, rocksdb_ratelimiter_t* limiter) {
  options->rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
}
void rocksdb_options_set_write_buffer_manager(rocksdb_options_t* options, rocksdb_write_buffer_manager_t* manager) {
  options->write_buffer_manager = manager == nullptr ? nullptr : manager->rep;
}
void rocksdb_options_set_block_based_table_factory(rocksdb_options_t* options,
                                                   rocksdb_block_based_table_options_t* table) {
  if (table != nullptr) options->table = *table;
}

// ---- Places of files ----

void rocksdb_options_set_wal_dir(rocksdb_options_t* options, const char* path) { options->wal_dir = path; }
const char* rocksdb_options_get_wal_dir(rocksdb_options_t* options, size_t* size) {
  return Shown(options->wal_dir, size);
}
void rocksdb_options_set_db_log_dir(rocksdb_options_t* options, const char* path) {
  options->db_log_dir = path;
  if (*path != '\0') Hint(options, "db_log_dir");
}
const char* rocksdb_options_get_db_log_dir(rocksdb_options_t* options, size_t* size) {
  return Shown(options->db_log_dir, size);
}
void rocksdb_options_set_db_host_id(rocksdb_options_t* options, const char* id) { options->db_host_id = id; }
const char* rocksdb_options_get_db_host_id(rocksdb_options_t* options, size_t* size) {
  return Shown(options->db_host_id, size);
}
void rocksdb_options_set_daily_offpeak_time_utc(rocksdb_options_t* options, const char* time) {
  options->daily_offpeak_time_utc = time;
  if (*time != '\0') Hint(options, "daily_offpeak_time_utc");
}
const char* rocksdb_options_get_daily_offpeak_time_utc(rocksdb_options_t* options, size_t* size) {
  return Shown(options->daily_offpeak_time_utc, size);
}

// ---- Calls that set several options ----

void rocksdb_options_increase_parallelism(rocksdb_options_t* options, int total_threads) {
  rocksdb_options_set_max_background_jobs(options, total_threads);
}
void rocksdb_options_optimize_for_point_lookup(rocksdb_options_t* options, uint64_t block_cache_size_mb) {
  rocksdb_block_based_table_options_t table;
  table.block_cache = std::make_shared<RocksCache>(static_cast<std::size_t>(block_cache_size_mb) << 20);
  table.filter_bits_per_key = 10;
  options->table = table;
}
// Divides the budget as RocksDB does: each of up to six memtables gets a quarter of it, and level 1 all of it.
void rocksdb_options_optimize_level_style_compaction(rocksdb_options_t* options, uint64_t memtable_memory_budget) {
  rocksdb_options_set_write_buffer_size(options, static_cast<std::size_t>(memtable_memory_budget / 4));
  rocksdb_options_set_min_write_buffer_number_to_merge(options, 2);
  rocksdb_options_set_max_write_buffer_number(options, 6);
  rocksdb_options_set_level0_file_num_compaction_trigger(options, 2);
  rocksdb_options_set_target_file_size_base(options, memtable_memory_budget / 8);
  rocksdb_options_set_max_bytes_for_level_base(options, memtable_memory_budget);
  rocksdb_options_set_compaction_style(options, 0);
}
void rocksdb_options_optimize_universal_style_compaction(rocksdb_options_t* options, uint64_t memtable_memory_budget) {
  rocksdb_options_set_write_buffer_size(options, static_cast<std::size_t>(memtable_memory_budget / 4));
  rocksdb_options_set_min_write_buffer_number_to_merge(options, 2);
  rocksdb_options_set_max_write_buffer_number(options, 6);
  rocksdb_options_set_compaction_style(options, 1);
}
void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* options) { Hint(options, "prepare_for_bulk_load"); }

// ---- Calls without an effect: they choose formats and algorithms that RocksDB has ----

void rocksdb_options_compaction_readahead_size(rocksdb_options_t* options, size_t bytes) {
  options->compaction_readahead_size = bytes;
  Hint(options, "compaction_readahead_size");
}
size_t rocksdb_options_get_compaction_readahead_size(rocksdb_options_t* options) {
  return options->compaction_readahead_size;
}
void rocksdb_options_set_compression_per_level(rocksdb_options_t* options, const int* /*levels*/, size_t /*count*/) {
  Hint(options, "compression_per_level");
}
void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* options, int /*level*/) {
  Hint(options, "min_level_to_compress");
}
void rocksdb_options_set_compression_options(rocksdb_options_t* options, int /*window_bits*/, int /*level*/,
                                             int /*strategy*/, int /*max_dict_bytes*/) {
  Hint(options, "compression_options");
}
void rocksdb_options_set_bottommost_compression_options(rocksdb_options_t* options, int /*window_bits*/, int /*level*/,
                                                        int /*strategy*/, int /*max_dict_bytes*/,
                                                        unsigned char /*enabled*/) {
  Hint(options, "bottommost_compression_options");
}
void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(rocksdb_options_t* options, int /*bytes*/,
                                                                             unsigned char /*enabled*/) {
  Hint(options, "bottommost_compression_options");
}
void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(rocksdb_options_t* options,
                                                                              unsigned char /*uses*/,
                                                                              unsigned char /*enabled*/) {
  Hint(options, "bottommost_compression_options");
}
unsigned char rocksdb_options_get_bottommost_compression_options_use_zstd_dict_trainer(rocksdb_options_t* /*options*/) {
  return 1;
}
void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(rocksdb_options_t* options,
                                                                              uint64_t /*bytes*/,
                                                                              unsigned char /*enabled*/) {
  Hint(options, "bottommost_compression_options");
}
void rocksdb_options_set_max_bytes_for_level_multiplier_additional(rocksdb_options_t* options, int* /*levels*/,
                                                                   size_t /*count*/) {
  Hint(options, "max_bytes_for_level_multiplier_additional");
}
void rocksdb_options_set_universal_compaction_options(rocksdb_options_t* options,
                                                      rocksdb_universal_compaction_options_t* /*universal*/) {
  Hint(options, "universal_compaction_options");
}
void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t* options,
                                                 rocksdb_fifo_compaction_options_t* /*fifo*/) {
  Hint(options, "fifo_compaction_options");
}
void rocksdb_options_set_cuckoo_table_factory(rocksdb_options_t* options, rocksdb_cuckoo_table_options_t* /*table*/) {
  Hint(options, "cuckoo_table_factory");
}
void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options, uint32_t /*user_key_length*/,
                                             int /*bloom_bits_per_key*/, double /*hash_table_ratio*/,
                                             size_t /*index_sparseness*/, size_t /*huge_page_tlb_size*/,
                                             char /*encoding_type*/, unsigned char /*full_scan_mode*/,
                                             unsigned char /*store_index_in_file*/) {
  Hint(options, "plain_table_factory");
}
void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* options) { Hint(options, "memtable_vector_rep"); }
void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t* options, size_t /*bucket_count*/, int32_t /*height*/,
                                            int32_t /*branching_factor*/) {
  Hint(options, "hash_skip_list_rep");
}
void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options, size_t /*bucket_count*/) {
  Hint(options, "hash_link_list_rep");
}
void rocksdb_options_set_row_cache(rocksdb_options_t* options, rocksdb_cache_t* /*cache*/) {
  Hint(options, "row_cache");
}
void rocksdb_options_set_blob_cache(rocksdb_options_t* options, rocksdb_cache_t* /*cache*/) {
  Hint(options, "blob_cache");
}
void rocksdb_options_set_sst_file_manager(rocksdb_options_t* options, rocksdb_sst_file_manager_t* /*manager*/) {
  Hint(options, "sst_file_manager");
}
void rocksdb_options_set_file_checksum_gen_factory(rocksdb_options_t* options,
                                                   rocksdb_file_checksum_gen_factory_t* /*factory*/) {
  Hint(options, "file_checksum_gen_factory");
}
void rocksdb_options_set_sst_partitioner_factory(rocksdb_options_t* options,
                                                 rocksdb_sst_partitioner_factory_t* /*factory*/) {
  Hint(options, "sst_partitioner_factory");
}
void rocksdb_options_add_table_properties_collector_factory(rocksdb_options_t* options,
                                                            rocksdb_table_properties_collector_factory_t* /*factory*/) {
  Hint(options, "table_properties_collector_factory");
}
void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t* options, size_t /*window*/,
                                                               size_t /*trigger*/) {
  Hint(options, "compact_on_deletion_collector_factory");
}
void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(rocksdb_options_t* options, size_t /*window*/,
                                                                         size_t /*trigger*/, double /*ratio*/) {
  Hint(options, "compact_on_deletion_collector_factory");
}
void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(rocksdb_options_t* options,
                                                                             size_t /*window*/, size_t /*trigger*/,
                                                                             double /*ratio*/,
                                                                             uint64_t /*min_file_size*/) {
  Hint(options, "compact_on_deletion_collector_factory");
}
void rocksdb_options_set_block_protection_bytes_per_key(rocksdb_options_t* options, uint8_t bytes) {
  options->block_protection_bytes_per_key = bytes;
  Hint(options, "block_protection_bytes_per_key");
}
uint8_t rocksdb_options_get_block_protection_bytes_per_key(rocksdb_options_t* options) {
  return options->block_protection_bytes_per_key;
}

// ---- Calls whose meaning would be lost ----

void rocksdb_options_set_wal_filter(rocksdb_options_t* options, rocksdb_walfilter_t* filter) {
  if (filter != nullptr) Refuse(options, "wal_filter");
}
void rocksdb_options_clear_wal_filter(rocksdb_options_t* options) { std::erase(options->refused, "wal_filter"); }
void rocksdb_options_set_compaction_service(rocksdb_options_t* options, rocksdb_compactionservice_t* /*service*/) {
  Hint(options, "compaction_service");  // all compactions are done here
}

// ---- Sets of small numbers ----

void rocksdb_options_checksum_handoff_file_types_clear(rocksdb_options_t* options) {
  options->checksum_handoff_file_types.reset();
}
void rocksdb_options_checksum_handoff_file_types_add(rocksdb_options_t* options, int type) {
  options->checksum_handoff_file_types.set(static_cast<std::size_t>(type) % 64);
}
void rocksdb_options_checksum_handoff_file_types_remove(rocksdb_options_t* options, int type) {
  options->checksum_handoff_file_types.reset(static_cast<std::size_t>(type) % 64);
}
unsigned char rocksdb_options_checksum_handoff_file_types_contains(rocksdb_options_t* options, int type) {
  return Truth(options->checksum_handoff_file_types.test(static_cast<std::size_t>(type) % 64));
}
size_t rocksdb_options_checksum_handoff_file_types_count(rocksdb_options_t* options) {
  return options->checksum_handoff_file_types.count();
}
void rocksdb_options_calculate_sst_write_lifetime_hint_set_clear(rocksdb_options_t* options) {
  options->sst_write_lifetime_hints.reset();
}
void rocksdb_options_calculate_sst_write_lifetime_hint_set_add(rocksdb_options_t* options, int style) {
  options->sst_write_lifetime_hints.set(static_cast<std::size_t>(style) % 64);
}
void rocksdb_options_calculate_sst_write_lifetime_hint_set_remove(rocksdb_options_t* options, int style) {
  options->sst_write_lifetime_hints.reset(static_cast<std::size_t>(style) % 64);
}
unsigned char rocksdb_options_calculate_sst_write_lifetime_hint_set_contains(rocksdb_options_t* options, int style) {
  return Truth(options->sst_write_lifetime_hints.test(static_cast<std::size_t>(style) % 64));
}
size_t rocksdb_options_calculate_sst_write_lifetime_hint_set_count(rocksdb_options_t* options) {
  return options->sst_write_lifetime_hints.count();
}

}  // extern "C"
