// Options of single calls.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

cambium::ReadOptions rocksdb_readoptions_t::Rep() const {
  cambium::ReadOptions rep;
  rep.snapshot = snapshot;
  rep.verify_checksums = verify_checksums != 0;
  rep.fill_cache = fill_cache != 0;
  rep.allow_unprepared_value = allow_unprepared_value != 0;
  return rep;
}

cambium::WriteOptions rocksdb_writeoptions_t::Rep() const {
  cambium::WriteOptions rep;
  rep.sync = sync != 0;
  rep.disableWAL = disable_wal != 0;
  rep.no_slowdown = no_slowdown != 0;
  return rep;
}

cambium::CompactRangeOptions rocksdb_compactoptions_t::Rep() const {
  cambium::CompactRangeOptions rep;
  rep.blob_garbage_collection_policy =
      cambium::c::ToEnum<cambium::BlobGarbageCollectionPolicy>(blob_garbage_collection_policy);
  rep.blob_garbage_collection_age_cutoff = blob_garbage_collection_age_cutoff;
  return rep;
}

extern "C" {

// An object of numbers: its creation, its end, and a setter and a getter of each number.
#define CAMBIUM_ROCKSDB_LIFE(object)                                                     \
  rocksdb_##object##_t* rocksdb_##object##_create() { return new rocksdb_##object##_t; } \
  void rocksdb_##object##_destroy(rocksdb_##object##_t* options) { delete options; }

CAMBIUM_ROCKSDB_LIFE(readoptions)
CAMBIUM_ROCKSDB_READOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, readoptions)
CAMBIUM_ROCKSDB_LIFE(writeoptions)
CAMBIUM_ROCKSDB_WRITEOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, writeoptions)
CAMBIUM_ROCKSDB_LIFE(flushoptions)
CAMBIUM_ROCKSDB_FLUSHOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, flushoptions)
CAMBIUM_ROCKSDB_LIFE(flushwaloptions)
CAMBIUM_ROCKSDB_FLUSHWALOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, flushwaloptions)
CAMBIUM_ROCKSDB_LIFE(compactoptions)
CAMBIUM_ROCKSDB_COMPACTOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, compactoptions)
void rocksdb_compactoptions_set_bottommost_level_compaction(rocksdb_compactoptions_t* options, unsigned char value) {
  options->bottommost_level_compaction = value;
}
unsigned char rocksdb_compactoptions_get_bottommost_level_compaction(rocksdb_compactoptions_t* options) {
  return options->bottommost_level_compaction;
}
CAMBIUM_ROCKSDB_LIFE(wait_for_compact_options)
CAMBIUM_ROCKSDB_WAIT_FOR_COMPACT_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, wait_for_compact_options)
CAMBIUM_ROCKSDB_LIFE(size_approximation_options)
CAMBIUM_ROCKSDB_SIZE_APPROXIMATION_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, size_approximation_options)
CAMBIUM_ROCKSDB_LIFE(trace_options)
CAMBIUM_ROCKSDB_TRACE_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, trace_options)

#undef CAMBIUM_ROCKSDB_LIFE

void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t* options, int disable) {
  options->disable_wal = Truth(disable != 0);
}
unsigned char rocksdb_writeoptions_get_disable_WAL(rocksdb_writeoptions_t* options) { return options->disable_wal; }

void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t* options, const rocksdb_snapshot_t* snapshot) {
  options->snapshot = snapshot == nullptr ? nullptr : snapshot->rep;
}

// As in RocksDB, the bound refers to the caller's bytes.
void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t* options, const char* key, size_t length) {
  options->upper = key == nullptr ? std::nullopt : std::optional(cambium::Slice(key, length));
}
void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t* options, const char* key, size_t length) {
  options->lower = key == nullptr ? std::nullopt : std::optional(cambium::Slice(key, length));
}

void rocksdb_readoptions_clear_merge_operand_count_threshold(rocksdb_readoptions_t* options) {
  options->has_merge_operand_count_threshold = false;
  options->merge_operand_count_threshold = 0;
}
unsigned char rocksdb_readoptions_has_merge_operand_count_threshold(rocksdb_readoptions_t* options) {
  return Truth(options->has_merge_operand_count_threshold || options->merge_operand_count_threshold != 0);
}
void rocksdb_readoptions_set_request_id(rocksdb_readoptions_t* options, const char* id, size_t length) {
  options->request_id = std::string(id, length);
}
void rocksdb_readoptions_clear_request_id(rocksdb_readoptions_t* options) { options->request_id.reset(); }
const char* rocksdb_readoptions_get_request_id(rocksdb_readoptions_t* options, size_t* length) {
  return Shown(options->request_id, length);
}

// Without effect: RocksDB calls the filter only to skip tables. Here that would only save time.
void rocksdb_readoptions_set_table_filter(rocksdb_readoptions_t* options, void* state, void (*destructor)(void*),
                                          rocksdb_readoptions_table_filter_cb /*table_filter*/) {
  options->table_filter = std::make_shared<RocksState>(state, destructor);
}
void rocksdb_readoptions_clear_table_filter(rocksdb_readoptions_t* options) { options->table_filter.reset(); }
unsigned char rocksdb_readoptions_has_table_filter(const rocksdb_readoptions_t* options) {
  return Truth(options->table_filter != nullptr);
}
void rocksdb_readoptions_set_table_index_factory_from_string(rocksdb_readoptions_t* options, const char* value,
                                                             size_t length, char** /*errptr*/) {
  options->table_index = std::string(value, length);
}
void rocksdb_readoptions_clear_table_index_factory(rocksdb_readoptions_t* options) { options->table_index.reset(); }
const char* rocksdb_readoptions_get_table_index_factory_name(const rocksdb_readoptions_t* options, size_t* length) {
  return Shown(options->table_index, length);
}

}  // extern "C"
