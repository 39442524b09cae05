// Batches with an index. A batch that did not take an operation cannot be written, and lookups in it fail: they would
// give the answer without the operation.
#include "c/reading.h"
#include "rocksdb_c/batch.h"
#include "rocksdb_c/batch_format.h"
#include "rocksdb_c/iterator.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::Slice;
using cambium::Status;
using cambium::WriteBatchWithIndex;
using cambium::c::CopyOf;
using cambium::c::PinnedOf;

namespace {

struct OwnBatch : rocksdb_writebatch_wi_t {
  explicit OwnBatch(WriteBatchWithIndex its_batch)
      : rocksdb_writebatch_wi_t{&own, &own_data}, own(std::move(its_batch)) {}
  OwnBatch(const OwnBatch&) = delete;
  OwnBatch& operator=(const OwnBatch&) = delete;
  WriteBatchWithIndex own;
  std::string own_data;
};

// Marks the batch as refusing after any error. C++ does not do this for an operation that would make the batch too
// large, but returns the error; the functions here cannot return it.
void Keep(rocksdb_writebatch_wi_t* batch, Status added) {
  if (!added.ok()) static_cast<void>(batch->rep->GetWriteBatch()->Refuse(std::move(added)));
}
template <typename Operation>
void AddTo(rocksdb_writebatch_wi_t* batch, const rocksdb_column_family_handle_t* family, Operation operation) {
  Keep(batch, family == nullptr ? NullFamily() : operation(family->rep));
}
void Refuse(rocksdb_writebatch_wi_t* batch, const char* feature) { Keep(batch, Lacks(feature)); }

Status GetFromBatch(rocksdb_writebatch_wi_t* batch, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) {
  CAMBIUM_RETURN_IF_ERROR(batch->rep->GetWriteBatch()->status());
  std::string found;
  CAMBIUM_RETURN_IF_ERROR(batch->rep->GetFromBatch(family, cambium::DBOptions(), key, &found));
  value->PinSelf(found);
  return Status::OK();
}

Status GetFromBoth(rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
                   ColumnFamilyHandle* family, Slice key, PinnableSlice* value) {
  CAMBIUM_RETURN_IF_ERROR(batch->rep->GetWriteBatch()->status());
  return Worded(batch->rep->GetFromBatchAndDB(db->rep.get(), options->Rep(), family, key, value));
}

// Adds the batch's operations of the family (null: the default family) to what `base` shows, and returns `base`.
rocksdb_iterator_t* Above(rocksdb_iterator_t* base, rocksdb_writebatch_wi_t* batch, ColumnFamilyHandle* family,
                          const rocksdb_readoptions_t* options) {
  base->AddBatch(batch->rep, family, options);
  return base;
}
rocksdb_iterator_t* AboveCf(rocksdb_iterator_t* base, rocksdb_writebatch_wi_t* batch,
                            const rocksdb_column_family_handle_t* family, const rocksdb_readoptions_t* options) {
  if (family != nullptr) return Above(base, batch, family->rep, options);
  delete base;
  return NewErrorIterator(NullFamily());
}

}  // namespace

extern "C" {

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(size_t reserved_bytes, unsigned char overwrite_key) {
  return new OwnBatch(WriteBatchWithIndex(cambium::BytewiseComparator(), reserved_bytes, overwrite_key != 0));
}
rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(rocksdb_comparator_t* comparator,
                                                                  size_t reserved_bytes, unsigned char overwrite_key,
                                                                  size_t max_bytes,
                                                                  size_t /*protection_bytes_per_key*/) {
  const cambium::Comparator* const order =
      comparator == nullptr ? cambium::BytewiseComparator() : comparator->rep.get();
  return new OwnBatch(WriteBatchWithIndex(order, reserved_bytes, overwrite_key != 0, max_bytes));
}
void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t* batch) { delete static_cast<OwnBatch*>(batch); }
void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t* batch) { batch->rep->Clear(); }
int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t* batch) {
  return static_cast<int>(batch->rep->GetWriteBatch()->Count());
}
const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t* batch, size_t* size) {
  // As long as the batch does not change, the pointer stays valid.
  std::string data = EncodeBatch(*batch->rep->GetWriteBatch());
  if (data != *batch->data) *batch->data = std::move(data);
  *size = batch->data->size();
  return batch->data->data();
}

// ---- Operations ----

void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t* batch, const char* key, size_t key_length, const char* value,
                               size_t value_length) {
  Keep(batch, batch->rep->Put(Slice(key, key_length), Slice(value, value_length)));
}
void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family,
                                  const char* key, size_t key_length, const char* value, size_t value_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep->Put(to, Slice(key, key_length), Slice(value, value_length));
  });
}
void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t* batch, int key_parts, const char* const* keys,
                                const size_t* key_sizes, int value_parts, const char* const* values,
                                const size_t* value_sizes) {
  Keep(batch, batch->rep->Put(Joined(key_parts, keys, key_sizes), Joined(value_parts, values, value_sizes)));
}
void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family,
                                   int key_parts, const char* const* keys, const size_t* key_sizes, int value_parts,
                                   const char* const* values, const size_t* value_sizes) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep->Put(to, Joined(key_parts, keys, key_sizes), Joined(value_parts, values, value_sizes));
  });
}
void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t* batch, const char* key, size_t key_length) {
  Keep(batch, batch->rep->Delete(Slice(key, key_length)));
}
void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family,
                                     const char* key, size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep->Delete(to, Slice(key, key_length)); });
}
void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t* batch, const char* key, size_t key_length) {
  Keep(batch, batch->rep->SingleDelete(Slice(key, key_length)));
}
void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family,
                                           const char* key, size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep->SingleDelete(to, Slice(key, key_length)); });
}
void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t* batch, int parts, const char* const* keys,
                                   const size_t* sizes) {
  Keep(batch, batch->rep->Delete(Joined(parts, keys, sizes)));
}
void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family, int parts,
                                      const char* const* keys, const size_t* sizes) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep->Delete(to, Joined(parts, keys, sizes)); });
}
void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t* batch, const char* start, size_t start_length,
                                        const char* end, size_t end_length) {
  Keep(batch, batch->rep->DeleteRange(Slice(start, start_length), Slice(end, end_length)));
}
void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family,
                                           const char* start, size_t start_length, const char* end, size_t end_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep->DeleteRange(to, Slice(start, start_length), Slice(end, end_length));
  });
}
void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t* batch, int parts, const char* const* starts,
                                         const size_t* start_sizes, const char* const* ends, const size_t* end_sizes) {
  Keep(batch, batch->rep->DeleteRange(Joined(parts, starts, start_sizes), Joined(parts, ends, end_sizes)));
}
void rocksdb_writebatch_wi_delete_rangev_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family,
                                            int parts, const char* const* starts, const size_t* start_sizes,
                                            const char* const* ends, const size_t* end_sizes) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep->DeleteRange(to, Joined(parts, starts, start_sizes), Joined(parts, ends, end_sizes));
  });
}

// These operations are refused: a later write of the batch fails with the reason.
void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t* batch, const char* /*key*/, size_t /*key_length*/,
                                 const char* /*value*/, size_t /*value_length*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* /*family*/,
                                    const char* /*key*/, size_t /*key_length*/, const char* /*value*/,
                                    size_t /*value_length*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t* batch, int /*key_parts*/, const char* const* /*keys*/,
                                  const size_t* /*key_sizes*/, int /*value_parts*/, const char* const* /*values*/,
                                  const size_t* /*value_sizes*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* /*family*/,
                                     int /*key_parts*/, const char* const* /*keys*/, const size_t* /*key_sizes*/,
                                     int /*value_parts*/, const char* const* /*values*/,
                                     const size_t* /*value_sizes*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_wi_update_timestamps(rocksdb_writebatch_wi_t* /*batch*/, const char* /*timestamp*/,
                                             size_t /*timestamp_length*/, void* /*state*/,
                                             size_t (* /*get_timestamp_size*/)(void*, uint32_t), char** errptr) {
  Lack(errptr, "timestamps");
}
// Does nothing: the bytes are only for readers of the log, and this version has no such readers.
void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t* /*batch*/, const char* /*bytes*/, size_t /*length*/) {}

// ---- Save points, iteration, writing ----

void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t* batch) { batch->rep->SetSavePoint(); }
void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep->RollbackToSavePoint(); });
}
void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t* batch, void* state,
                                   void (*put)(void*, const char* key, size_t key_length, const char* value,
                                               size_t value_length),
                                   void (*deleted)(void*, const char* key, size_t key_length)) {
  Teller(state, put, deleted).Tell(*batch->rep->GetWriteBatch());
}
void rocksdb_write_writebatch_wi(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_writebatch_wi_t* batch,
                                 char** errptr) {
  Guarded(errptr, [&] { return db->rep->Write(options->Rep(), batch->rep->GetWriteBatch()); });
}

// ---- Lookups ----

char* rocksdb_writebatch_wi_get_from_batch(rocksdb_writebatch_wi_t* batch, const rocksdb_options_t* /*options*/,
                                           const char* key, size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf([&](PinnableSlice* value) { return GetFromBatch(batch, nullptr, Slice(key, key_length), value); },
                value_length, errptr);
}
char* rocksdb_writebatch_wi_get_from_batch_cf(rocksdb_writebatch_wi_t* batch, const rocksdb_options_t* /*options*/,
                                              rocksdb_column_family_handle_t* family, const char* key,
                                              size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(
      [&](PinnableSlice* value) {
        return family == nullptr ? NullFamily() : GetFromBatch(batch, family->rep, Slice(key, key_length), value);
      },
      value_length, errptr);
}
char* rocksdb_writebatch_wi_get_from_batch_and_db(rocksdb_writebatch_wi_t* batch, rocksdb_t* db,
                                                  const rocksdb_readoptions_t* options, const char* key,
                                                  size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(
      [&](PinnableSlice* value) { return GetFromBoth(batch, db, options, nullptr, Slice(key, key_length), value); },
      value_length, errptr);
}
char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(rocksdb_writebatch_wi_t* batch, rocksdb_t* db,
                                                     const rocksdb_readoptions_t* options,
                                                     rocksdb_column_family_handle_t* family, const char* key,
                                                     size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(
      [&](PinnableSlice* value) {
        return family == nullptr ? NullFamily()
                                 : GetFromBoth(batch, db, options, family->rep, Slice(key, key_length), value);
      },
      value_length, errptr);
}
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(rocksdb_writebatch_wi_t* batch,
                                                                            rocksdb_t* db,
                                                                            const rocksdb_readoptions_t* options,
                                                                            const char* key, size_t key_length,
                                                                            char** errptr) {
  return PinnedOf<rocksdb_pinnableslice_t>(
      [&](PinnableSlice* value) { return GetFromBoth(batch, db, options, nullptr, Slice(key, key_length), value); },
      errptr);
}
rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t key_length, char** errptr) {
  return PinnedOf<rocksdb_pinnableslice_t>(
      [&](PinnableSlice* value) {
        return family == nullptr ? NullFamily()
                                 : GetFromBoth(batch, db, options, family->rep, Slice(key, key_length), value);
      },
      errptr);
}

// ---- Iterators. They take over `base`, and the bounds of `options`, if there are any, hold for the batch ----

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(rocksdb_writebatch_wi_t* batch,
                                                                    rocksdb_iterator_t* base) {
  return Above(base, batch, nullptr, nullptr);
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(rocksdb_writebatch_wi_t* batch,
                                                                             rocksdb_iterator_t* base,
                                                                             const rocksdb_readoptions_t* options) {
  return Above(base, batch, nullptr, options);
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(rocksdb_writebatch_wi_t* batch,
                                                                       rocksdb_iterator_t* base,
                                                                       rocksdb_column_family_handle_t* family) {
  return AboveCf(base, batch, family, nullptr);
}
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(rocksdb_writebatch_wi_t* batch,
                                                                                rocksdb_iterator_t* base,
                                                                                rocksdb_column_family_handle_t* family,
                                                                                const rocksdb_readoptions_t* options) {
  return AboveCf(base, batch, family, options);
}

}  // extern "C"
