#include <algorithm>

#include "c/reading.h"
#include "c/wrappers.h"

using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::ReadOptions;
using cambium::Slice;
using cambium::c::CopyMany;
using cambium::c::CopyOf;
using cambium::c::GetInto;
using cambium::c::MultiGet;
using cambium::c::PinnedOf;
using cambium::c::RepOf;

namespace {

// For values that are copied at once. A copy out of a mapping is the library's own, which turns a fault into an error.
ReadOptions Copying(const cambium_readoptions_t* options) {
  ReadOptions copying = options->rep;
  copying.pin_mapped_values = false;
  return copying;
}

char* GetCopy(cambium_t* db, const cambium_readoptions_t* options, ColumnFamilyHandle* family, Slice key,
              std::size_t* value_length, char** errptr) {
  return CopyOf([&](PinnableSlice* value) { return db->rep->Get(Copying(options), family, key, value); }, value_length,
                errptr);
}
cambium_pinnableslice_t* GetPinned(cambium_t* db, const cambium_readoptions_t* options, ColumnFamilyHandle* family,
                                   Slice key, char** errptr) {
  return PinnedOf<cambium_pinnableslice_t>(
      [&](PinnableSlice* value) { return db->rep->Get(options->rep, family, key, value); }, errptr);
}

// The function with which DB::GetInto reads one key.
auto IntoGetter(cambium_t* db, const cambium_readoptions_t* options, ColumnFamilyHandle* family, Slice key) {
  return [=](std::span<char> buffer, std::size_t* size) {
    return db->rep->GetInto(options->rep, family, key, buffer, size);
  };
}

}  // namespace

char* cambium_get(cambium_t* db, const cambium_readoptions_t* options, const char* key, size_t key_length,
                  size_t* value_length, char** errptr) {
  return GetCopy(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length), value_length, errptr);
}
char* cambium_get_cf(cambium_t* db, const cambium_readoptions_t* options, cambium_column_family_handle_t* family,
                     const char* key, size_t key_length, size_t* value_length, char** errptr) {
  return GetCopy(db, options, RepOf(family), Slice(key, key_length), value_length, errptr);
}

unsigned char cambium_get_into_buffer(cambium_t* db, const cambium_readoptions_t* options, const char* key,
                                      size_t key_length, char* buffer, size_t buffer_size, size_t* value_length,
                                      unsigned char* found, char** errptr) {
  return GetInto(IntoGetter(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length)), buffer, buffer_size,
                 value_length, found, errptr);
}
unsigned char cambium_get_into_buffer_cf(cambium_t* db, const cambium_readoptions_t* options,
                                         cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                         char* buffer, size_t buffer_size, size_t* value_length, unsigned char* found,
                                         char** errptr) {
  return GetInto(IntoGetter(db, options, RepOf(family), Slice(key, key_length)), buffer, buffer_size, value_length,
                 found, errptr);
}

cambium_pinnableslice_t* cambium_get_pinned(cambium_t* db, const cambium_readoptions_t* options, const char* key,
                                            size_t key_length, char** errptr) {
  return GetPinned(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length), errptr);
}
cambium_pinnableslice_t* cambium_get_pinned_cf(cambium_t* db, const cambium_readoptions_t* options,
                                               cambium_column_family_handle_t* family, const char* key,
                                               size_t key_length, char** errptr) {
  return GetPinned(db, options, RepOf(family), Slice(key, key_length), errptr);
}
const char* cambium_pinnableslice_value(const cambium_pinnableslice_t* slice, size_t* value_length) {
  *value_length = slice == nullptr ? 0 : slice->rep.size();
  return slice == nullptr ? nullptr : slice->rep.data();
}
void cambium_pinnableslice_destroy(cambium_pinnableslice_t* slice) { delete slice; }

void cambium_multi_get(cambium_t* db, const cambium_readoptions_t* options, size_t num_keys, const char* const* keys,
                       const size_t* key_lengths, char** values, size_t* value_lengths, char** errors) {
  ColumnFamilyHandle* const family = db->rep->DefaultColumnFamily();
  CopyMany(*db->rep, Copying(options), [family](std::size_t) { return family; }, num_keys, keys, key_lengths, values,
           value_lengths, errors);
}

void cambium_multi_get_cf(cambium_t* db, const cambium_readoptions_t* options,
                          const cambium_column_family_handle_t* const* families, size_t num_keys,
                          const char* const* keys, const size_t* key_lengths, char** values, size_t* value_lengths,
                          char** errors) {
  CopyMany(*db->rep, Copying(options), [families](std::size_t i) { return RepOf(families[i]); }, num_keys, keys,
           key_lengths, values, value_lengths, errors);
}

void cambium_batched_multi_get_cf(cambium_t* db, const cambium_readoptions_t* options,
                                  cambium_column_family_handle_t* family, size_t num_keys, const char* const* keys,
                                  const size_t* key_lengths, cambium_pinnableslice_t** values, char** errors,
                                  unsigned char /*sorted_input*/) {
  std::fill_n(values, num_keys, nullptr);
  MultiGet(*db->rep, options->rep, [family](std::size_t) { return RepOf(family); },
           [&](std::size_t i) { return Slice(keys[i], key_lengths[i]); }, num_keys, errors,
           [&](size_t i, PinnableSlice* value) { values[i] = new cambium_pinnableslice_t{std::move(*value)}; });
}
