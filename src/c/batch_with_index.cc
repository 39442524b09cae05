// Batches with an index. A batch that did not take an operation cannot be written, and lookups in it fail: they would
// give the answer without the operation.
#include <utility>

#include "c/reading.h"
#include "c/transactions.h"
#include "read/empty_iterator.h"

using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::ReadOptions;
using cambium::Slice;
using cambium::Status;
using cambium::WriteBatch;
using cambium::WriteBatchWithIndex;
using cambium::c::CopyOf;
using cambium::c::FamilyArgument;
using cambium::c::ForCopies;
using cambium::c::Guarded;
using cambium::c::PinnedOf;

namespace {

// A batch that owns its operations. The batch of a transaction is not one of these: the transaction owns it.
struct OwnBatch : cambium_writebatch_wi_t {
  explicit OwnBatch(WriteBatchWithIndex its_batch) : cambium_writebatch_wi_t{&own}, own(std::move(its_batch)) {}
  OwnBatch(const OwnBatch&) = delete;
  OwnBatch& operator=(const OwnBatch&) = delete;
  WriteBatchWithIndex own;
};

// Marks the batch as refusing after any error. C++ does not do this for an operation that would make the batch too
// large, but returns the error; the functions here cannot return it.
void Keep(cambium_writebatch_wi_t* batch, Status added) {
  if (!added.ok()) static_cast<void>(batch->rep->GetWriteBatch()->Refuse(std::move(added)));
}
template <typename Operation>
void AddTo(cambium_writebatch_wi_t* batch, const cambium_column_family_handle_t* family, Operation operation) {
  Keep(batch, FamilyArgument(family).Do(operation));
}

// Calls `call` with the batch; returns an error if there is none, or if it has refused an operation.
template <typename Call>
Status WithWhole(cambium_writebatch_wi_t* batch, Call call) {
  if (batch == nullptr) return Status::InvalidArgument("the write batch is NULL");
  if (Status status = batch->rep->GetWriteBatch()->status(); !status.ok()) return status;
  return call(*batch->rep);
}

auto BatchGetter(cambium_writebatch_wi_t* batch, FamilyArgument family, Slice key) {
  return [=](PinnableSlice* value) {
    return WithWhole(batch, [&](WriteBatchWithIndex& its) {
      return family.Do([&](ColumnFamilyHandle* handle) {
        std::string found;
        Status status = its.GetFromBatch(handle, cambium::DBOptions(), key, &found);
        if (status.ok()) value->PinSelf(found);
        return status;
      });
    });
  };
}

auto BothGetter(cambium_writebatch_wi_t* batch, cambium_t* db, const ReadOptions& read, FamilyArgument family,
                Slice key) {
  return [=](PinnableSlice* value) {
    return WithWhole(batch, [&](WriteBatchWithIndex& its) {
      return family.Do([&](ColumnFamilyHandle* handle) {
        return its.GetFromBatchAndDB(db->rep.get(), read, handle, key, value);
      });
    });
  };
}

// Returns an iterator that shows what `base` shows, and the batch's operations of the family. It owns `base`.
cambium_iterator_t* Above(cambium_iterator_t* base, cambium_writebatch_wi_t* batch, FamilyArgument family,
                          const cambium_readoptions_t* options) {
  std::unique_ptr<cambium_iterator_t> owned(base);
  const Status checked = WithWhole(batch, [&](WriteBatchWithIndex&) { return family.Check(); });
  if (!checked.ok()) {
    owned->rep = std::make_unique<cambium::EmptyIterator>(checked);
  } else {
    owned->rep.reset(batch->rep->NewIteratorWithBase(family.handle(), owned->rep.release(),
                                                     options == nullptr ? nullptr : &options->rep));
  }
  return owned.release();
}

class IndexedTeller final : public WriteBatch::Handler {
 public:
  using PutCallback = void (*)(void*, const char*, size_t, const char*, size_t);
  using DeleteCallback = void (*)(void*, const char*, size_t);
  IndexedTeller(void* state, PutCallback put, DeleteCallback deleted) : state_(state), put_(put), deleted_(deleted) {}
  Status Put(Slice key, Slice value) override {
    put_(state_, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }
  Status Delete(Slice key) override {
    deleted_(state_, key.data(), key.size());
    return Status::OK();
  }

 private:
  void* state_;
  PutCallback put_;
  DeleteCallback deleted_;
};

}  // namespace

cambium_writebatch_wi_t* cambium_writebatch_wi_create(size_t reserved_bytes, unsigned char overwrite_key) {
  return new OwnBatch(WriteBatchWithIndex(cambium::BytewiseComparator(), reserved_bytes, overwrite_key != 0));
}
cambium_writebatch_wi_t* cambium_writebatch_wi_create_with_params(const cambium_comparator_t* comparator,
                                                                  size_t reserved_bytes, unsigned char overwrite_key,
                                                                  size_t max_bytes) {
  const cambium::Comparator* const order = comparator == nullptr ? cambium::BytewiseComparator() : comparator->rep;
  return new OwnBatch(WriteBatchWithIndex(order, reserved_bytes, overwrite_key != 0, max_bytes));
}
void cambium_writebatch_wi_destroy(cambium_writebatch_wi_t* batch) { delete static_cast<OwnBatch*>(batch); }
void cambium_writebatch_wi_clear(cambium_writebatch_wi_t* batch) { batch->rep->Clear(); }
int cambium_writebatch_wi_count(const cambium_writebatch_wi_t* batch) {
  return static_cast<int>(batch->rep->GetWriteBatch()->Count());
}
const char* cambium_writebatch_wi_data(const cambium_writebatch_wi_t* batch, size_t* size) {
  const std::string& data = batch->rep->GetWriteBatch()->Data();
  *size = data.size();
  return data.data();
}

// ---- Operations ----

void cambium_writebatch_wi_put(cambium_writebatch_wi_t* batch, const char* key, size_t key_length, const char* value,
                               size_t value_length) {
  Keep(batch, batch->rep->Put(Slice(key, key_length), Slice(value, value_length)));
}
void cambium_writebatch_wi_put_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                  const char* key, size_t key_length, const char* value, size_t value_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep->Put(to, Slice(key, key_length), Slice(value, value_length));
  });
}
void cambium_writebatch_wi_delete(cambium_writebatch_wi_t* batch, const char* key, size_t key_length) {
  Keep(batch, batch->rep->Delete(Slice(key, key_length)));
}
void cambium_writebatch_wi_delete_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                     const char* key, size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep->Delete(to, Slice(key, key_length)); });
}
void cambium_writebatch_wi_singledelete(cambium_writebatch_wi_t* batch, const char* key, size_t key_length) {
  Keep(batch, batch->rep->SingleDelete(Slice(key, key_length)));
}
void cambium_writebatch_wi_singledelete_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                           const char* key, size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep->SingleDelete(to, Slice(key, key_length)); });
}
void cambium_writebatch_wi_delete_range(cambium_writebatch_wi_t* batch, const char* start, size_t start_length,
                                        const char* end, size_t end_length) {
  Keep(batch, batch->rep->DeleteRange(Slice(start, start_length), Slice(end, end_length)));
}
void cambium_writebatch_wi_delete_range_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                           const char* start, size_t start_length, const char* end,
                                           size_t end_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep->DeleteRange(to, Slice(start, start_length), Slice(end, end_length));
  });
}

// ---- Save points, iteration, writing ----

void cambium_writebatch_wi_set_save_point(cambium_writebatch_wi_t* batch) { batch->rep->SetSavePoint(); }
void cambium_writebatch_wi_rollback_to_save_point(cambium_writebatch_wi_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep->RollbackToSavePoint(); });
}
void cambium_writebatch_wi_pop_save_point(cambium_writebatch_wi_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep->PopSavePoint(); });
}
void cambium_writebatch_wi_iterate(const cambium_writebatch_wi_t* batch, void* state,
                                   void (*put)(void* state, const char* key, size_t key_length, const char* value,
                                               size_t value_length),
                                   void (*deleted)(void* state, const char* key, size_t key_length)) {
  IndexedTeller teller(state, put, deleted);
  static_cast<void>(batch->rep->GetWriteBatch()->Iterate(&teller));
}
void cambium_write_writebatch_wi(cambium_t* db, const cambium_writeoptions_t* options, cambium_writebatch_wi_t* batch,
                                 char** errptr) {
  Guarded(errptr, [&] {
    return db->rep->Write(options->rep, batch == nullptr ? nullptr : batch->rep->GetWriteBatch());
  });
}

// ---- Lookups ----

char* cambium_writebatch_wi_get_from_batch(cambium_writebatch_wi_t* batch, const cambium_options_t* /*options*/,
                                           const char* key, size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(BatchGetter(batch, FamilyArgument(), Slice(key, key_length)), value_length, errptr);
}
char* cambium_writebatch_wi_get_from_batch_cf(cambium_writebatch_wi_t* batch, const cambium_options_t* /*options*/,
                                              cambium_column_family_handle_t* family, const char* key,
                                              size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(BatchGetter(batch, FamilyArgument(family), Slice(key, key_length)), value_length, errptr);
}
char* cambium_writebatch_wi_get_from_batch_and_db(cambium_writebatch_wi_t* batch, cambium_t* db,
                                                  const cambium_readoptions_t* options, const char* key,
                                                  size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(BothGetter(batch, db, ForCopies(options), FamilyArgument(), Slice(key, key_length)), value_length,
                errptr);
}
char* cambium_writebatch_wi_get_from_batch_and_db_cf(cambium_writebatch_wi_t* batch, cambium_t* db,
                                                     const cambium_readoptions_t* options,
                                                     cambium_column_family_handle_t* family, const char* key,
                                                     size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(BothGetter(batch, db, ForCopies(options), FamilyArgument(family), Slice(key, key_length)), value_length,
                errptr);
}
cambium_pinnableslice_t* cambium_writebatch_wi_get_pinned_from_batch_and_db(cambium_writebatch_wi_t* batch,
                                                                            cambium_t* db,
                                                                            const cambium_readoptions_t* options,
                                                                            const char* key, size_t key_length,
                                                                            char** errptr) {
  return PinnedOf<cambium_pinnableslice_t>(
      BothGetter(batch, db, options->rep, FamilyArgument(), Slice(key, key_length)), errptr);
}
cambium_pinnableslice_t* cambium_writebatch_wi_get_pinned_from_batch_and_db_cf(
    cambium_writebatch_wi_t* batch, cambium_t* db, const cambium_readoptions_t* options,
    cambium_column_family_handle_t* family, const char* key, size_t key_length, char** errptr) {
  return PinnedOf<cambium_pinnableslice_t>(
      BothGetter(batch, db, options->rep, FamilyArgument(family), Slice(key, key_length)), errptr);
}

// ---- Iterators ----

cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base(cambium_writebatch_wi_t* batch,
                                                                    cambium_iterator_t* base_iterator) {
  return Above(base_iterator, batch, FamilyArgument(), nullptr);
}
cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base_readopts(cambium_writebatch_wi_t* batch,
                                                                             cambium_iterator_t* base_iterator,
                                                                             const cambium_readoptions_t* options) {
  return Above(base_iterator, batch, FamilyArgument(), options);
}
cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base_cf(cambium_writebatch_wi_t* batch,
                                                                       cambium_iterator_t* base_iterator,
                                                                       cambium_column_family_handle_t* family) {
  return Above(base_iterator, batch, FamilyArgument(family), nullptr);
}
cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base_cf_readopts(cambium_writebatch_wi_t* batch,
                                                                                cambium_iterator_t* base_iterator,
                                                                                cambium_column_family_handle_t* family,
                                                                                const cambium_readoptions_t* options) {
  return Above(base_iterator, batch, FamilyArgument(family), options);
}
