#include <algorithm>

#include "c/wrappers.h"

using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::ReadOptions;
using cambium::Slice;
using cambium::Status;
using cambium::c::CopyBytes;
using cambium::c::Guarded;
using cambium::c::RepOf;
using cambium::c::SaveText;

namespace {

// A missing key is not an error here: the result is then not set.
Status UnlessAbsent(Status status) { return status.IsNotFound() ? Status::OK() : status; }

// For values that are copied at once. A copy out of a mapping is the library's own, which turns a fault into an error.
ReadOptions Copying(const cambium_readoptions_t* options) {
  ReadOptions copying = options->rep;
  copying.pin_mapped_values = false;
  return copying;
}

char* Get(cambium_t* db, const cambium_readoptions_t* options, ColumnFamilyHandle* family, Slice key,
          size_t* value_length, char** errptr) {
  char* copy = nullptr;
  *value_length = 0;
  Guarded(errptr, [&] {
    PinnableSlice value;
    Status status = db->rep->Get(Copying(options), family, key, &value);
    if (status.ok()) {
      copy = CopyBytes(value);
      *value_length = value.size();
    }
    return UnlessAbsent(std::move(status));
  });
  return copy;
}

cambium_pinnableslice_t* GetPinned(cambium_t* db, const cambium_readoptions_t* options, ColumnFamilyHandle* family,
                                   Slice key, char** errptr) {
  std::unique_ptr<cambium_pinnableslice_t> value;
  Guarded(errptr, [&] {
    value = std::make_unique<cambium_pinnableslice_t>();
    Status status = db->rep->Get(options->rep, family, key, &value->rep);
    if (!status.ok()) value.reset();
    return UnlessAbsent(std::move(status));
  });
  return value.release();
}

// `family_of` returns the family of the i-th key; `take` receives each value found. If `take` runs out of memory, that
// key's error is set; if another step does, the error of every key is set.
template <typename FamilyOf, typename Take>
void MultiGet(cambium_t* db, const ReadOptions& options, FamilyOf&& family_of, std::size_t count,
              const char* const* keys, const size_t* key_lengths, char** errors, Take&& take) {
  std::fill_n(errors, count, nullptr);
  std::vector<Status> statuses;
  char* failed = nullptr;
  Guarded(&failed, [&] {
    std::vector<Slice> slices(count);
    for (std::size_t i = 0; i < count; ++i) slices[i] = Slice(keys[i], key_lengths[i]);
    std::vector<ColumnFamilyHandle*> handles(count);
    for (std::size_t i = 0; i < count; ++i) handles[i] = family_of(i);
    std::vector<PinnableSlice> values(count);
    statuses.resize(count);
    db->rep->MultiGet(options, count, handles.data(), slices.data(), values.data(), statuses.data());
    for (std::size_t i = 0; i < count; ++i) {
      Guarded(&errors[i], [&] {
        if (statuses[i].ok()) take(i, &values[i]);
        return UnlessAbsent(statuses[i]);
      });
    }
    return Status::OK();
  });
  if (failed == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (errors[i] == nullptr) SaveText(&errors[i], failed);
  }
  cambium_free(failed);
}

// Copies each value found into memory that the caller frees.
template <typename FamilyOf>
void CopyMany(cambium_t* db, const cambium_readoptions_t* options, FamilyOf&& family_of, std::size_t count,
              const char* const* keys, const size_t* key_lengths, char** values, size_t* value_lengths, char** errors) {
  std::fill_n(values, count, nullptr);
  std::fill_n(value_lengths, count, size_t{0});
  MultiGet(db, Copying(options), family_of, count, keys, key_lengths, errors, [&](size_t i, PinnableSlice* value) {
    values[i] = CopyBytes(*value);
    value_lengths[i] = value->size();
  });
}

}  // namespace

char* cambium_get(cambium_t* db, const cambium_readoptions_t* options, const char* key, size_t key_length,
                  size_t* value_length, char** errptr) {
  return Get(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_length), value_length, errptr);
}
char* cambium_get_cf(cambium_t* db, const cambium_readoptions_t* options, cambium_column_family_handle_t* family,
                     const char* key, size_t key_length, size_t* value_length, char** errptr) {
  return Get(db, options, RepOf(family), Slice(key, key_length), value_length, errptr);
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
  CopyMany(db, options, [family](std::size_t) { return family; }, num_keys, keys, key_lengths, values, value_lengths,
           errors);
}

void cambium_multi_get_cf(cambium_t* db, const cambium_readoptions_t* options,
                          const cambium_column_family_handle_t* const* families, size_t num_keys,
                          const char* const* keys, const size_t* key_lengths, char** values, size_t* value_lengths,
                          char** errors) {
  CopyMany(db, options, [families](std::size_t i) { return RepOf(families[i]); }, num_keys, keys, key_lengths, values,
           value_lengths, errors);
}

void cambium_batched_multi_get_cf(cambium_t* db, const cambium_readoptions_t* options,
                                  cambium_column_family_handle_t* family, size_t num_keys, const char* const* keys,
                                  const size_t* key_lengths, cambium_pinnableslice_t** values, char** errors,
                                  unsigned char /*sorted_input*/) {
  std::fill_n(values, num_keys, nullptr);
  MultiGet(db, options->rep, [family](std::size_t) { return RepOf(family); }, num_keys, keys, key_lengths, errors,
           [&](size_t i, PinnableSlice* value) { values[i] = new cambium_pinnableslice_t{std::move(*value)}; });
}
