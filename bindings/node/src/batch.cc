#include "batch.h"

#include "database.h"

namespace cambium_node {

Batch::Batch(napi_env env, cambium_writebatch_t* batch) : env_(env), batch_(batch) { Account(); }

Batch::~Batch() {
  cambium_writebatch_destroy(batch_);
  std::int64_t now = 0;
  if (accounted_ > 0) napi_adjust_external_memory(env_, -static_cast<std::int64_t>(accounted_), &now);
}

cambium_writebatch_t* Batch::get() const {
  if (writes_ > 0) throw Failure{"Resource busy: the batch is being written"};
  return batch_;
}

void Batch::Account() {
  constexpr std::size_t kStep = 64 * 1024;
  std::size_t size = 0;
  cambium_writebatch_data(batch_, &size);
  const std::size_t rounded = size / kStep * kStep;
  if (rounded == accounted_) return;
  std::int64_t now = 0;
  napi_adjust_external_memory(env_, static_cast<std::int64_t>(rounded) - static_cast<std::int64_t>(accounted_), &now);
  accounted_ = rounded;
}

namespace {

// The handle of the family at i; null: the default family.
cambium_column_family_handle_t* HandleAt(const Args& args, std::size_t i) {
  if (args.IsNothing(i)) return nullptr;
  const auto& ref = args.Get<FamilyRef>(i);
  ref->database->CheckOpen();
  return ref->family->handle();
}

napi_value NewBatch(const Args& args) {
  return Wrap(args.env(), std::make_shared<Batch>(args.env(), cambium_writebatch_create()));
}

// (bytes) -> batch
napi_value BatchFrom(const Args& args) {
  const Bytes bytes(args.env(), args[0], "the bytes");
  cambium_writebatch_t* const batch = cambium_writebatch_create_from(bytes.data(), bytes.size());
  if (batch == nullptr) throw Failure{"Corruption: the bytes are not those of a batch"};
  return Wrap(args.env(), std::make_shared<Batch>(args.env(), batch));
}

// (batch, family, key, value)
napi_value BatchPut(const Args& args) {
  Batch& batch = *args.Get<Batch>(0);
  cambium_writebatch_t* const to = batch.get();
  cambium_column_family_handle_t* const family = HandleAt(args, 1);
  const Bytes key(args.env(), args[2], "the key");
  const Bytes value(args.env(), args[3], "the value");
  if (family == nullptr) {
    cambium_writebatch_put(to, key.data(), key.size(), value.data(), value.size());
  } else {
    cambium_writebatch_put_cf(to, family, key.data(), key.size(), value.data(), value.size());
  }
  batch.Account();
  return Undefined(args.env());
}

// (batch, family, key)
napi_value BatchDelete(const Args& args) {
  Batch& batch = *args.Get<Batch>(0);
  cambium_writebatch_t* const to = batch.get();
  cambium_column_family_handle_t* const family = HandleAt(args, 1);
  const Bytes key(args.env(), args[2], "the key");
  if (family == nullptr) {
    cambium_writebatch_delete(to, key.data(), key.size());
  } else {
    cambium_writebatch_delete_cf(to, family, key.data(), key.size());
  }
  batch.Account();
  return Undefined(args.env());
}

// (batch, family, key)
napi_value BatchSingleDelete(const Args& args) {
  Batch& batch = *args.Get<Batch>(0);
  cambium_writebatch_t* const to = batch.get();
  cambium_column_family_handle_t* const family = HandleAt(args, 1);
  const Bytes key(args.env(), args[2], "the key");
  if (family == nullptr) {
    cambium_writebatch_singledelete(to, key.data(), key.size());
  } else {
    cambium_writebatch_singledelete_cf(to, family, key.data(), key.size());
  }
  batch.Account();
  return Undefined(args.env());
}

// (batch, family, start, end)
napi_value BatchDeleteRange(const Args& args) {
  Batch& batch = *args.Get<Batch>(0);
  cambium_writebatch_t* const to = batch.get();
  cambium_column_family_handle_t* const family = HandleAt(args, 1);
  const Bytes start(args.env(), args[2], "the start");
  const Bytes end(args.env(), args[3], "the end");
  if (family == nullptr) {
    cambium_writebatch_delete_range(to, start.data(), start.size(), end.data(), end.size());
  } else {
    cambium_writebatch_delete_range_cf(to, family, start.data(), start.size(), end.data(), end.size());
  }
  batch.Account();
  return Undefined(args.env());
}

// (destination, source)
napi_value BatchAppend(const Args& args) {
  Batch& batch = *args.Get<Batch>(0);
  cambium_writebatch_append(batch.get(), args.Get<Batch>(1)->get());
  batch.Account();
  return Undefined(args.env());
}

napi_value BatchClear(const Args& args) {
  Batch& batch = *args.Get<Batch>(0);
  cambium_writebatch_clear(batch.get());
  batch.Account();
  return Undefined(args.env());
}

napi_value BatchCount(const Args& args) {
  return FromNumber(args.env(), cambium_writebatch_count(args.Get<Batch>(0)->get()));
}

napi_value BatchData(const Args& args) {
  std::size_t size = 0;
  const char* const data = cambium_writebatch_data(args.Get<Batch>(0)->get(), &size);
  return FromBytes(args.env(), data, size, false);
}

napi_value BatchSetSavePoint(const Args& args) {
  cambium_writebatch_set_save_point(args.Get<Batch>(0)->get());
  return Undefined(args.env());
}

napi_value BatchRollback(const Args& args) {
  Batch& batch = *args.Get<Batch>(0);
  Error error;
  cambium_writebatch_rollback_to_save_point(batch.get(), error.Out());
  error.Throw();
  batch.Account();
  return Undefined(args.env());
}

napi_value BatchPopSavePoint(const Args& args) {
  Error error;
  cambium_writebatch_pop_save_point(args.Get<Batch>(0)->get(), error.Out());
  error.Throw();
  return Undefined(args.env());
}

// The operations of a batch, as a list of [type, family id, key, value]. An exception is kept until the library has
// returned.
class Operations {
 public:
  explicit Operations(napi_env env) : env_(env) { Check(env, napi_create_array(env, &list_)); }
  void Add(const char* type, std::uint32_t family, const char* key, std::size_t key_size, const char* value,
           std::size_t value_size, bool has_value) noexcept {
    if (failed_) return;
    try {
      napi_handle_scope scope = nullptr;
      Check(env_, napi_open_handle_scope(env_, &scope));
      napi_value operation = nullptr;
      Check(env_, napi_create_array_with_length(env_, 4, &operation));
      Check(env_, napi_set_element(env_, operation, 0, FromText(env_, type)));
      Check(env_, napi_set_element(env_, operation, 1, FromNumber(env_, family)));
      Check(env_, napi_set_element(env_, operation, 2, FromBytes(env_, key, key_size, false)));
      if (has_value) Check(env_, napi_set_element(env_, operation, 3, FromBytes(env_, value, value_size, false)));
      Check(env_, napi_set_element(env_, list_, count_++, operation));
      Check(env_, napi_close_handle_scope(env_, scope));
    } catch (...) {
      failed_ = std::current_exception();
    }
  }
  napi_value Finish() const {
    if (failed_) std::rethrow_exception(failed_);
    return list_;
  }

 private:
  napi_env env_;
  napi_value list_ = nullptr;
  std::uint32_t count_ = 0;
  std::exception_ptr failed_;
};

napi_value BatchOperations(const Args& args) {
  Operations operations(args.env());
  Error error;
  cambium_writebatch_iterate_cf(
      args.Get<Batch>(0)->get(), &operations,
      [](void* state, std::uint32_t family, const char* key, std::size_t key_size, const char* value,
         std::size_t value_size) {
        static_cast<Operations*>(state)->Add("put", family, key, key_size, value, value_size, true);
      },
      [](void* state, std::uint32_t family, const char* key, std::size_t key_size) {
        static_cast<Operations*>(state)->Add("delete", family, key, key_size, nullptr, 0, false);
      },
      [](void* state, std::uint32_t family, const char* start, std::size_t start_size, const char* end,
         std::size_t end_size) {
        static_cast<Operations*>(state)->Add("deleteRange", family, start, start_size, end, end_size, true);
      },
      error.Out());
  error.Throw();
  return operations.Finish();
}

}  // namespace

void ExportBatches(napi_env env, napi_value exports) {
  Export<NewBatch>(env, exports, "newBatch");
  Export<BatchFrom>(env, exports, "batchFrom");
  Export<BatchPut>(env, exports, "batchPut");
  Export<BatchDelete>(env, exports, "batchDelete");
  Export<BatchSingleDelete>(env, exports, "batchSingleDelete");
  Export<BatchDeleteRange>(env, exports, "batchDeleteRange");
  Export<BatchAppend>(env, exports, "batchAppend");
  Export<BatchClear>(env, exports, "batchClear");
  Export<BatchCount>(env, exports, "batchCount");
  Export<BatchData>(env, exports, "batchData");
  Export<BatchSetSavePoint>(env, exports, "batchSetSavePoint");
  Export<BatchRollback>(env, exports, "batchRollback");
  Export<BatchPopSavePoint>(env, exports, "batchPopSavePoint");
  Export<BatchOperations>(env, exports, "batchOperations");
}

}  // namespace cambium_node
