// Keys with timestamps are not in this version: the calls fail, and say so.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

namespace {

constexpr const char* kTimestamps = "keys with timestamps";

}  // namespace

extern "C" {

void rocksdb_put_with_ts(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/, const char* /*key*/,
                         size_t /*keylen*/, const char* /*ts*/, size_t /*tslen*/, const char* /*val*/,
                         size_t /*vallen*/, char** errptr) {
  Lack(errptr, kTimestamps);
}
void rocksdb_put_cf_with_ts(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/,
                            rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/, size_t /*keylen*/,
                            const char* /*ts*/, size_t /*tslen*/, const char* /*val*/, size_t /*vallen*/,
                            char** errptr) {
  Lack(errptr, kTimestamps);
}
void rocksdb_delete_with_ts(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/, const char* /*key*/,
                            size_t /*keylen*/, const char* /*ts*/, size_t /*tslen*/, char** errptr) {
  Lack(errptr, kTimestamps);
}
void rocksdb_delete_cf_with_ts(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/,
                               rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                               size_t /*keylen*/, const char* /*ts*/, size_t /*tslen*/, char** errptr) {
  Lack(errptr, kTimestamps);
}
void rocksdb_singledelete_with_ts(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/, const char* /*key*/,
                                  size_t /*keylen*/, const char* /*ts*/, size_t /*tslen*/, char** errptr) {
  Lack(errptr, kTimestamps);
}
void rocksdb_singledelete_cf_with_ts(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/,
                                     rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                     size_t /*keylen*/, const char* /*ts*/, size_t /*tslen*/, char** errptr) {
  Lack(errptr, kTimestamps);
}
void rocksdb_increase_full_history_ts_low(rocksdb_t* /*db*/, rocksdb_column_family_handle_t* /*column_family*/,
                                          const char* /*ts_low*/, size_t /*ts_lowlen*/, char** errptr) {
  Lack(errptr, kTimestamps);
}
char* rocksdb_get_full_history_ts_low(rocksdb_t* /*db*/, rocksdb_column_family_handle_t* /*column_family*/,
                                      size_t* /*ts_lowlen*/, char** errptr) {
  return Lack(errptr, kTimestamps);
}
rocksdb_t* rocksdb_open_and_trim_history(const rocksdb_options_t* /*options*/, const char* /*name*/,
                                         int /*num_column_families*/, const char* const* /*column_family_names*/,
                                         const rocksdb_options_t* const* /*column_family_options*/,
                                         rocksdb_column_family_handle_t** /*column_family_handles*/, char* /*trim_ts*/,
                                         size_t /*trim_tslen*/, char** errptr) {
  return Lack(errptr, kTimestamps);
}
char* rocksdb_get_with_ts(rocksdb_t* /*db*/, const rocksdb_readoptions_t* /*options*/, const char* /*key*/,
                          size_t /*keylen*/, size_t* /*vallen*/, char** /*ts*/, size_t* /*tslen*/, char** errptr) {
  return Lack(errptr, kTimestamps);
}
char* rocksdb_get_cf_with_ts(rocksdb_t* /*db*/, const rocksdb_readoptions_t* /*options*/,
                             rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/, size_t /*keylen*/,
                             size_t* /*vallen*/, char** /*ts*/, size_t* /*tslen*/, char** errptr) {
  return Lack(errptr, kTimestamps);
}
void rocksdb_multi_get_with_ts(rocksdb_t* /*db*/, const rocksdb_readoptions_t* /*options*/, size_t num_keys,
                               const char* const* /*keys_list*/, const size_t* /*keys_list_sizes*/,
                               char** /*values_list*/, size_t* /*values_list_sizes*/, char** /*timestamp_list*/,
                               size_t* /*timestamp_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTimestamps);
}
void rocksdb_multi_get_cf_with_ts(rocksdb_t* /*db*/, const rocksdb_readoptions_t* /*options*/,
                                  const rocksdb_column_family_handle_t* const* /*column_families*/, size_t num_keys,
                                  const char* const* /*keys_list*/, const size_t* /*keys_list_sizes*/,
                                  char** /*values_list*/, size_t* /*values_list_sizes*/, char** /*timestamps_list*/,
                                  size_t* /*timestamps_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTimestamps);
}
void rocksdb_readoptions_set_timestamp(rocksdb_readoptions_t*, const char* /*ts*/, size_t /*tslen*/) {}
void rocksdb_readoptions_set_iter_start_ts(rocksdb_readoptions_t*, const char* /*ts*/, size_t /*tslen*/) {}
void rocksdb_compactoptions_set_full_history_ts_low(rocksdb_compactoptions_t*, char* /*ts*/, size_t /*tslen*/) {}

}  // extern "C"
