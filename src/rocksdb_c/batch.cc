// Batches.
#include "rocksdb_c/batch.h"

#include "rocksdb_c/batch_format.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::Slice;
using cambium::Status;
using cambium::WriteBatch;

namespace {

template <typename Operation>
void AddTo(rocksdb_writebatch_t* batch, const rocksdb_column_family_handle_t* family, Operation operation) {
  static_cast<void>(family == nullptr ? batch->rep.Refuse(NullFamily()) : operation(family->rep));
}

void Refuse(rocksdb_writebatch_t* batch, const char* feature) { static_cast<void>(batch->rep.Refuse(Lacks(feature))); }

}  // namespace

extern "C" {

rocksdb_writebatch_t* rocksdb_writebatch_create() { return new rocksdb_writebatch_t; }
rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* bytes, size_t length) {
  auto batch = std::make_unique<rocksdb_writebatch_t>();
  // RocksDB looks at the bytes when they are written, and returns the error then.
  const Status read = DecodeBatch(Slice(bytes, length), &batch->rep);
  if (!read.ok()) static_cast<void>(batch->rep.Refuse(read));
  return batch.release();
}
rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(size_t reserved_bytes, size_t /*max_bytes*/,
                                                            size_t /*protection_bytes_per_key*/,
                                                            size_t /*timestamp_size*/) {
  return new rocksdb_writebatch_t{WriteBatch(reserved_bytes)};
}
void rocksdb_writebatch_destroy(rocksdb_writebatch_t* batch) { delete batch; }
void rocksdb_writebatch_clear(rocksdb_writebatch_t* batch) { batch->rep.Clear(); }
int rocksdb_writebatch_count(rocksdb_writebatch_t* batch) { return static_cast<int>(batch->rep.Count()); }
const char* rocksdb_writebatch_data(rocksdb_writebatch_t* batch, size_t* size) {
  // As long as the batch does not change, the pointer stays valid.
  if (std::string data = EncodeBatch(batch->rep); data != batch->data) batch->data = std::move(data);
  *size = batch->data.size();
  return batch->data.data();
}

// ---- Operations ----

void rocksdb_writebatch_put(rocksdb_writebatch_t* batch, const char* key, size_t key_length, const char* value,
                            size_t value_length) {
  static_cast<void>(batch->rep.Put(Slice(key, key_length), Slice(value, value_length)));
}
void rocksdb_writebatch_put_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family, const char* key,
                               size_t key_length, const char* value, size_t value_length) {
  AddTo(batch, family,
        [&](ColumnFamilyHandle* to) { return batch->rep.Put(to, Slice(key, key_length), Slice(value, value_length)); });
}
void rocksdb_writebatch_putv(rocksdb_writebatch_t* batch, int key_parts, const char* const* keys,
                             const size_t* key_sizes, int value_parts, const char* const* values,
                             const size_t* value_sizes) {
  static_cast<void>(batch->rep.Put(Joined(key_parts, keys, key_sizes), Joined(value_parts, values, value_sizes)));
}
void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family, int key_parts,
                                const char* const* keys, const size_t* key_sizes, int value_parts,
                                const char* const* values, const size_t* value_sizes) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep.Put(to, Joined(key_parts, keys, key_sizes), Joined(value_parts, values, value_sizes));
  });
}
void rocksdb_writebatch_delete(rocksdb_writebatch_t* batch, const char* key, size_t key_length) {
  static_cast<void>(batch->rep.Delete(Slice(key, key_length)));
}
void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family, const char* key,
                                  size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep.Delete(to, Slice(key, key_length)); });
}
void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* batch, const char* key, size_t key_length) {
  static_cast<void>(batch->rep.SingleDelete(Slice(key, key_length)));
}
void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family,
                                        const char* key, size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep.SingleDelete(to, Slice(key, key_length)); });
}
void rocksdb_writebatch_deletev(rocksdb_writebatch_t* batch, int parts, const char* const* keys, const size_t* sizes) {
  static_cast<void>(batch->rep.Delete(Joined(parts, keys, sizes)));
}
void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family, int parts,
                                   const char* const* keys, const size_t* sizes) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep.Delete(to, Joined(parts, keys, sizes)); });
}
void rocksdb_writebatch_delete_range(rocksdb_writebatch_t* batch, const char* start, size_t start_length,
                                     const char* end, size_t end_length) {
  static_cast<void>(batch->rep.DeleteRange(Slice(start, start_length), Slice(end, end_length)));
}
void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family,
                                        const char* start, size_t start_length, const char* end, size_t end_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep.DeleteRange(to, Slice(start, start_length), Slice(end, end_length));
  });
}
void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t* batch, int parts, const char* const* starts,
                                      const size_t* start_sizes, const char* const* ends, const size_t* end_sizes) {
  static_cast<void>(batch->rep.DeleteRange(Joined(parts, starts, start_sizes), Joined(parts, ends, end_sizes)));
}
void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family, int parts,
                                         const char* const* starts, const size_t* start_sizes, const char* const* ends,
                                         const size_t* end_sizes) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep.DeleteRange(to, Joined(parts, starts, start_sizes), Joined(parts, ends, end_sizes));
  });
}

// The batch refuses these operations: a later write of the batch fails with the reason.
void rocksdb_writebatch_merge(rocksdb_writebatch_t* batch, const char* /*key*/, size_t /*key_length*/,
                              const char* /*value*/, size_t /*value_length*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* /*family*/,
                                 const char* /*key*/, size_t /*key_length*/, const char* /*value*/,
                                 size_t /*value_length*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_mergev(rocksdb_writebatch_t* batch, int /*key_parts*/, const char* const* /*keys*/,
                               const size_t* /*key_sizes*/, int /*value_parts*/, const char* const* /*values*/,
                               const size_t* /*value_sizes*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* /*family*/,
                                  int /*key_parts*/, const char* const* /*keys*/, const size_t* /*key_sizes*/,
                                  int /*value_parts*/, const char* const* /*values*/, const size_t* /*value_sizes*/) {
  Refuse(batch, "Merge");
}
void rocksdb_writebatch_put_cf_with_ts(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* /*family*/,
                                       const char* /*key*/, size_t /*key_length*/, const char* /*timestamp*/,
                                       size_t /*timestamp_length*/, const char* /*value*/, size_t /*value_length*/) {
  Refuse(batch, "a put with a timestamp");
}
void rocksdb_writebatch_delete_cf_with_ts(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* /*family*/,
                                          const char* /*key*/, size_t /*key_length*/, const char* /*timestamp*/,
                                          size_t /*timestamp_length*/) {
  Refuse(batch, "a delete with a timestamp");
}
void rocksdb_writebatch_singledelete_cf_with_ts(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* /*family*/,
                                                const char* /*key*/, size_t /*key_length*/, const char* /*timestamp*/,
                                                size_t /*timestamp_length*/) {
  Refuse(batch, "a delete with a timestamp");
}
void rocksdb_writebatch_update_timestamps(rocksdb_writebatch_t* /*batch*/, const char* /*timestamp*/,
                                          size_t /*timestamp_length*/, void* /*state*/,
                                          size_t (* /*get_timestamp_size*/)(void*, uint32_t), char** errptr) {
  Lack(errptr, "timestamps");
}
// Does nothing: the bytes are only for readers of the log, and this version has no such readers.
void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* /*batch*/, const char* /*bytes*/, size_t /*length*/) {}

// ---- Save points ----

void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* batch) { batch->rep.SetSavePoint(); }
void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep.RollbackToSavePoint(); });
}
void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep.PopSavePoint(); });
}
void rocksdb_writebatch_verify_checksum(rocksdb_writebatch_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep.status(); });
}

// ---- Iteration ----

void rocksdb_writebatch_iterate(rocksdb_writebatch_t* batch, void* state,
                                void (*put)(void*, const char* key, size_t key_length, const char* value,
                                            size_t value_length),
                                void (*deleted)(void*, const char* key, size_t key_length)) {
  Teller(state, put, deleted).Tell(batch->rep);
}
void rocksdb_writebatch_iterate_ld(rocksdb_writebatch_t* batch, void* state,
                                   void (*put)(void*, const char* key, size_t key_length, const char* value,
                                               size_t value_length),
                                   void (*deleted)(void*, const char* key, size_t key_length),
                                   void (* /*log_data*/)(void*, const char* bytes, size_t length)) {
  Teller(state, put, deleted).Tell(batch->rep);
}
void rocksdb_writebatch_iterate_cf(rocksdb_writebatch_t* batch, void* state,
                                   void (*put_cf)(void*, uint32_t family, const char* key, size_t key_length,
                                                  const char* value, size_t value_length),
                                   void (*deleted_cf)(void*, uint32_t family, const char* key, size_t key_length),
                                   void (* /*merge_cf*/)(void*, uint32_t family, const char* key, size_t key_length,
                                                         const char* value, size_t value_length)) {
  Teller(state, put_cf, deleted_cf).Tell(batch->rep);
}
void rocksdb_writebatch_iterate_cf_ld(rocksdb_writebatch_t* batch, void* state,
                                      void (*put_cf)(void*, uint32_t family, const char* key, size_t key_length,
                                                     const char* value, size_t value_length),
                                      void (*deleted_cf)(void*, uint32_t family, const char* key, size_t key_length),
                                      void (* /*merge_cf*/)(void*, uint32_t family, const char* key, size_t key_length,
                                                            const char* value, size_t value_length),
                                      void (* /*log_data*/)(void*, const char* bytes, size_t length)) {
  Teller(state, put_cf, deleted_cf).Tell(batch->rep);
}

}  // extern "C"
