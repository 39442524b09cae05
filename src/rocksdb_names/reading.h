// What the reads of databases, of batches with an index and of transactions have in common.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/call_options.h"
#include "cambium/rocksdb_names/rocksdb/iterator.h"
#include "cambium/rocksdb_names/rocksdb/slice.h"
#include "cambium/rocksdb_names/rocksdb/status.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {

struct Reading {
  // NotSupported for an option whose meaning would be lost.
  static Status Check(const ReadOptions& options);
  // An iterator whose status() is `error`.
  static Iterator* NewErrorIterator(Status error);

  // Reads a value by get(p), where p is a pointer to a string or to a PinnableSlice of Cambium.
  template <typename Get>
  static Status Into(PinnableSlice* value, const Get& get) {
    if (value->buffer_ == nullptr) {
      Status read = get(&value->held_);
      value->Slice::operator=(value->held_);
      return read;
    }
    value->Reset();
    CAMBIUM_RETURN_IF_ERROR(get(value->buffer_));
    value->PinSelf();
    return Status::OK();
  }

  // Reads many values by get(p), where p points to the first of `count` PinnableSlices of Cambium. `get` sets
  // `statuses`.
  template <typename Get>
  static void Many(const ReadOptions& options, std::size_t count, PinnableSlice* values, Status* statuses,
                   const Get& get) {
    if (const Status checked = Check(options); !checked.ok()) {
      for (std::size_t i = 0; i < count; ++i) statuses[i] = checked;
      return;
    }
    std::vector<cambium::PinnableSlice> read(count);
    get(read.data());
    for (std::size_t i = 0; i < count; ++i) {
      if (statuses[i].ok()) {
        values[i].Take(std::move(read[i]));
      } else {
        values[i].Reset();
      }
    }
  }
};

}  // namespace rocksdb::inline on_cambium
