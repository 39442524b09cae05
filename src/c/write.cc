#include "c/wrappers.h"

using cambium::Slice;
using cambium::Status;
using cambium::c::Guarded;
using cambium::c::RepOf;

void cambium_put(cambium_t* db, const cambium_writeoptions_t* options, const char* key, size_t key_length,
                 const char* value, size_t value_length, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Put(options->rep, Slice(key, key_length), Slice(value, value_length)); });
}
void cambium_put_cf(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                    const char* key, size_t key_length, const char* value, size_t value_length, char** errptr) {
  Guarded(errptr, [&] {
    return db->rep->Put(options->rep, RepOf(family), Slice(key, key_length), Slice(value, value_length));
  });
}

void cambium_delete(cambium_t* db, const cambium_writeoptions_t* options, const char* key, size_t key_length,
                    char** errptr) {
  Guarded(errptr, [&] { return db->rep->Delete(options->rep, Slice(key, key_length)); });
}
void cambium_delete_cf(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                       const char* key, size_t key_length, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Delete(options->rep, RepOf(family), Slice(key, key_length)); });
}

void cambium_singledelete(cambium_t* db, const cambium_writeoptions_t* options, const char* key, size_t key_length,
                          char** errptr) {
  Guarded(errptr, [&] { return db->rep->SingleDelete(options->rep, Slice(key, key_length)); });
}
void cambium_singledelete_cf(cambium_t* db, const cambium_writeoptions_t* options,
                             cambium_column_family_handle_t* family, const char* key, size_t key_length,
                             char** errptr) {
  Guarded(errptr, [&] { return db->rep->SingleDelete(options->rep, RepOf(family), Slice(key, key_length)); });
}

void cambium_delete_range(cambium_t* db, const cambium_writeoptions_t* options, const char* start, size_t start_length,
                          const char* end, size_t end_length, char** errptr) {
  Guarded(errptr, [&] {
    return db->rep->DeleteRange(options->rep, Slice(start, start_length), Slice(end, end_length));
  });
}
void cambium_delete_range_cf(cambium_t* db, const cambium_writeoptions_t* options,
                             cambium_column_family_handle_t* family, const char* start, size_t start_length,
                             const char* end, size_t end_length, char** errptr) {
  Guarded(errptr, [&] {
    return db->rep->DeleteRange(options->rep, RepOf(family), Slice(start, start_length), Slice(end, end_length));
  });
}

void cambium_write(cambium_t* db, const cambium_writeoptions_t* options, cambium_writebatch_t* batch, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Write(options->rep, batch == nullptr ? nullptr : &batch->rep); });
}
