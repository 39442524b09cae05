// Writes of single keys, and of batches.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::Slice;

extern "C" {

void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_length,
                 const char* value, size_t value_length, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Put(options->Rep(), Slice(key, key_length), Slice(value, value_length)); });
}
void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_column_family_handle_t* family,
                    const char* key, size_t key_length, const char* value, size_t value_length, char** errptr) {
  Guarded(errptr, [&] {
    return db->rep->Put(options->Rep(), RepOf(family), Slice(key, key_length), Slice(value, value_length));
  });
}
void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_length,
                    char** errptr) {
  Guarded(errptr, [&] { return db->rep->Delete(options->Rep(), Slice(key, key_length)); });
}
void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_column_family_handle_t* family,
                       const char* key, size_t key_length, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Delete(options->Rep(), RepOf(family), Slice(key, key_length)); });
}
void rocksdb_singledelete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_length,
                          char** errptr) {
  Guarded(errptr, [&] { return db->rep->SingleDelete(options->Rep(), Slice(key, key_length)); });
}
void rocksdb_singledelete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                             char** errptr) {
  Guarded(errptr, [&] { return db->rep->SingleDelete(options->Rep(), RepOf(family), Slice(key, key_length)); });
}
void rocksdb_delete_range_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* family, const char* start, size_t start_length,
                             const char* end, size_t end_length, char** errptr) {
  Guarded(errptr, [&] {
    return db->rep->DeleteRange(options->Rep(), RepOf(family), Slice(start, start_length), Slice(end, end_length));
  });
}
void rocksdb_merge(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/, const char* /*key*/,
                   size_t /*key_length*/, const char* /*value*/, size_t /*value_length*/, char** errptr) {
  Lack(errptr, "Merge");
}
void rocksdb_merge_cf(rocksdb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/,
                      rocksdb_column_family_handle_t* /*family*/, const char* /*key*/, size_t /*key_length*/,
                      const char* /*value*/, size_t /*value_length*/, char** errptr) {
  Lack(errptr, "Merge");
}
void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_writebatch_t* batch, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Write(options->Rep(), &batch->rep); });
}

}  // extern "C"
