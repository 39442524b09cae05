#include "c/wrappers.h"

#include "cambium/convenience.h"

using cambium::Slice;
using cambium::Status;
using cambium::c::CopyBytes;
using cambium::c::CopyStrings;
using cambium::c::Guarded;
using cambium::c::RepOf;
using cambium::c::ToEnum;
using cambium::c::Truth;

// ---- One function to set an option, and one to get it ----

#define CAMBIUM_C_NUMBER(type, c_name, name)                                                                \
  void cambium_options_set_##c_name(cambium_options_t* options, type value) { options->rep.name = value; } \
  type cambium_options_get_##c_name(const cambium_options_t* options) { return options->rep.name; }
#define CAMBIUM_C_BOOL(c_name, name)                                                        \
  void cambium_options_set_##c_name(cambium_options_t* options, unsigned char value) {      \
    options->rep.name = value != 0;                                                         \
  }                                                                                         \
  unsigned char cambium_options_get_##c_name(const cambium_options_t* options) { return Truth(options->rep.name); }
#define CAMBIUM_C_ENUM(c_name, name)                                              \
  void cambium_options_set_##c_name(cambium_options_t* options, int value) {      \
    options->rep.name = ToEnum<decltype(options->rep.name)>(value);               \
  }                                                                               \
  int cambium_options_get_##c_name(const cambium_options_t* options) { return static_cast<int>(options->rep.name); }

CAMBIUM_C_BOOL(create_if_missing, create_if_missing)
CAMBIUM_C_BOOL(create_missing_column_families, create_missing_column_families)
CAMBIUM_C_BOOL(error_if_exists, error_if_exists)
CAMBIUM_C_ENUM(wal_recovery_mode, wal_recovery_mode)
CAMBIUM_C_NUMBER(uint64_t, lock_wait_micros, lock_wait_micros)
CAMBIUM_C_NUMBER(size_t, page_cache_size, page_cache_size)
CAMBIUM_C_NUMBER(size_t, db_write_buffer_size, db_write_buffer_size)
CAMBIUM_C_NUMBER(uint64_t, max_total_wal_size, max_total_wal_size)
CAMBIUM_C_NUMBER(double, max_space_amplification, max_space_amplification)
CAMBIUM_C_NUMBER(uint64_t, min_space_limit, min_space_limit)
CAMBIUM_C_NUMBER(uint64_t, min_punch_size, min_punch_size)
CAMBIUM_C_BOOL(allow_mmap_reads, allow_mmap_reads)
CAMBIUM_C_NUMBER(int, max_open_files, max_open_files)
CAMBIUM_C_NUMBER(int, max_background_jobs, max_background_jobs)

CAMBIUM_C_ENUM(index_type, index_type)
CAMBIUM_C_NUMBER(uint64_t, page_size, page_size)
CAMBIUM_C_NUMBER(int, filter_bits_per_key, filter_bits_per_key)
CAMBIUM_C_NUMBER(size_t, write_buffer_size, write_buffer_size)
CAMBIUM_C_NUMBER(int, max_write_buffer_number, max_write_buffer_number)
CAMBIUM_C_BOOL(enable_blob_files, enable_blob_files)
CAMBIUM_C_NUMBER(uint64_t, min_blob_size, min_blob_size)
CAMBIUM_C_NUMBER(uint64_t, large_value_size, large_value_size)
CAMBIUM_C_ENUM(blob_compression_type, blob_compression_type)
CAMBIUM_C_NUMBER(uint64_t, blob_file_size, blob_file_size)
CAMBIUM_C_ENUM(value_clustering, value_clustering)
CAMBIUM_C_BOOL(enable_blob_gc, enable_blob_garbage_collection)
CAMBIUM_C_NUMBER(double, blob_gc_age_cutoff, blob_garbage_collection_age_cutoff)
CAMBIUM_C_NUMBER(double, blob_gc_force_threshold, blob_garbage_collection_force_threshold)
CAMBIUM_C_NUMBER(int, sweep_ratio, sweep_ratio)
CAMBIUM_C_ENUM(compaction_style, compaction_style)
CAMBIUM_C_NUMBER(int, level0_file_num_compaction_trigger, level0_file_num_compaction_trigger)
CAMBIUM_C_NUMBER(int, level0_slowdown_writes_trigger, level0_slowdown_writes_trigger)
CAMBIUM_C_NUMBER(int, level0_stop_writes_trigger, level0_stop_writes_trigger)
CAMBIUM_C_NUMBER(uint64_t, target_file_size_base, target_file_size_base)
CAMBIUM_C_NUMBER(int, target_file_size_multiplier, target_file_size_multiplier)
CAMBIUM_C_NUMBER(uint64_t, max_bytes_for_level_base, max_bytes_for_level_base)
CAMBIUM_C_NUMBER(double, max_bytes_for_level_multiplier, max_bytes_for_level_multiplier)
CAMBIUM_C_NUMBER(int, num_levels, num_levels)
CAMBIUM_C_ENUM(compression, compression)

#undef CAMBIUM_C_NUMBER
#undef CAMBIUM_C_BOOL
#undef CAMBIUM_C_ENUM

// ---- Objects ----

void cambium_options_set_comparator(cambium_options_t* options, cambium_comparator_t* comparator) {
  options->rep.comparator = comparator->rep;
}
void cambium_options_set_compaction_filter(cambium_options_t* options, cambium_compactionfilter_t* filter) {
  options->rep.compaction_filter = filter == nullptr ? nullptr : filter->rep.get();
}
void cambium_options_set_compaction_filter_factory(cambium_options_t* options,
                                                   cambium_compactionfilterfactory_t* factory) {
  options->rep.compaction_filter_factory = factory == nullptr ? nullptr : std::move(factory->rep);
  delete factory;
}
void cambium_options_set_ratelimiter(cambium_options_t* options, cambium_ratelimiter_t* limiter) {
  options->rep.rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
}
void cambium_options_set_write_buffer_manager(cambium_options_t* options, cambium_write_buffer_manager_t* manager) {
  options->rep.write_buffer_manager = manager == nullptr ? nullptr : manager->rep;
}
void cambium_options_set_env(cambium_options_t* options, cambium_env_t* env) {
  options->rep.file_system = env == nullptr ? nullptr : env->file_system;
  options->rep.clock = env == nullptr ? nullptr : env->clock;
}
void cambium_options_set_info_log(cambium_options_t* options, cambium_logger_t* logger) {
  options->rep.info_log = logger == nullptr ? nullptr : logger->rep;
}

// ---- Whole options ----

cambium_options_t* cambium_options_create() { return new cambium_options_t; }
cambium_options_t* cambium_options_create_copy(const cambium_options_t* options) {
  return new cambium_options_t(*options);
}
void cambium_options_destroy(cambium_options_t* options) { delete options; }
void cambium_options_optimize_for_rocksdb_compatibility(cambium_options_t* options) {
  options->rep.OptimizeForRocksDBCompatibility();
}

void cambium_get_options_from_string(const cambium_options_t* base_options, const char* text,
                                     cambium_options_t* new_options, char** errptr) {
  Guarded(errptr, [&] {
    cambium::Options read;
    Status status = GetOptionsFromString(base_options->rep, text, &read);
    if (status.ok()) {
      const std::map<std::string, std::string> hints = base_options->hints;  // both may be the same object
      new_options->rep = std::move(read);
      new_options->hints = hints;
    }
    return status;
  });
}

char* cambium_options_to_string(const cambium_options_t* options, char** errptr) {
  char* text = nullptr;
  Guarded(errptr, [&] {
    std::string of_database;
    std::string of_family;
    Status status = GetStringFromDBOptions(&of_database, options->rep);
    if (status.ok()) status = GetStringFromColumnFamilyOptions(&of_family, options->rep);
    if (status.ok()) text = CopyBytes(of_database + ";" + of_family);
    return status;
  });
  return text;
}

// ---- Options in force ----

namespace {

std::unordered_map<std::string, std::string> Changes(int count, const char* const* keys, const char* const* values) {
  std::unordered_map<std::string, std::string> changes;
  for (int i = 0; i < count; ++i) changes[keys[i]] = values[i];
  return changes;
}

}  // namespace

void cambium_set_options(cambium_t* db, int count, const char* const* keys, const char* const* values, char** errptr) {
  Guarded(errptr, [&] { return db->rep->SetOptions(Changes(count, keys, values)); });
}
void cambium_set_options_cf(cambium_t* db, cambium_column_family_handle_t* family, int count, const char* const* keys,
                            const char* const* values, char** errptr) {
  Guarded(errptr, [&] { return db->rep->SetOptions(RepOf(family), Changes(count, keys, values)); });
}
void cambium_set_db_options(cambium_t* db, int count, const char* const* keys, const char* const* values,
                            char** errptr) {
  Guarded(errptr, [&] { return db->rep->SetDBOptions(Changes(count, keys, values)); });
}
cambium_options_t* cambium_get_options(cambium_t* db) { return new cambium_options_t{db->rep->GetOptions()}; }
cambium_options_t* cambium_get_options_cf(cambium_t* db, cambium_column_family_handle_t* family) {
  return new cambium_options_t{db->rep->GetOptions(RepOf(family))};
}

void cambium_load_latest_options(const char* name, unsigned char ignore_unknown_options,
                                 const cambium_comparator_t* const* comparators, size_t num_comparators,
                                 cambium_options_t** db_options, size_t* num_column_families,
                                 char*** column_family_names, cambium_options_t*** column_family_options,
                                 char** errptr) {
  *db_options = nullptr;
  *num_column_families = 0;
  *column_family_names = nullptr;
  *column_family_options = nullptr;
  Guarded(errptr, [&]() -> Status {
    cambium::ConfigOptions config;
    config.ignore_unknown_options = ignore_unknown_options != 0;
    for (size_t i = 0; i < num_comparators; ++i) config.comparators.push_back(comparators[i]->rep);
    cambium::DBOptions of_database;
    std::vector<cambium::ColumnFamilyDescriptor> families;
    if (Status status = LoadLatestOptions(config, name, &of_database, &families); !status.ok()) return status;
    std::vector<std::string> names;
    std::vector<std::unique_ptr<cambium_options_t>> made;
    auto whole = std::make_unique<cambium_options_t>();
    whole->rep = cambium::Options(of_database, {});
    for (const cambium::ColumnFamilyDescriptor& each : families) {
      names.push_back(each.name);
      made.push_back(std::make_unique<cambium_options_t>());
      made.back()->rep = cambium::Options(of_database, each.options);
      if (each.name == cambium::kDefaultColumnFamilyName) whole->rep = made.back()->rep;
    }
    auto list = std::make_unique<cambium_options_t*[]>(made.size());
    *column_family_names = CopyStrings(names);
    for (std::size_t i = 0; i < made.size(); ++i) list[i] = made[i].release();
    *num_column_families = made.size();
    *column_family_options = list.release();
    *db_options = whole.release();
    return Status::OK();
  });
}

void cambium_load_latest_options_destroy(cambium_options_t* db_options, char** column_family_names,
                                         cambium_options_t** column_family_options, size_t num_column_families) {
  cambium_options_destroy(db_options);
  cambium_string_list_destroy(column_family_names, num_column_families);
  for (size_t i = 0; i < num_column_families; ++i) cambium_options_destroy(column_family_options[i]);
  delete[] column_family_options;
}
