#include "c/wrappers.h"

using cambium::ColumnFamilyHandle;
using cambium::Slice;
using cambium::Status;
using cambium::WriteBatch;
using cambium::c::Guarded;

namespace {

// Adds an operation of a family. In C++ a null family in a batch means the default one. Here a null is more likely a
// family that was not created, so it is an error.
template <typename Operation>
void AddTo(cambium_writebatch_t* batch, const cambium_column_family_handle_t* family, Operation operation) {
  static_cast<void>(family == nullptr ? batch->rep.Refuse(Status::InvalidArgument("the column family handle is null"))
                                      : operation(family->rep));
}

using PutCallback = void (*)(void*, const char*, size_t, const char*, size_t);
using DeleteCallback = void (*)(void*, const char*, size_t);
using PutCfCallback = void (*)(void*, uint32_t, const char*, size_t, const char*, size_t);
using DeleteCfCallback = void (*)(void*, uint32_t, const char*, size_t);
using DeleteRangeCfCallback = void (*)(void*, uint32_t, const char*, size_t, const char*, size_t);

class DefaultFamilyTeller final : public WriteBatch::Handler {
 public:
  DefaultFamilyTeller(void* state, PutCallback put, DeleteCallback deleted)
      : state_(state), put_(put), deleted_(deleted) {}
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

class Teller final : public WriteBatch::Handler {
 public:
  Teller(void* state, PutCfCallback put, DeleteCfCallback deleted, DeleteRangeCfCallback delete_range)
      : state_(state), put_(put), deleted_(deleted), delete_range_(delete_range) {}
  Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
  Status Delete(Slice key) override { return DeleteCF(0, key); }
  Status PutCF(std::uint32_t family, Slice key, Slice value) override {
    put_(state_, family, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }
  Status DeleteCF(std::uint32_t family, Slice key) override {
    deleted_(state_, family, key.data(), key.size());
    return Status::OK();
  }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override { return DeleteCF(family, key); }
  Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) override {
    if (delete_range_ == nullptr) return Status::InvalidArgument("a range delete, but delete_range is NULL");
    delete_range_(state_, family, begin.data(), begin.size(), end.data(), end.size());
    return Status::OK();
  }

 private:
  void* state_;
  PutCfCallback put_;
  DeleteCfCallback deleted_;
  DeleteRangeCfCallback delete_range_;
};

}  // namespace

cambium_writebatch_t* cambium_writebatch_create() { return new cambium_writebatch_t; }

cambium_writebatch_t* cambium_writebatch_create_from(const char* bytes, size_t length) {
  auto batch = std::make_unique<cambium_writebatch_t>();
  return WriteBatch::FromData(Slice(bytes, length), &batch->rep).ok() ? batch.release() : nullptr;
}

void cambium_writebatch_destroy(cambium_writebatch_t* batch) { delete batch; }

void cambium_writebatch_clear(cambium_writebatch_t* batch) { batch->rep.Clear(); }

int cambium_writebatch_count(const cambium_writebatch_t* batch) { return static_cast<int>(batch->rep.Count()); }

void cambium_writebatch_put(cambium_writebatch_t* batch, const char* key, size_t key_length, const char* value,
                            size_t value_length) {
  static_cast<void>(batch->rep.Put(Slice(key, key_length), Slice(value, value_length)));
}
void cambium_writebatch_put_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family, const char* key,
                               size_t key_length, const char* value, size_t value_length) {
  AddTo(batch, family,
        [&](ColumnFamilyHandle* to) { return batch->rep.Put(to, Slice(key, key_length), Slice(value, value_length)); });
}
void cambium_writebatch_delete(cambium_writebatch_t* batch, const char* key, size_t key_length) {
  static_cast<void>(batch->rep.Delete(Slice(key, key_length)));
}
void cambium_writebatch_delete_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family, const char* key,
                                  size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep.Delete(to, Slice(key, key_length)); });
}
void cambium_writebatch_singledelete(cambium_writebatch_t* batch, const char* key, size_t key_length) {
  static_cast<void>(batch->rep.SingleDelete(Slice(key, key_length)));
}
void cambium_writebatch_singledelete_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family,
                                        const char* key, size_t key_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) { return batch->rep.SingleDelete(to, Slice(key, key_length)); });
}
void cambium_writebatch_delete_range(cambium_writebatch_t* batch, const char* start, size_t start_length,
                                     const char* end, size_t end_length) {
  static_cast<void>(batch->rep.DeleteRange(Slice(start, start_length), Slice(end, end_length)));
}
void cambium_writebatch_delete_range_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family,
                                        const char* start, size_t start_length, const char* end, size_t end_length) {
  AddTo(batch, family, [&](ColumnFamilyHandle* to) {
    return batch->rep.DeleteRange(to, Slice(start, start_length), Slice(end, end_length));
  });
}

void cambium_writebatch_append(cambium_writebatch_t* destination, const cambium_writebatch_t* source) {
  destination->rep.Append(source->rep);
}

const char* cambium_writebatch_data(const cambium_writebatch_t* batch, size_t* size) {
  *size = batch->rep.Data().size();
  return batch->rep.Data().data();
}

void cambium_writebatch_set_save_point(cambium_writebatch_t* batch) { batch->rep.SetSavePoint(); }
void cambium_writebatch_rollback_to_save_point(cambium_writebatch_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep.RollbackToSavePoint(); });
}
void cambium_writebatch_pop_save_point(cambium_writebatch_t* batch, char** errptr) {
  Guarded(errptr, [&] { return batch->rep.PopSavePoint(); });
}

void cambium_writebatch_iterate(const cambium_writebatch_t* batch, void* state, PutCallback put,
                                DeleteCallback deleted) {
  DefaultFamilyTeller teller(state, put, deleted);
  static_cast<void>(batch->rep.Iterate(&teller));
}

void cambium_writebatch_iterate_cf(const cambium_writebatch_t* batch, void* state, PutCfCallback put_cf,
                                   DeleteCfCallback deleted_cf, DeleteRangeCfCallback delete_range_cf, char** errptr) {
  Guarded(errptr, [&] {
    Teller teller(state, put_cf, deleted_cf, delete_range_cf);
    return batch->rep.Iterate(&teller);
  });
}
