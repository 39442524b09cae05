// Lookups.
#include <algorithm>

#include "c/reading.h"
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::Slice;
using cambium::Status;
using cambium::c::CopyMany;
using cambium::c::CopyOf;
using cambium::c::GetInto;
using cambium::c::MultiGet;
using cambium::c::PinnedOf;
using cambium::c::UnlessAbsent;

namespace {

char* GetCopy(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family, Slice key,
              size_t* value_length, char** errptr) {
  return CopyOf([&](PinnableSlice* value) { return Worded(db->rep->Get(options->Rep(), family, key, value)); },
                value_length, errptr);
}
template <typename Pinned>
Pinned* GetPinned(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family, Slice key,
                  char** errptr) {
  return PinnedOf<Pinned>(
      [&](PinnableSlice* value) { return Worded(db->rep->Get(options->Rep(), family, key, value)); }, errptr);
}

// The function with which DB::GetInto reads one key.
auto IntoGetter(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family, Slice key) {
  return [=](std::span<char> buffer, std::size_t* size) {
    return Worded(db->rep->GetInto(options->Rep(), family, key, buffer, size));
  };
}

// As in RocksDB, a key that certainly does not exist has a known value, which is empty.
unsigned char MayExist(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family, Slice key,
                       char** value, size_t* value_length, unsigned char* value_found) {
  if (value_found != nullptr) *value_found = 0;
  if (value != nullptr) *value = nullptr;
  bool may_exist = true;  // also if it could not be looked up
  Guarded(nullptr, [&] {
    PinnableSlice found;
    const Status status = db->rep->Get(options->Rep(), family, key, &found);
    may_exist = !status.IsNotFound();
    if (value == nullptr || value_found == nullptr || !UnlessAbsent(status).ok()) return Status::OK();
    *value = CopyBytes(found);
    *value_length = found.size();
    *value_found = 1;
    return Status::OK();
  });
  return Truth(may_exist);
}

}  // namespace

extern "C" {

char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t key_length,
                  size_t* value_length, char** errptr) {
  return GetCopy(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length), value_length, errptr);
}
char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options, rocksdb_column_family_handle_t* family,
                     const char* key, size_t key_length, size_t* value_length, char** errptr) {
  return GetCopy(db, options, RepOf(family), Slice(key, key_length), value_length, errptr);
}
rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                                            size_t key_length, char** errptr) {
  return GetPinned<rocksdb_pinnableslice_t>(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length),
                                            errptr);
}
rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family, const char* key,
                                               size_t key_length, char** errptr) {
  return GetPinned<rocksdb_pinnableslice_t>(db, options, RepOf(family), Slice(key, key_length), errptr);
}
const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* slice, size_t* value_length) {
  *value_length = slice == nullptr ? 0 : slice->rep.size();
  return slice == nullptr ? nullptr : slice->rep.data();
}
void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* slice) { delete slice; }

rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                                                 size_t key_length, char** errptr) {
  return GetPinned<rocksdb_pinnable_handle_t>(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length),
                                              errptr);
}
rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                                    rocksdb_column_family_handle_t* family, const char* key,
                                                    size_t key_length, char** errptr) {
  return GetPinned<rocksdb_pinnable_handle_t>(db, options, RepOf(family), Slice(key, key_length), errptr);
}
const char* rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t* handle, size_t* value_length) {
  *value_length = handle == nullptr ? 0 : handle->rep.size();
  return handle == nullptr ? nullptr : handle->rep.data();
}
void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* handle) { delete handle; }

unsigned char rocksdb_get_into_buffer(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                                      size_t key_length, char* buffer, size_t buffer_size, size_t* value_length,
                                      unsigned char* found, char** errptr) {
  return GetInto(IntoGetter(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length)), buffer, buffer_size,
                 value_length, found, errptr);
}
unsigned char rocksdb_get_into_buffer_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                         rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                                         char* buffer, size_t buffer_size, size_t* value_length, unsigned char* found,
                                         char** errptr) {
  return GetInto(IntoGetter(db, options, RepOf(family), Slice(key, key_length)), buffer, buffer_size, value_length,
                 found, errptr);
}

void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t count, const char* const* keys,
                       const size_t* key_lengths, char** values, size_t* value_lengths, char** errors) {
  ColumnFamilyHandle* const family = db->rep->DefaultColumnFamily();
  CopyMany(
      *db->rep, options->Rep(), [family](std::size_t) { return family; }, count, keys, key_lengths, values,
      value_lengths, errors, Worded);
}
void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                          const rocksdb_column_family_handle_t* const* families, size_t count, const char* const* keys,
                          const size_t* key_lengths, char** values, size_t* value_lengths, char** errors) {
  CopyMany(
      *db->rep, options->Rep(), [families](std::size_t i) { return RepOf(families[i]); }, count, keys, key_lengths,
      values, value_lengths, errors, Worded);
}
void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  rocksdb_column_family_handle_t* family, size_t count, const char* const* keys,
                                  const size_t* key_lengths, rocksdb_pinnableslice_t** values, char** errors,
                                  const bool /*sorted_input*/) {
  std::fill_n(values, count, nullptr);
  MultiGet(
      *db->rep, options->Rep(), [family](std::size_t) { return RepOf(family); },
      [&](std::size_t i) { return Slice(keys[i], key_lengths[i]); }, count, errors,
      [&](std::size_t i, PinnableSlice* value) { values[i] = new rocksdb_pinnableslice_t{std::move(*value)}; },
      Worded);
}
void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                        rocksdb_column_family_handle_t* family, size_t count,
                                        const rocksdb_slice_t* keys, rocksdb_pinnableslice_t** values, char** errors,
                                        const bool /*sorted_input*/) {
  std::fill_n(values, count, nullptr);
  MultiGet(
      *db->rep, options->Rep(), [family](std::size_t) { return RepOf(family); },
      [&](std::size_t i) { return Slice(keys[i].data, keys[i].size); }, count, errors,
      [&](std::size_t i, PinnableSlice* value) { values[i] = new rocksdb_pinnableslice_t{std::move(*value)}; },
      Worded);
}

unsigned char rocksdb_key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                                    size_t key_length, char** value, size_t* value_length, const char* /*timestamp*/,
                                    size_t /*timestamp_length*/, unsigned char* value_found) {
  return MayExist(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length), value, value_length,
                  value_found);
}
unsigned char rocksdb_key_may_exist_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                       rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                                       char** value, size_t* value_length, const char* /*timestamp*/,
                                       size_t /*timestamp_length*/, unsigned char* value_found) {
  return MayExist(db, options, RepOf(family), Slice(key, key_length), value, value_length, value_found);
}

}  // extern "C"
