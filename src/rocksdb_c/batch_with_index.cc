// Batches with an index are not in this version: they take no operations, and writing one fails, and says so.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

struct rocksdb_writebatch_wi_t {};

namespace {

constexpr const char* kBatchWithIndex = "a batch with an index";

}  // namespace

extern "C" {

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(size_t /*reserved_bytes*/, unsigned char /*overwrite_keys*/) {
  return new rocksdb_writebatch_wi_t{};
}
rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(rocksdb_comparator_t* /*backup_index_comparator*/,
                                                                  size_t /*reserved_bytes*/,
                                                                  unsigned char /*overwrite_key*/, size_t /*max_bytes*/,
                                                                  size_t /*protection_bytes_per_key*/) {
  return new rocksdb_writebatch_wi_t{};
}
void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t* object) { delete object; }
void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t*) {}
int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t* /*b*/) { return 0; }
void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t*, const char* /*key*/, size_t /*klen*/, const char* /*val*/,
                               size_t /*vlen*/) {}
void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t* /*column_family*/,
                                  const char* /*key*/, size_t /*klen*/, const char* /*val*/, size_t /*vlen*/) {}
void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t* /*b*/, int /*num_keys*/, const char* const* /*keys_list*/,
                                const size_t* /*keys_list_sizes*/, int /*num_values*/,
                                const char* const* /*values_list*/, const size_t* /*values_list_sizes*/) {}
void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t* /*b*/, rocksdb_column_family_handle_t* /*column_family*/,
                                   int /*num_keys*/, const char* const* /*keys_list*/,
                                   const size_t* /*keys_list_sizes*/, int /*num_values*/,
                                   const char* const* /*values_list*/, const size_t* /*values_list_sizes*/) {}
void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t*, const char* /*key*/, size_t /*klen*/, const char* /*val*/,
                                 size_t /*vlen*/) {}
void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t* /*column_family*/,
                                    const char* /*key*/, size_t /*klen*/, const char* /*val*/, size_t /*vlen*/) {}
void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t* /*b*/, int /*num_keys*/, const char* const* /*keys_list*/,
                                  const size_t* /*keys_list_sizes*/, int /*num_values*/,
                                  const char* const* /*values_list*/, const size_t* /*values_list_sizes*/) {}
void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t* /*b*/, rocksdb_column_family_handle_t* /*column_family*/,
                                     int /*num_keys*/, const char* const* /*keys_list*/,
                                     const size_t* /*keys_list_sizes*/, int /*num_values*/,
                                     const char* const* /*values_list*/, const size_t* /*values_list_sizes*/) {}
void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t*, const char* /*key*/, size_t /*klen*/) {}
void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t*, const char* /*key*/, size_t /*klen*/) {}
void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t* /*column_family*/,
                                     const char* /*key*/, size_t /*klen*/) {}
void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t*, rocksdb_column_family_handle_t* /*column_family*/,
                                           const char* /*key*/, size_t /*klen*/) {}
void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t* /*b*/, int /*num_keys*/, const char* const* /*keys_list*/,
                                   const size_t* /*keys_list_sizes*/) {}
void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t* /*b*/, rocksdb_column_family_handle_t* /*column_family*/,
                                      int /*num_keys*/, const char* const* /*keys_list*/,
                                      const size_t* /*keys_list_sizes*/) {}
void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t* /*b*/, const char* /*start_key*/,
                                        size_t /*start_key_len*/, const char* /*end_key*/, size_t /*end_key_len*/) {}
void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t* /*b*/,
                                           rocksdb_column_family_handle_t* /*column_family*/, const char* /*start_key*/,
                                           size_t /*start_key_len*/, const char* /*end_key*/, size_t /*end_key_len*/) {}
void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t* /*b*/, int /*num_keys*/,
                                         const char* const* /*start_keys_list*/,
                                         const size_t* /*start_keys_list_sizes*/, const char* const* /*end_keys_list*/,
                                         const size_t* /*end_keys_list_sizes*/) {}
void rocksdb_writebatch_wi_delete_rangev_cf(rocksdb_writebatch_wi_t* /*b*/,
                                            rocksdb_column_family_handle_t* /*column_family*/, int /*num_keys*/,
                                            const char* const* /*start_keys_list*/,
                                            const size_t* /*start_keys_list_sizes*/,
                                            const char* const* /*end_keys_list*/,
                                            const size_t* /*end_keys_list_sizes*/) {}
void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t*, const char* /*blob*/, size_t /*len*/) {}
void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t* /*b*/, void* /*state*/,
                                   void (* /*put*/)(void*, const char* k, size_t klen, const char* v, size_t vlen),
                                   void (* /*deleted*/)(void*, const char* k, size_t klen)) {}
const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t* /*b*/, size_t* size) {
  *size = 0;
  return nullptr;
}
void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t*) {}
void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t*, char** errptr) {
  Lack(errptr, kBatchWithIndex);
}
char* rocksdb_writebatch_wi_get_from_batch(rocksdb_writebatch_wi_t* /*wbwi*/, const rocksdb_options_t* /*options*/,
                                           const char* /*key*/, size_t /*keylen*/, size_t* /*vallen*/, char** errptr) {
  return Lack(errptr, kBatchWithIndex);
}
char* rocksdb_writebatch_wi_get_from_batch_cf(rocksdb_writebatch_wi_t* /*wbwi*/, const rocksdb_options_t* /*options*/,
                                              rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                              size_t /*keylen*/, size_t* /*vallen*/, char** errptr) {
  return Lack(errptr, kBatchWithIndex);
}
char* rocksdb_writebatch_wi_get_from_batch_and_db(rocksdb_writebatch_wi_t* /*wbwi*/, rocksdb_t* /*db*/,
                                                  const rocksdb_readoptions_t* /*options*/, const char* /*key*/,
                                                  size_t /*keylen*/, size_t* /*vallen*/, char** errptr) {
  return Lack(errptr, kBatchWithIndex);
}
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(rocksdb_writebatch_wi_t* /*wbwi*/,
                                                                            rocksdb_t* /*db*/,
                                                                            const rocksdb_readoptions_t* /*options*/,
                                                                            const char* /*key*/, size_t /*keylen*/,
                                                                            char** errptr) {
  return Lack(errptr, kBatchWithIndex);
}
char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(rocksdb_writebatch_wi_t* /*wbwi*/, rocksdb_t* /*db*/,
                                                     const rocksdb_readoptions_t* /*options*/,
                                                     rocksdb_column_family_handle_t* /*column_family*/,
                                                     const char* /*key*/, size_t /*keylen*/, size_t* /*vallen*/,
                                                     char** errptr) {
  return Lack(errptr, kBatchWithIndex);
}
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* /*wbwi*/, rocksdb_t* /*db*/, const rocksdb_readoptions_t* /*options*/,
    rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/, size_t /*keylen*/, char** errptr) {
  return Lack(errptr, kBatchWithIndex);
}
void rocksdb_write_writebatch_wi(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/,
                                 rocksdb_writebatch_wi_t* /*wbwi*/, char** errptr) {
  Lack(errptr, kBatchWithIndex);
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(rocksdb_writebatch_wi_t* /*wbwi*/,
                                                                    rocksdb_iterator_t* base_iterator) {
  return ReplaceByError(base_iterator, Lacks(kBatchWithIndex));
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(rocksdb_writebatch_wi_t* /*wbwi*/,
                                                                             rocksdb_iterator_t* base_iterator,
                                                                             const rocksdb_readoptions_t* /*options*/) {
  return ReplaceByError(base_iterator, Lacks(kBatchWithIndex));
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(rocksdb_writebatch_wi_t* /*wbwi*/,
                                                                       rocksdb_iterator_t* base_iterator,
                                                                       rocksdb_column_family_handle_t* /*cf*/) {
  return ReplaceByError(base_iterator, Lacks(kBatchWithIndex));
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    rocksdb_writebatch_wi_t* /*wbwi*/, rocksdb_iterator_t* base_iterator, rocksdb_column_family_handle_t* /*cf*/,
    const rocksdb_readoptions_t* /*options*/) {
  return ReplaceByError(base_iterator, Lacks(kBatchWithIndex));
}
void rocksdb_writebatch_wi_update_timestamps(rocksdb_writebatch_wi_t* /*wbwi*/, const char* /*ts*/, size_t /*tslen*/,
                                             void* /*state*/, size_t (* /*get_ts_size*/)(void*, uint32_t),
                                             char** errptr) {
  Lack(errptr, kBatchWithIndex);
}

}  // extern "C"
