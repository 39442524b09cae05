// Properties, sizes and memory of an open database.
#include <algorithm>

#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::Range;
using cambium::Slice;
using cambium::Status;

struct rocksdb_memory_consumers_t {
  std::vector<rocksdb_t*> databases;
};
struct rocksdb_memory_usage_t {
  std::uint64_t tables = 0;
  std::uint64_t active_tables = 0;
  std::uint64_t readers = 0;
  std::uint64_t cache = 0;
};

// The sum of a family's files. This version does not list the files, so there are no levels.
struct rocksdb_column_family_metadata_t {
  std::string name;
  std::uint64_t bytes = 0;
  std::size_t files = 0;
};
struct rocksdb_column_family_metadata_options_t {
  CAMBIUM_ROCKSDB_COLUMN_FAMILY_METADATA_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, column_family_metadata_options)
  std::optional<std::string> start;
  std::optional<std::string> end;
};

namespace {

constexpr unsigned kIncludeMemtables = 1;
constexpr unsigned kIncludeFiles = 2;

char* Property(rocksdb_t* db, ColumnFamilyHandle* family, const char* name) {
  std::string value;
  if (!db->rep->GetProperty(family, name, &value)) return nullptr;
  if (Slice(name) == "rocksdb.stats") value.insert(0, "** Stats **\n");  // programs look for a heading
  return CopyBytes(value);
}

std::uint64_t Number(rocksdb_t* db, ColumnFamilyHandle* family, const char* name) {
  std::uint64_t value = 0;
  return db->rep->GetIntProperty(family, name, &value) ? value : 0;
}

void GetSizes(rocksdb_t* db, ColumnFamilyHandle* family, int count, const char* const* starts,
              const size_t* start_lengths, const char* const* limits, const size_t* limit_lengths, unsigned include,
              uint64_t* sizes, char** errptr) {
  if (count > 0) std::fill_n(sizes, count, uint64_t{0});
  Guarded(errptr, [&] {
    std::vector<Range> ranges;
    for (int i = 0; i < count; ++i) {
      ranges.push_back({Slice(starts[i], start_lengths[i]), Slice(limits[i], limit_lengths[i])});
    }
    cambium::SizeApproximationOptions options;
    options.include_memtables = (include & kIncludeMemtables) != 0;
    options.include_files = (include & ~kIncludeMemtables) != 0;
    const Status status = db->rep->GetApproximateSizes(options, family, ranges.data(), count, sizes);
    if (!status.ok() && count > 0) std::fill_n(sizes, count, uint64_t{0});
    return status;
  });
}

unsigned IncludedBy(const rocksdb_size_approximation_options_t& options) {
  return (options.include_memtables != 0 ? kIncludeMemtables : 0) |
         (options.include_files != 0 || options.include_blob_files != 0 ? kIncludeFiles : 0);
}

rocksdb_column_family_metadata_t* Metadata(rocksdb_t* db, ColumnFamilyHandle* family) {
  auto* const made = new rocksdb_column_family_metadata_t;
  made->name = family->GetName();
  made->bytes = Number(db, family, "cambium.index-bytes");
  std::string files;  // a line for each, " number:bytes"
  if (db->rep->GetProperty(family, "cambium.sstables", &files)) made->files = std::ranges::count(files, ':');
  return made;
}

}  // namespace

extern "C" {

// ---- Properties: those of RocksDB that this library has, by RocksDB's names ----

char* rocksdb_property_value(rocksdb_t* db, const char* name) {
  return Property(db, db->rep->DefaultColumnFamily(), name);
}
char* rocksdb_property_value_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, const char* name) {
  return Property(db, RepOf(family), name);
}
int rocksdb_property_int(rocksdb_t* db, const char* name, uint64_t* value) {
  return db->rep->GetIntProperty(name, value) ? 0 : -1;
}
int rocksdb_property_int_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, const char* name, uint64_t* value) {
  return db->rep->GetIntProperty(RepOf(family), name, value) ? 0 : -1;
}

// ---- Sizes ----

void rocksdb_approximate_sizes(rocksdb_t* db, int count, const char* const* starts, const size_t* start_lengths,
                               const char* const* limits, const size_t* limit_lengths, uint64_t* sizes, char** errptr) {
  GetSizes(db, db->rep->DefaultColumnFamily(), count, starts, start_lengths, limits, limit_lengths, kIncludeFiles,
           sizes, errptr);
}
void rocksdb_approximate_sizes_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, int count,
                                  const char* const* starts, const size_t* start_lengths, const char* const* limits,
                                  const size_t* limit_lengths, uint64_t* sizes, char** errptr) {
  GetSizes(db, RepOf(family), count, starts, start_lengths, limits, limit_lengths, kIncludeFiles, sizes, errptr);
}
void rocksdb_approximate_sizes_cf_with_flags(rocksdb_t* db, rocksdb_column_family_handle_t* family, int count,
                                             const char* const* starts, const size_t* start_lengths,
                                             const char* const* limits, const size_t* limit_lengths, uint8_t include,
                                             uint64_t* sizes, char** errptr) {
  GetSizes(db, RepOf(family), count, starts, start_lengths, limits, limit_lengths, include, sizes, errptr);
}
void rocksdb_approximate_sizes_with_options(rocksdb_t* db, const rocksdb_size_approximation_options_t* options,
                                            int count, const char* const* starts, const size_t* start_lengths,
                                            const char* const* limits, const size_t* limit_lengths, uint64_t* sizes,
                                            char** errptr) {
  GetSizes(db, db->rep->DefaultColumnFamily(), count, starts, start_lengths, limits, limit_lengths,
           IncludedBy(*options), sizes, errptr);
}
void rocksdb_approximate_sizes_cf_with_options(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                               const rocksdb_size_approximation_options_t* options, int count,
                                               const char* const* starts, const size_t* start_lengths,
                                               const char* const* limits, const size_t* limit_lengths, uint64_t* sizes,
                                               char** errptr) {
  GetSizes(db, RepOf(family), count, starts, start_lengths, limits, limit_lengths, IncludedBy(*options), sizes, errptr);
}

// ---- Memory ----

rocksdb_memory_consumers_t* rocksdb_memory_consumers_create() { return new rocksdb_memory_consumers_t; }
void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers, rocksdb_t* db) {
  consumers->databases.push_back(db);
}
// A cache object has no memory of its own here: each database counts its pages.
void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* /*consumers*/, rocksdb_cache_t* /*cache*/) {}
void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers) { delete consumers; }
rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(rocksdb_memory_consumers_t* consumers,
                                                                char** /*errptr*/) {
  auto* const usage = new rocksdb_memory_usage_t;
  for (rocksdb_t* const db : consumers->databases) {
    ColumnFamilyHandle* const family = db->rep->DefaultColumnFamily();
    usage->tables += Number(db, family, "cambium.size-all-mem-tables");
    usage->active_tables += Number(db, family, "cambium.cur-size-all-mem-tables");
    usage->readers += Number(db, family, "cambium.estimate-table-readers-mem");
    usage->cache += Number(db, family, "cambium.block-cache-usage");
  }
  return usage;
}
uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t* usage) { return usage->tables; }
uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(rocksdb_memory_usage_t* usage) {
  return usage->active_tables;
}
uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(rocksdb_memory_usage_t* usage) {
  return usage->readers;
}
uint64_t rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t* usage) { return usage->cache; }
void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage) { delete usage; }

// ---- Files of a family ----

rocksdb_column_family_metadata_options_t* rocksdb_column_family_metadata_options_create() {
  return new rocksdb_column_family_metadata_options_t;
}
void rocksdb_column_family_metadata_options_destroy(rocksdb_column_family_metadata_options_t* options) {
  delete options;
}
CAMBIUM_ROCKSDB_COLUMN_FAMILY_METADATA_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, column_family_metadata_options)
#define CAMBIUM_ROCKSDB_BOUND(bound)                                                                               \
  void rocksdb_column_family_metadata_options_set_##bound##_key(rocksdb_column_family_metadata_options_t* options, \
                                                                const char* key, size_t length) {                  \
    options->bound = key == nullptr ? std::nullopt : std::optional(std::string(key, length));                      \
  }                                                                                                                \
  const char* rocksdb_column_family_metadata_options_get_##bound##_key(                                            \
      const rocksdb_column_family_metadata_options_t* options, size_t* length) {                                   \
    *length = options->bound.has_value() ? options->bound->size() : 0;                                             \
    return options->bound.has_value() ? options->bound->data() : nullptr;                                          \
  }
CAMBIUM_ROCKSDB_BOUND(start)
CAMBIUM_ROCKSDB_BOUND(end)
#undef CAMBIUM_ROCKSDB_BOUND

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db) {
  return Metadata(db, db->rep->DefaultColumnFamily());
}
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_with_options(
    rocksdb_t* db, const rocksdb_column_family_metadata_options_t* /*options*/) {
  return Metadata(db, db->rep->DefaultColumnFamily());
}
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(rocksdb_t* db,
                                                                        rocksdb_column_family_handle_t* family) {
  return Metadata(db, RepOf(family));
}
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf_with_options(
    rocksdb_t* db, rocksdb_column_family_handle_t* family,
    const rocksdb_column_family_metadata_options_t* /*options*/) {
  return Metadata(db, RepOf(family));
}
void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t* metadata) { delete metadata; }
uint64_t rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t* metadata) { return metadata->bytes; }
size_t rocksdb_column_family_metadata_get_file_count(rocksdb_column_family_metadata_t* metadata) {
  return metadata->files;
}
char* rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t* metadata) {
  return CopyBytes(metadata->name);
}
size_t rocksdb_column_family_metadata_get_level_count(rocksdb_column_family_metadata_t* /*metadata*/) { return 0; }

}  // extern "C"
