// Lookups as C interfaces return them: values in memory of the caller's, and an error for each key. Both C interfaces
// use it. `Guarded` says what happens if memory runs out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "c/wrappers.h"

namespace cambium::c {

// A missing key is not an error in a C interface: the result is not set.
inline Status UnlessAbsent(Status status) { return status.IsNotFound() ? Status::OK() : status; }

// `get` sets a PinnableSlice and returns a Status, as DB::Get does. Returns a copy that the caller frees; null if the
// key is missing, or after an error.
template <typename Get>
char* CopyOf(Get&& get, std::size_t* value_length, char** errptr) {
  char* copy = nullptr;
  *value_length = 0;
  Guarded(errptr, [&] {
    PinnableSlice value;
    Status status = get(&value);
    if (status.ok()) {
      copy = CopyBytes(value);
      *value_length = value.size();
    }
    return UnlessAbsent(std::move(status));
  });
  return copy;
}

// As CopyOf, but returns a Pinned: an object of the C interface that owns a PinnableSlice `rep`.
template <typename Pinned, typename Get>
Pinned* PinnedOf(Get&& get, char** errptr) {
  std::unique_ptr<Pinned> value;
  Guarded(errptr, [&] {
    value = std::make_unique<Pinned>();
    Status status = get(&value->rep);
    if (!status.ok()) value.reset();
    return UnlessAbsent(std::move(status));
  });
  return value.release();
}

// `get` takes the buffer, sets the size of the value, and returns a Status, as DB::GetInto does. Sets *found to whether
// the key exists; returns whether its value is in the buffer.
template <typename Get>
unsigned char GetInto(Get&& get, char* buffer, std::size_t buffer_size, std::size_t* value_length,
                      unsigned char* found, char** errptr) {
  *value_length = 0;
  *found = 0;
  Guarded(errptr, [&] {
    Status status = get(std::span<char>(buffer, buffer_size), value_length);
    *found = Truth(status.ok());
    return UnlessAbsent(std::move(status));
  });
  return Truth(*found != 0 && *value_length <= buffer_size);
}

// `family_of` and `key_of` return the family of the i-th key, and the key; `take` receives each value found; `worded`
// returns an error as the interface words it. If `take` runs out of memory, the error of its key is set. If memory runs
// out elsewhere, the error of every key is set that has none.
template <typename FamilyOf, typename KeyOf, typename Take>
void MultiGet(DB& db, const ReadOptions& options, FamilyOf&& family_of, KeyOf&& key_of, std::size_t count,
              char** errors, Take&& take, Status (*worded)(Status) = nullptr) {
  std::fill_n(errors, count, nullptr);
  char* failed = nullptr;
  Guarded(&failed, [&] {
    std::vector<Slice> slices(count);
    for (std::size_t i = 0; i < count; ++i) slices[i] = key_of(i);
    std::vector<ColumnFamilyHandle*> handles(count);
    for (std::size_t i = 0; i < count; ++i) handles[i] = family_of(i);
    std::vector<PinnableSlice> values(count);
    std::vector<Status> statuses(count);
    db.MultiGet(options, count, handles.data(), slices.data(), values.data(), statuses.data());
    for (std::size_t i = 0; i < count; ++i) {
      Guarded(&errors[i], [&] {
        if (statuses[i].ok()) take(i, &values[i]);
        Status status = UnlessAbsent(std::move(statuses[i]));
        return worded == nullptr ? status : worded(std::move(status));
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
void CopyMany(DB& db, const ReadOptions& options, FamilyOf&& family_of, std::size_t count, const char* const* keys,
              const std::size_t* key_lengths, char** values, std::size_t* value_lengths, char** errors,
              Status (*worded)(Status) = nullptr) {
  std::fill_n(values, count, nullptr);
  std::fill_n(value_lengths, count, std::size_t{0});
  const auto key_of = [&](std::size_t i) { return Slice(keys[i], key_lengths[i]); };
  const auto take = [&](std::size_t i, PinnableSlice* value) {
    values[i] = CopyBytes(*value);
    value_lengths[i] = value->size();
  };
  MultiGet(db, options, family_of, key_of, count, errors, take, worded);
}

}  // namespace cambium::c
