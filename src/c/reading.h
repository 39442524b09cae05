// Lookups as C interfaces return them: values in memory of the caller's, and an error for each key. Both C interfaces
// use it. `Guarded` says what happens if memory runs out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "c/wrappers.h"

namespace cambium::c {

// A missing key is not an error in a C interface: the result is then not set.
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

// The same. Pinned: an object of the C interface that owns a PinnableSlice `rep`.
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

inline char* GetCopy(DB& db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                     std::size_t* value_length, char** errptr) {
  return CopyOf([&](PinnableSlice* value) { return db.Get(options, family, key, value); }, value_length, errptr);
}
template <typename Pinned>
Pinned* GetPinned(DB& db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key, char** errptr) {
  return PinnedOf<Pinned>([&](PinnableSlice* value) { return db.Get(options, family, key, value); }, errptr);
}

// `family_of` and `key_of` return the family of the i-th key, and the key; `take` receives each value found. If `take`
// runs out of memory, that key's error is set; if another step does, the error of every key is set.
template <typename FamilyOf, typename KeyOf, typename Take>
void MultiGet(DB& db, const ReadOptions& options, FamilyOf&& family_of, KeyOf&& key_of, std::size_t count,
              char** errors, Take&& take) {
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
void CopyMany(DB& db, const ReadOptions& options, FamilyOf&& family_of, std::size_t count, const char* const* keys,
              const std::size_t* key_lengths, char** values, std::size_t* value_lengths, char** errors) {
  std::fill_n(values, count, nullptr);
  std::fill_n(value_lengths, count, std::size_t{0});
  const auto key_of = [&](std::size_t i) { return Slice(keys[i], key_lengths[i]); };
  MultiGet(db, options, family_of, key_of, count, errors, [&](std::size_t i, PinnableSlice* value) {
    values[i] = CopyBytes(*value);
    value_lengths[i] = value->size();
  });
}

}  // namespace cambium::c
