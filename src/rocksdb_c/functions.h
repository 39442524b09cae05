// Functions of this interface that other functions of it call. A program has them from RocksDB's c.h.
#pragma once

#include "rocksdb_c/interface.h"

extern "C" {

rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr);
rocksdb_column_family_handle_t* rocksdb_create_column_family(rocksdb_t* db, const rocksdb_options_t* options,
                                                             const char* name, char** errptr);
rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db, const rocksdb_readoptions_t* options);
rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family);
const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db);
void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_length,
                    char** errptr);
void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_column_family_handle_t* family,
                       const char* key, size_t key_length, char** errptr);
void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr);
void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options, rocksdb_column_family_handle_t* family,
                      char** errptr);
void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options, rocksdb_column_family_handle_t** families,
                       int count, char** errptr);
void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr);
void rocksdb_flush_wal_with_options(rocksdb_t* db, const rocksdb_flushwaloptions_t* options, char** errptr);
char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_length,
                  size_t* value_length, char** errptr);
char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options, rocksdb_column_family_handle_t* family,
                     const char* key, size_t key_length, size_t* value_length, char** errptr);
rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                                            size_t key_length, char** errptr);
rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family, const char* key,
                                               size_t key_length, char** errptr);
void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t count, const char* const* keys,
                       const size_t* key_lengths, char** values, size_t* value_lengths, char** errors);
void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                          const rocksdb_column_family_handle_t* const* families, size_t count, const char* const* keys,
                          const size_t* key_lengths, char** values, size_t* value_lengths, char** errors);
int rocksdb_property_int(rocksdb_t* db, const char* name, uint64_t* value);
char* rocksdb_property_value(rocksdb_t* db, const char* name);
void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t key_length,
                 const char* value, size_t value_length, char** errptr);
void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_column_family_handle_t* family,
                    const char* key, size_t key_length, const char* value, size_t value_length, char** errptr);
void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot);
void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_writebatch_t* batch, char** errptr);

}  // extern "C"
