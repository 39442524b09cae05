// Transactions: those of both kinds of databases.
#include <algorithm>
#include <cstdlib>
#include <new>

#include "c/reading.h"
#include "rocksdb_c/batch.h"
#include "rocksdb_c/iterator.h"
#include "rocksdb_c/transactions.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::ReadOptions;
using cambium::Slice;
using cambium::Status;
using cambium::c::CopyOf;
using cambium::c::PinnedOf;
using cambium::c::UnlessAbsent;

namespace {

// The family of a call. In C++ a null handle means the default family. In a call of C that names a family, a null is
// more likely a family that was not created, so it is an error.
struct FamilyArgument {
  FamilyArgument() = default;  // the default one
  explicit FamilyArgument(const rocksdb_column_family_handle_t* named)
      : handle(RepOf(named)), is_missing(named == nullptr) {}
  ColumnFamilyHandle* handle = nullptr;
  bool is_missing = false;

  // Calls `call` with the handle; returns an error if there is none.
  template <typename Call>
  Status Do(Call call) const {
    return is_missing ? NullFamily() : call(handle);
  }
};

auto Getter(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options, FamilyArgument family, Slice key) {
  return [=](PinnableSlice* value) {
    return Worded(family.Do([&](ColumnFamilyHandle* its) { return txn->rep->Get(options->Rep(), its, key, value); }));
  };
}
auto UpdateGetter(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options, FamilyArgument family, Slice key,
                  unsigned char exclusive) {
  return [=](PinnableSlice* value) {
    return Worded(family.Do([&](ColumnFamilyHandle* its) {
      return txn->rep->GetForUpdate(options->Rep(), its, key, value, exclusive != 0);
    }));
  };
}

// The arguments of a call for several keys.
struct Keys {
  std::size_t count;
  const rocksdb_column_family_handle_t* const* families;  // null: all are of the default family
  const char* const* keys;
  const std::size_t* key_lengths;
  char** values;
  std::size_t* value_lengths;
  char** errors;

  [[nodiscard]] FamilyArgument FamilyOf(std::size_t i) const {
    return families == nullptr ? FamilyArgument() : FamilyArgument(families[i]);
  }
  [[nodiscard]] bool AreOfOneFamily(std::size_t i, std::size_t j) const {
    return families == nullptr || families[i] == families[j];
  }
  [[nodiscard]] Slice operator[](std::size_t i) const { return {keys[i], key_lengths[i]}; }
  void Clear() const {
    std::fill_n(values, count, nullptr);
    std::fill_n(value_lengths, count, std::size_t{0});
    std::fill_n(errors, count, nullptr);
  }
  // Sets the results of a lookup of the i-th key, which found `value` if the status is OK.
  void Set(std::size_t i, const Status& status, const PinnableSlice& value) const {
    Guarded(&errors[i], [&] {
      if (status.ok()) {
        values[i] = CopyBytes(value);
        value_lengths[i] = value.size();
      }
      return UnlessAbsent(status);
    });
  }
};

// Reads the keys in [begin, end), which are of one family, together.
void MultiGetInFamily(rocksdb_transaction_t* txn, const ReadOptions& options, const Keys& keys, std::size_t begin,
                      std::size_t end) {
  char* error = nullptr;
  Guarded(&error, [&] {
    return keys.FamilyOf(begin).Do([&](ColumnFamilyHandle* its) {
      std::vector<Slice> slices;
      for (std::size_t i = begin; i < end; ++i) slices.push_back(keys[i]);
      std::vector<PinnableSlice> values(slices.size());
      std::vector<Status> statuses(slices.size());
      txn->rep->MultiGet(options, its, slices.size(), slices.data(), values.data(), statuses.data());
      for (std::size_t i = begin; i < end; ++i) keys.Set(i, statuses[i - begin], values[i - begin]);
      return Status::OK();
    });
  });
  if (error == nullptr) return;
  for (std::size_t i = begin; i < end; ++i) {
    if (keys.errors[i] == nullptr && keys.values[i] == nullptr) cambium::c::SaveText(&keys.errors[i], error);
  }
  cambium_free(error);
}

// Keys of one family that follow one another are read together.
void MultiGet(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options, const Keys& keys) {
  keys.Clear();
  for (std::size_t begin = 0, end = 0; begin < keys.count; begin = end) {
    for (end = begin + 1; end < keys.count && keys.AreOfOneFamily(begin, end);) ++end;
    MultiGetInFamily(txn, options->Rep(), keys, begin, end);
  }
}

void MultiGetForUpdate(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options, const Keys& keys) {
  keys.Clear();
  const ReadOptions read = options->Rep();
  for (std::size_t i = 0; i < keys.count; ++i) {
    Guarded(&keys.errors[i], [&] {
      PinnableSlice value;
      const Status status = keys.FamilyOf(i).Do(
          [&](ColumnFamilyHandle* its) { return txn->rep->GetForUpdate(read, its, keys[i], &value); });
      keys.Set(i, status, value);
      return Status::OK();
    });
  }
}

rocksdb_iterator_t* NewIteratorOf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                  ColumnFamilyHandle* family, const std::shared_ptr<const RocksPrefix>& extractor) {
  const auto source = [txn, family](const ReadOptions& read) { return txn->rep->GetIterator(read, family); };
  return NewIterator(txn->db, source, *options, extractor);
}

// Allocated with malloc: the program releases it with rocksdb_free.
template <typename Object>
Object* NewFreed(Object object) {
  static_assert(std::is_trivially_destructible_v<Object>);
  void* const memory = std::malloc(sizeof(Object));
  if (memory == nullptr) throw std::bad_alloc();
  return new (memory) Object(object);
}

}  // namespace

extern "C" {

void rocksdb_transaction_destroy(rocksdb_transaction_t* txn) { delete txn; }

// ---- The end ----

void rocksdb_transaction_prepare(rocksdb_transaction_t* txn, char** errptr) {
  Guarded(errptr, [&]() -> Status {
    CAMBIUM_RETURN_IF_ERROR(txn->refusal);
    return txn->rep->Prepare();
  });
}
void rocksdb_transaction_commit(rocksdb_transaction_t* txn, char** errptr) {
  Guarded(errptr, [&]() -> Status {
    CAMBIUM_RETURN_IF_ERROR(txn->refusal);
    return txn->rep->Commit();
  });
}
void rocksdb_transaction_rollback(rocksdb_transaction_t* txn, char** errptr) {
  Guarded(errptr, [&] { return txn->rep->Rollback(); });
}
void rocksdb_transaction_set_savepoint(rocksdb_transaction_t* txn) { txn->rep->SetSavePoint(); }
void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t* txn, char** errptr) {
  Guarded(errptr, [&] { return txn->rep->RollbackToSavePoint(); });
}

// ---- Writing ----

void rocksdb_transaction_put(rocksdb_transaction_t* txn, const char* key, size_t key_length, const char* value,
                             size_t value_length, char** errptr) {
  Guarded(errptr, [&] { return txn->rep->Put(Slice(key, key_length), Slice(value, value_length)); });
}
void rocksdb_transaction_put_cf(rocksdb_transaction_t* txn, rocksdb_column_family_handle_t* family, const char* key,
                                size_t key_length, const char* value, size_t value_length, char** errptr) {
  Guarded(errptr, [&] {
    return FamilyArgument(family).Do([&](ColumnFamilyHandle* its) {
      return txn->rep->Put(its, Slice(key, key_length), Slice(value, value_length));
    });
  });
}
void rocksdb_transaction_delete(rocksdb_transaction_t* txn, const char* key, size_t key_length, char** errptr) {
  Guarded(errptr, [&] { return txn->rep->Delete(Slice(key, key_length)); });
}
void rocksdb_transaction_delete_cf(rocksdb_transaction_t* txn, rocksdb_column_family_handle_t* family, const char* key,
                                   size_t key_length, char** errptr) {
  Guarded(errptr, [&] {
    return FamilyArgument(family).Do(
        [&](ColumnFamilyHandle* its) { return txn->rep->Delete(its, Slice(key, key_length)); });
  });
}
void rocksdb_transaction_merge(rocksdb_transaction_t* /*txn*/, const char* /*key*/, size_t /*key_length*/,
                               const char* /*value*/, size_t /*value_length*/, char** errptr) {
  Lack(errptr, "Merge");
}
void rocksdb_transaction_merge_cf(rocksdb_transaction_t* /*txn*/, rocksdb_column_family_handle_t* /*family*/,
                                  const char* /*key*/, size_t /*key_length*/, const char* /*value*/,
                                  size_t /*value_length*/, char** errptr) {
  Lack(errptr, "Merge");
}
// Does nothing: the bytes are only for readers of the log, and this version has no such readers.
void rocksdb_transaction_put_log_data(rocksdb_transaction_t* /*txn*/, const char* /*bytes*/, size_t /*length*/) {}

// The program releases the result with rocksdb_free, before the transaction ends.
rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(rocksdb_transaction_t* txn) {
  return NewFreed(rocksdb_writebatch_wi_t{txn->rep->GetWriteBatch(), &txn->data});
}
void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t* txn, rocksdb_writebatch_t* batch,
                                                 char** errptr) {
  Guarded(errptr, [&] { return txn->rep->RebuildFromWriteBatch(&batch->rep); });
}
void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t* txn, rocksdb_writebatch_wi_t* batch,
                                                    char** errptr) {
  Guarded(errptr, [&] { return txn->rep->RebuildFromWriteBatch(batch->rep->GetWriteBatch()); });
}

// ---- Names, snapshots, timestamps ----

void rocksdb_transaction_set_name(rocksdb_transaction_t* txn, const char* name, size_t length, char** errptr) {
  Guarded(errptr, [&] { return txn->rep->SetName(std::string(name, length)); });
}
char* rocksdb_transaction_get_name(rocksdb_transaction_t* txn, size_t* length) {
  const std::string name = txn->rep->GetName();
  *length = name.size();
  return CopyBytes(name);
}
// The program releases the result with rocksdb_free; the snapshot is the transaction's.
const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(rocksdb_transaction_t* txn) {
  return NewFreed(rocksdb_snapshot_t{txn->rep->GetSnapshot()});
}
void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t* txn, uint64_t /*timestamp*/) {
  txn->refusal = Lacks("a commit timestamp");
}
void rocksdb_transaction_set_read_timestamp_for_validation(rocksdb_transaction_t* txn, uint64_t /*timestamp*/) {
  txn->refusal = Lacks("a read timestamp");
}

// ---- Reading ----

char* rocksdb_transaction_get(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options, const char* key,
                              size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(Getter(txn, options, FamilyArgument(), Slice(key, key_length)), value_length, errptr);
}
char* rocksdb_transaction_get_cf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                 rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                                 size_t* value_length, char** errptr) {
  return CopyOf(Getter(txn, options, FamilyArgument(family), Slice(key, key_length)), value_length, errptr);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(rocksdb_transaction_t* txn,
                                                        const rocksdb_readoptions_t* options, const char* key,
                                                        size_t key_length, char** errptr) {
  return PinnedOf<rocksdb_pinnableslice_t>(Getter(txn, options, FamilyArgument(), Slice(key, key_length)), errptr);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(rocksdb_transaction_t* txn,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* family, const char* key,
                                                           size_t key_length, char** errptr) {
  return PinnedOf<rocksdb_pinnableslice_t>(Getter(txn, options, FamilyArgument(family), Slice(key, key_length)),
                                           errptr);
}
char* rocksdb_transaction_get_for_update(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                         const char* key, size_t key_length, size_t* value_length,
                                         unsigned char exclusive, char** errptr) {
  return CopyOf(UpdateGetter(txn, options, FamilyArgument(), Slice(key, key_length), exclusive), value_length, errptr);
}
char* rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                            rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                                            size_t* value_length, unsigned char exclusive, char** errptr) {
  return CopyOf(UpdateGetter(txn, options, FamilyArgument(family), Slice(key, key_length), exclusive), value_length,
                errptr);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(rocksdb_transaction_t* txn,
                                                                   const rocksdb_readoptions_t* options,
                                                                   const char* key, size_t key_length,
                                                                   unsigned char exclusive, char** errptr) {
  return PinnedOf<rocksdb_pinnableslice_t>(
      UpdateGetter(txn, options, FamilyArgument(), Slice(key, key_length), exclusive), errptr);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(rocksdb_transaction_t* txn,
                                                                      const rocksdb_readoptions_t* options,
                                                                      rocksdb_column_family_handle_t* family,
                                                                      const char* key, size_t key_length,
                                                                      unsigned char exclusive, char** errptr) {
  return PinnedOf<rocksdb_pinnableslice_t>(
      UpdateGetter(txn, options, FamilyArgument(family), Slice(key, key_length), exclusive), errptr);
}
void rocksdb_transaction_multi_get(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options, size_t count,
                                   const char* const* keys, const size_t* key_lengths, char** values,
                                   size_t* value_lengths, char** errors) {
  MultiGet(txn, options, {count, nullptr, keys, key_lengths, values, value_lengths, errors});
}
void rocksdb_transaction_multi_get_cf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                      const rocksdb_column_family_handle_t* const* families, size_t count,
                                      const char* const* keys, const size_t* key_lengths, char** values,
                                      size_t* value_lengths, char** errors) {
  MultiGet(txn, options, {count, families, keys, key_lengths, values, value_lengths, errors});
}
void rocksdb_transaction_multi_get_for_update(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                              size_t count, const char* const* keys, const size_t* key_lengths,
                                              char** values, size_t* value_lengths, char** errors) {
  MultiGetForUpdate(txn, options, {count, nullptr, keys, key_lengths, values, value_lengths, errors});
}
void rocksdb_transaction_multi_get_for_update_cf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                                 const rocksdb_column_family_handle_t* const* families, size_t count,
                                                 const char* const* keys, const size_t* key_lengths, char** values,
                                                 size_t* value_lengths, char** errors) {
  MultiGetForUpdate(txn, options, {count, families, keys, key_lengths, values, value_lengths, errors});
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator(rocksdb_transaction_t* txn,
                                                        const rocksdb_readoptions_t* options) {
  return NewIteratorOf(txn, options, nullptr, txn->prefix_extractor);
}
rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t* txn,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* family) {
  if (family == nullptr) return NewErrorIterator(NullFamily());
  return NewIteratorOf(txn, options, family->rep, family->prefix_extractor);
}

}  // extern "C"
