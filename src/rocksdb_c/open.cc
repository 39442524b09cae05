#include "rocksdb_c/open.h"

#include <algorithm>
#include <utility>

#include "rocksdb_c/prefix.h"

using namespace cambium::rocks;
using cambium::DB;

namespace cambium::rocks {
namespace {

// Runs after each Open: registers the database with its cache, and writes the options to LOG.
void Welcome(const std::shared_ptr<DB>& db, const rocksdb_options_t& options, const std::vector<std::string>& hints) {
  if (options.table.has_value() && options.table->block_cache != nullptr) {
    RocksCache& cache = *options.table->block_cache;
    const MutexLock lock(cache.mutex);
    std::erase_if(cache.users, [](const std::weak_ptr<DB>& each) { return each.expired(); });
    cache.users.push_back(db);
  }
  if (const std::shared_ptr<Logger> logger = db->GetOptions().info_log; logger != nullptr) {
    LogOptions(options, hints, logger.get());
  }
}

}  // namespace

Status Open(const Opens& make, Given given, rocksdb_t* db) {
  Options whole;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(given.options, given.name, &whole, &given.hints));
  std::unique_ptr<DB> rep;
  CAMBIUM_RETURN_IF_ERROR(make(whole, given.name, &rep));
  db->rep = std::move(rep);
  db->prefix_extractor = given.options.prefix_extractor;
  Welcome(db->rep, given.options, given.hints);
  return Status::OK();
}

Status Open(const OpensFamilies& make, Given given, const GivenFamilies& families, rocksdb_t* db) {
  if (families.count < 0) {
    return Status::InvalidArgument("the number of column families is " + std::to_string(families.count));
  }
  Options whole;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(given.options, given.name, &whole, &given.hints));
  std::vector<ColumnFamilyDescriptor> descriptors;
  std::vector<std::unique_ptr<rocksdb_column_family_handle_t>> wrapped;
  std::shared_ptr<const RocksPrefix> prefix_extractor;
  for (int i = 0; i < families.count; ++i) {
    const rocksdb_options_t& its_given = *families.options[i];
    Options its;
    CAMBIUM_RETURN_IF_ERROR(ToCambium(its_given, given.name, &its, &given.hints));
    // In RocksDB each family's table options name a cache. Here a database has one cache: the larger of those in its
    // options and in the default family's.
    if (families.names[i] == kDefaultColumnFamilyName) {
      whole.page_cache_size = std::max(whole.page_cache_size, its.page_cache_size);
      prefix_extractor = its_given.prefix_extractor;
    }
    its.blob_file_size = whole.blob_file_size;  // all families share one log
    descriptors.emplace_back(families.names[i], its);
    wrapped.push_back(std::make_unique<rocksdb_column_family_handle_t>());
    wrapped.back()->prefix_extractor = its_given.prefix_extractor;
  }
  std::vector<ColumnFamilyHandle*> made;
  std::unique_ptr<DB> rep;
  CAMBIUM_RETURN_IF_ERROR(make(whole, given.name, descriptors, &made, &rep));
  db->rep = std::move(rep);
  db->prefix_extractor = std::move(prefix_extractor);
  for (std::size_t i = 0; i < made.size(); ++i) {
    wrapped[i]->rep = made[i];
    wrapped[i]->db = db->rep;
    families.handles[i] = wrapped[i].release();
  }
  Welcome(db->rep, given.options, given.hints);
  return Status::OK();
}

}  // namespace cambium::rocks

namespace {

using Function = cambium::Status (*)(const cambium::Options&, const std::string&, std::unique_ptr<DB>*);
using FunctionOfFamilies = cambium::Status (*)(const cambium::DBOptions&, const std::string&,
                                               const std::vector<cambium::ColumnFamilyDescriptor>&,
                                               std::vector<cambium::ColumnFamilyHandle*>*, std::unique_ptr<DB>*);

rocksdb_t* OpenedDefault(Function make, const rocksdb_options_t* options, const char* name, char** errptr) {
  return Opened<rocksdb_t>(errptr, [&](rocksdb_t* db) { return Open(make, {*options, name}, db); });
}
rocksdb_t* OpenedFamilies(FunctionOfFamilies make, const rocksdb_options_t* options, const char* name,
                          const GivenFamilies& families, char** errptr) {
  return Opened<rocksdb_t>(errptr, [&](rocksdb_t* db) { return Open(make, {*options, name}, families, db); });
}

}  // namespace

extern "C" {

rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name, char** errptr) {
  return OpenedDefault(&DB::Open, options, name, errptr);
}
// error_if_wal_file_exists is ignored: the log always exists here, because it has the only copy of the values.
rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options, const char* name,
                                      unsigned char /*error_if_wal_file_exists*/, char** errptr) {
  return OpenedDefault(&DB::OpenForReadOnly, options, name, errptr);
}
rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t* options, const char* name, int count,
                                        const char* const* names, const rocksdb_options_t* const* family_options,
                                        rocksdb_column_family_handle_t** handles, char** errptr) {
  return OpenedFamilies(&DB::Open, options, name, {count, names, family_options, handles}, errptr);
}
rocksdb_t* rocksdb_open_for_read_only_column_families(const rocksdb_options_t* options, const char* name, int count,
                                                      const char* const* names,
                                                      const rocksdb_options_t* const* family_options,
                                                      rocksdb_column_family_handle_t** handles,
                                                      unsigned char /*error_if_wal_file_exists*/, char** errptr) {
  return OpenedFamilies(&DB::OpenForReadOnly, options, name, {count, names, family_options, handles}, errptr);
}
rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* /*options*/, const char* /*name*/, int /*ttl*/,
                                 char** errptr) {
  return Lack(errptr, "expiry (open_with_ttl)");
}
rocksdb_t* rocksdb_open_column_families_with_ttl(const rocksdb_options_t* /*options*/, const char* /*name*/,
                                                 int /*count*/, const char* const* /*names*/,
                                                 const rocksdb_options_t* const* /*family_options*/,
                                                 rocksdb_column_family_handle_t** /*handles*/, const int* /*ttls*/,
                                                 char** errptr) {
  return Lack(errptr, "expiry (open_column_families_with_ttl)");
}
rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* /*options*/, const char* /*name*/,
                                     const char* /*secondary_path*/, char** errptr) {
  return Lack(errptr, "a secondary instance");
}
rocksdb_t* rocksdb_open_as_secondary_column_families(const rocksdb_options_t* /*options*/, const char* /*name*/,
                                                     const char* /*secondary_path*/, int /*count*/,
                                                     const char* const* /*names*/,
                                                     const rocksdb_options_t* const* /*family_options*/,
                                                     rocksdb_column_family_handle_t** /*handles*/, char** errptr) {
  return Lack(errptr, "a secondary instance");
}
void rocksdb_try_catch_up_with_primary(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, "a secondary instance"); }
void rocksdb_close(rocksdb_t* db) { delete db; }

}  // extern "C"
