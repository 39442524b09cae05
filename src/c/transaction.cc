// Transactions, of both kinds.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "api/db_inside.h"
#include "c/reading.h"
#include "c/transactions.h"
#include "read/empty_iterator.h"

using cambium::ColumnFamilyHandle;
using cambium::DbInside;
using cambium::EmptyIterator;
using cambium::PinnableSlice;
using cambium::ReadOptions;
using cambium::Slice;
using cambium::Status;
using cambium::Transaction;
using cambium::c::CopyBytes;
using cambium::c::CopyOf;
using cambium::c::FamilyArgument;
using cambium::c::ForCopies;
using cambium::c::Guarded;
using cambium::c::PinnedOf;
using cambium::c::UnlessAbsent;

namespace {

// False after the commit: the transaction must then take no snapshot, which would keep files.
bool IsOpen(const cambium_transaction_t& txn) { return txn.rep->GetState() != Transaction::COMMITTED; }

Status NullTransaction() { return Status::InvalidArgument("the transaction is NULL: it did not begin"); }

// Calls `call` with the transaction; returns an error if there is none.
template <typename Call>
Status In(cambium_transaction_t* txn, Call call) {
  return txn == nullptr ? NullTransaction() : call(*txn->rep);
}
template <typename Call>
void GuardedIn(cambium_transaction_t* txn, char** errptr, Call call) {
  Guarded(errptr, [&] { return In(txn, call); });
}
// As above, for a call that names a family.
template <typename Call>
void GuardedIn(cambium_transaction_t* txn, const cambium_column_family_handle_t* family, char** errptr, Call call) {
  Guarded(errptr, [&] {
    return In(txn, [&](Transaction& its) {
      return FamilyArgument(family).Do([&](ColumnFamilyHandle* handle) { return call(its, handle); });
    });
  });
}

// A bound of a range; null: none.
std::optional<Slice> BoundOf(const char* key, std::size_t key_length) {
  return key == nullptr ? std::nullopt : std::optional(Slice(key, key_length));
}

// Begins a transaction by `begin`, which returns null if none could begin. If `old` is not null, it gets the
// transaction.
template <typename Begin>
cambium_transaction_t* BeginWith(cambium_transaction_t* old, Begin begin) {
  std::unique_ptr<cambium_transaction_t> made;
  if (old == nullptr) made = std::make_unique<cambium_transaction_t>();
  cambium_transaction_t* const its = old == nullptr ? made.get() : old;
  Transaction* const begun = begin(its->rep.get());
  if (begun == nullptr) return nullptr;
  if (begun != its->rep.get()) its->rep.reset(begun);
  static_cast<void>(made.release());
  return its;
}

auto Getter(cambium_transaction_t* txn, ReadOptions options, FamilyArgument family, Slice key) {
  return [=](PinnableSlice* value) {
    return In(txn, [&](Transaction& its) {
      return family.Do([&](ColumnFamilyHandle* handle) { return its.Get(options, handle, key, value); });
    });
  };
}
auto UpdateGetter(cambium_transaction_t* txn, ReadOptions options, FamilyArgument family, Slice key,
                  unsigned char exclusive) {
  return [=](PinnableSlice* value) {
    return In(txn, [&](Transaction& its) {
      return family.Do([&](ColumnFamilyHandle* handle) {
        return its.GetForUpdate(options, handle, key, value, exclusive != 0);
      });
    });
  };
}

// The arguments of a call for several keys.
struct Keys {
  std::size_t count;
  const cambium_column_family_handle_t* const* families;  // null: all are of the default family
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
void ReadManyInFamily(cambium_transaction_t* txn, const ReadOptions& options, const Keys& keys, std::size_t begin,
                      std::size_t end) {
  char* error = nullptr;
  GuardedIn(txn, &error, [&](Transaction& its) {
    return keys.FamilyOf(begin).Do([&](ColumnFamilyHandle* handle) {
      std::vector<Slice> slices;
      for (std::size_t i = begin; i < end; ++i) slices.push_back(keys[i]);
      std::vector<PinnableSlice> values(slices.size());
      std::vector<Status> statuses(slices.size());
      its.MultiGet(options, handle, slices.size(), slices.data(), values.data(), statuses.data());
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
void ReadMany(cambium_transaction_t* txn, const cambium_readoptions_t* options, const Keys& keys) {
  keys.Clear();
  const ReadOptions read = ForCopies(options);
  for (std::size_t begin = 0, end = 0; begin < keys.count; begin = end) {
    for (end = begin + 1; end < keys.count && keys.AreOfOneFamily(begin, end);) ++end;
    ReadManyInFamily(txn, read, keys, begin, end);
  }
}

void ReadManyForUpdate(cambium_transaction_t* txn, const cambium_readoptions_t* options, const Keys& keys) {
  keys.Clear();
  const ReadOptions read = ForCopies(options);
  for (std::size_t i = 0; i < keys.count; ++i) {
    Guarded(&keys.errors[i], [&] {
      PinnableSlice value;
      const Status status = UpdateGetter(txn, read, keys.FamilyOf(i), keys[i], 1)(&value);
      keys.Set(i, status, value);
      return Status::OK();
    });
  }
}

cambium_iterator_t* NewIteratorIn(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                  FamilyArgument family) {
  auto made = std::make_unique<cambium_iterator_t>();
  if (txn == nullptr) {
    made->rep = std::make_unique<EmptyIterator>(NullTransaction());
  } else if (Status status = family.Check(); !status.ok()) {
    made->rep = std::make_unique<EmptyIterator>(std::move(status));
  } else {
    made->rep.reset(txn->rep->GetIterator(options->rep, family.handle()));
  }
  return made.release();
}

}  // namespace

// ---- Beginning and ending ----

cambium_transaction_t* cambium_begin_optimistic_transaction(cambium_t* db, const cambium_writeoptions_t* write_options,
                                                            const cambium_optimistictransaction_options_t* options,
                                                            char** errptr) {
  cambium_transaction_t* txn = nullptr;
  Guarded(errptr, [&]() -> Status {
    if (dynamic_cast<cambium::TransactionDB*>(db->rep.get()) != nullptr) {
      return Status::InvalidArgument("the transactions of this database lock their keys: cambium_transaction_begin");
    }
    DbInside* const inside = DbInside::Of(db->rep.get());
    if (Status status = inside->CheckOpenForWriting(); !status.ok()) return status;
    txn = BeginWith(nullptr, [&](Transaction*) {
      return BeginOptimisticTransaction(db->rep.get(), write_options->rep, options->rep);
    });
    return txn != nullptr ? Status::OK() : Status::ShutdownInProgress("the database was closed meanwhile");
  });
  return txn;
}

cambium_transaction_t* cambium_optimistictransaction_begin(cambium_optimistictransactiondb_t* otxn_db,
                                                           const cambium_writeoptions_t* write_options,
                                                           const cambium_optimistictransaction_options_t* options,
                                                           cambium_transaction_t* old) {
  auto& db = static_cast<cambium::OptimisticTransactionDB&>(*cambium_optimistictransactiondb_as_db(otxn_db)->rep);
  return BeginWith(old,
                   [&](Transaction* its) { return db.BeginTransaction(write_options->rep, options->rep, its); });
}

cambium_transaction_t* cambium_transaction_begin(cambium_transactiondb_t* txn_db,
                                                 const cambium_writeoptions_t* write_options,
                                                 const cambium_transaction_options_t* options,
                                                 cambium_transaction_t* old) {
  auto& db = static_cast<cambium::TransactionDB&>(*cambium_transactiondb_as_db(txn_db)->rep);
  return BeginWith(old,
                   [&](Transaction* its) { return db.BeginTransaction(write_options->rep, options->rep, its); });
}

void cambium_transaction_destroy(cambium_transaction_t* txn) { delete txn; }

void cambium_transaction_commit(cambium_transaction_t* txn, char** errptr) {
  GuardedIn(txn, errptr, [](Transaction& its) { return its.Commit(); });
}
void cambium_transaction_prepare(cambium_transaction_t* txn, char** errptr) {
  GuardedIn(txn, errptr, [](Transaction& its) { return its.Prepare(); });
}
void cambium_transaction_rollback(cambium_transaction_t* txn, char** errptr) {
  GuardedIn(txn, errptr, [](Transaction& its) { return its.Rollback(); });
}
void cambium_transaction_set_savepoint(cambium_transaction_t* txn) {
  if (txn != nullptr) txn->rep->SetSavePoint();
}
void cambium_transaction_rollback_to_savepoint(cambium_transaction_t* txn, char** errptr) {
  GuardedIn(txn, errptr, [](Transaction& its) { return its.RollbackToSavePoint(); });
}
void cambium_transaction_pop_savepoint(cambium_transaction_t* txn, char** errptr) {
  GuardedIn(txn, errptr, [](Transaction& its) { return its.PopSavePoint(); });
}

// ---- Reading ----

char* cambium_transaction_get(cambium_transaction_t* txn, const cambium_readoptions_t* options, const char* key,
                              size_t key_length, size_t* value_length, char** errptr) {
  return CopyOf(Getter(txn, ForCopies(options), FamilyArgument(), Slice(key, key_length)), value_length, errptr);
}
char* cambium_transaction_get_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                 cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                 size_t* value_length, char** errptr) {
  return CopyOf(Getter(txn, ForCopies(options), FamilyArgument(family), Slice(key, key_length)), value_length, errptr);
}
cambium_pinnableslice_t* cambium_transaction_get_pinned(cambium_transaction_t* txn,
                                                        const cambium_readoptions_t* options, const char* key,
                                                        size_t key_length, char** errptr) {
  return PinnedOf<cambium_pinnableslice_t>(
      Getter(txn, options->rep, FamilyArgument(), Slice(key, key_length)), errptr);
}
cambium_pinnableslice_t* cambium_transaction_get_pinned_cf(cambium_transaction_t* txn,
                                                           const cambium_readoptions_t* options,
                                                           cambium_column_family_handle_t* family, const char* key,
                                                           size_t key_length, char** errptr) {
  return PinnedOf<cambium_pinnableslice_t>(
      Getter(txn, options->rep, FamilyArgument(family), Slice(key, key_length)), errptr);
}
char* cambium_transaction_get_for_update(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                         const char* key, size_t key_length, size_t* value_length,
                                         unsigned char exclusive, char** errptr) {
  return CopyOf(UpdateGetter(txn, ForCopies(options), FamilyArgument(), Slice(key, key_length), exclusive),
                value_length, errptr);
}
char* cambium_transaction_get_for_update_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                            cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                            size_t* value_length, unsigned char exclusive, char** errptr) {
  return CopyOf(UpdateGetter(txn, ForCopies(options), FamilyArgument(family), Slice(key, key_length), exclusive),
                value_length, errptr);
}
cambium_pinnableslice_t* cambium_transaction_get_pinned_for_update(cambium_transaction_t* txn,
                                                                   const cambium_readoptions_t* options,
                                                                   const char* key, size_t key_length,
                                                                   unsigned char exclusive, char** errptr) {
  return PinnedOf<cambium_pinnableslice_t>(
      UpdateGetter(txn, options->rep, FamilyArgument(), Slice(key, key_length), exclusive), errptr);
}
cambium_pinnableslice_t* cambium_transaction_get_pinned_for_update_cf(cambium_transaction_t* txn,
                                                                      const cambium_readoptions_t* options,
                                                                      cambium_column_family_handle_t* family,
                                                                      const char* key, size_t key_length,
                                                                      unsigned char exclusive, char** errptr) {
  return PinnedOf<cambium_pinnableslice_t>(
      UpdateGetter(txn, options->rep, FamilyArgument(family), Slice(key, key_length), exclusive), errptr);
}

void cambium_transaction_multi_get(cambium_transaction_t* txn, const cambium_readoptions_t* options, size_t num_keys,
                                   const char* const* keys, const size_t* key_lengths, char** values,
                                   size_t* value_lengths, char** errors) {
  ReadMany(txn, options, {num_keys, nullptr, keys, key_lengths, values, value_lengths, errors});
}
void cambium_transaction_multi_get_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                      const cambium_column_family_handle_t* const* families, size_t num_keys,
                                      const char* const* keys, const size_t* key_lengths, char** values,
                                      size_t* value_lengths, char** errors) {
  ReadMany(txn, options, {num_keys, families, keys, key_lengths, values, value_lengths, errors});
}
void cambium_transaction_multi_get_for_update(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                              size_t num_keys, const char* const* keys, const size_t* key_lengths,
                                              char** values, size_t* value_lengths, char** errors) {
  ReadManyForUpdate(txn, options, {num_keys, nullptr, keys, key_lengths, values, value_lengths, errors});
}
void cambium_transaction_multi_get_for_update_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                                 const cambium_column_family_handle_t* const* families,
                                                 size_t num_keys, const char* const* keys, const size_t* key_lengths,
                                                 char** values, size_t* value_lengths, char** errors) {
  ReadManyForUpdate(txn, options, {num_keys, families, keys, key_lengths, values, value_lengths, errors});
}

void cambium_transaction_undo_get_for_update(cambium_transaction_t* txn, const char* key, size_t key_length) {
  if (txn != nullptr) txn->rep->UndoGetForUpdate(Slice(key, key_length));
}
void cambium_transaction_undo_get_for_update_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                                const char* key, size_t key_length) {
  if (txn != nullptr && family != nullptr) txn->rep->UndoGetForUpdate(family->rep, Slice(key, key_length));
}

void cambium_transaction_track_range(cambium_transaction_t* txn, const char* begin, size_t begin_length,
                                     const char* end, size_t end_length, char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) {
    return its.TrackRange(BoundOf(begin, begin_length), BoundOf(end, end_length));
  });
}
void cambium_transaction_track_range_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                        const char* begin, size_t begin_length, const char* end, size_t end_length,
                                        char** errptr) {
  GuardedIn(txn, family, errptr, [&](Transaction& its, ColumnFamilyHandle* handle) {
    return its.TrackRange(handle, BoundOf(begin, begin_length), BoundOf(end, end_length));
  });
}
void cambium_transaction_get_range_lock(cambium_transaction_t* txn, const char* start, size_t start_length,
                                        unsigned char start_inf_suffix, const char* end, size_t end_length,
                                        unsigned char end_inf_suffix, char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) {
    return its.GetRangeLock(nullptr, cambium::Endpoint(Slice(start, start_length), start_inf_suffix != 0),
                            cambium::Endpoint(Slice(end, end_length), end_inf_suffix != 0));
  });
}
void cambium_transaction_get_range_lock_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                           const char* start, size_t start_length, unsigned char start_inf_suffix,
                                           const char* end, size_t end_length, unsigned char end_inf_suffix,
                                           char** errptr) {
  GuardedIn(txn, family, errptr, [&](Transaction& its, ColumnFamilyHandle* handle) {
    return its.GetRangeLock(handle, cambium::Endpoint(Slice(start, start_length), start_inf_suffix != 0),
                            cambium::Endpoint(Slice(end, end_length), end_inf_suffix != 0));
  });
}

cambium_iterator_t* cambium_transaction_create_iterator(cambium_transaction_t* txn,
                                                        const cambium_readoptions_t* options) {
  return NewIteratorIn(txn, options, FamilyArgument());
}
cambium_iterator_t* cambium_transaction_create_iterator_cf(cambium_transaction_t* txn,
                                                           const cambium_readoptions_t* options,
                                                           cambium_column_family_handle_t* family) {
  return NewIteratorIn(txn, options, FamilyArgument(family));
}

// ---- Writing ----

void cambium_transaction_put(cambium_transaction_t* txn, const char* key, size_t key_length, const char* value,
                             size_t value_length, char** errptr) {
  GuardedIn(txn, errptr,
            [&](Transaction& its) { return its.Put(Slice(key, key_length), Slice(value, value_length)); });
}
void cambium_transaction_put_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                                size_t key_length, const char* value, size_t value_length, char** errptr) {
  GuardedIn(txn, family, errptr, [&](Transaction& its, ColumnFamilyHandle* handle) {
    return its.Put(handle, Slice(key, key_length), Slice(value, value_length));
  });
}
void cambium_transaction_delete(cambium_transaction_t* txn, const char* key, size_t key_length, char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) { return its.Delete(Slice(key, key_length)); });
}
void cambium_transaction_delete_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                                   size_t key_length, char** errptr) {
  GuardedIn(txn, family, errptr, [&](Transaction& its, ColumnFamilyHandle* handle) {
    return its.Delete(handle, Slice(key, key_length));
  });
}
void cambium_transaction_delete_range(cambium_transaction_t* txn, const char* begin, size_t begin_length,
                                      const char* end, size_t end_length, char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) {
    return its.DeleteRange(Slice(begin, begin_length), Slice(end, end_length));
  });
}
void cambium_transaction_delete_range_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                         const char* begin, size_t begin_length, const char* end, size_t end_length,
                                         char** errptr) {
  GuardedIn(txn, family, errptr, [&](Transaction& its, ColumnFamilyHandle* handle) {
    return its.DeleteRange(handle, Slice(begin, begin_length), Slice(end, end_length));
  });
}
void cambium_transaction_singledelete(cambium_transaction_t* txn, const char* key, size_t key_length, char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) { return its.SingleDelete(Slice(key, key_length)); });
}
void cambium_transaction_singledelete_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                         const char* key, size_t key_length, char** errptr) {
  GuardedIn(txn, family, errptr, [&](Transaction& its, ColumnFamilyHandle* handle) {
    return its.SingleDelete(handle, Slice(key, key_length));
  });
}

void cambium_transaction_rebuild_from_writebatch(cambium_transaction_t* txn, cambium_writebatch_t* batch,
                                                 char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) {
    return its.RebuildFromWriteBatch(batch == nullptr ? nullptr : &batch->rep);
  });
}
void cambium_transaction_rebuild_from_writebatch_wi(cambium_transaction_t* txn, cambium_writebatch_wi_t* batch,
                                                    char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) {
    return its.RebuildFromWriteBatch(batch == nullptr ? nullptr : batch->rep->GetWriteBatch());
  });
}

cambium_writebatch_wi_t* cambium_transaction_get_writebatch_wi(cambium_transaction_t* txn) {
  static_assert(std::is_trivially_destructible_v<cambium_writebatch_wi_t>);
  if (txn == nullptr) return nullptr;
  void* const memory = std::malloc(sizeof(cambium_writebatch_wi_t));
  if (memory == nullptr) throw std::bad_alloc();
  return new (memory) cambium_writebatch_wi_t{txn->rep->GetWriteBatch()};
}

// ---- Snapshots, settings, figures ----

void cambium_transaction_set_snapshot(cambium_transaction_t* txn) {
  if (txn != nullptr && IsOpen(*txn)) txn->rep->SetSnapshot();
}
void cambium_transaction_clear_snapshot(cambium_transaction_t* txn) {
  if (txn != nullptr && IsOpen(*txn)) txn->rep->ClearSnapshot();
}
const cambium_snapshot_t* cambium_transaction_snapshot(const cambium_transaction_t* txn) {
  return txn == nullptr ? nullptr : reinterpret_cast<const cambium_snapshot_t*>(txn->rep->GetSnapshot());
}
void cambium_transaction_set_lock_timeout(cambium_transaction_t* txn, int64_t milliseconds) {
  if (txn != nullptr) txn->rep->SetLockTimeout(milliseconds);
}
void cambium_transaction_set_name(cambium_transaction_t* txn, const char* name, size_t name_length, char** errptr) {
  GuardedIn(txn, errptr, [&](Transaction& its) { return its.SetName(std::string(name, name_length)); });
}
char* cambium_transaction_get_name(const cambium_transaction_t* txn, size_t* name_length) {
  *name_length = 0;
  if (txn == nullptr) return nullptr;
  const std::string name = txn->rep->GetName();
  char* const copy = CopyBytes(name);
  *name_length = name.size();
  return copy;
}
uint64_t cambium_transaction_get_id(const cambium_transaction_t* txn) {
  return txn == nullptr ? 0 : txn->rep->GetID();
}
int cambium_transaction_get_state(const cambium_transaction_t* txn) {
  static_assert(int{Transaction::STARTED} == int{cambium_transaction_started});
  static_assert(int{Transaction::AWAITING_PREPARE} == int{cambium_transaction_awaiting_prepare});
  static_assert(int{Transaction::PREPARED} == int{cambium_transaction_prepared});
  static_assert(int{Transaction::AWAITING_COMMIT} == int{cambium_transaction_awaiting_commit});
  static_assert(int{Transaction::COMMITTED} == int{cambium_transaction_committed});
  static_assert(int{Transaction::AWAITING_ROLLBACK} == int{cambium_transaction_awaiting_rollback});
  static_assert(int{Transaction::ROLLEDBACK} == int{cambium_transaction_rolledback});
  static_assert(int{Transaction::LOCKS_STOLEN} == int{cambium_transaction_locks_stolen});
  return txn == nullptr ? 0 : txn->rep->GetState();
}
uint64_t cambium_transaction_get_num_keys(const cambium_transaction_t* txn) {
  return txn == nullptr ? 0 : txn->rep->GetNumKeys();
}
uint64_t cambium_transaction_get_num_puts(const cambium_transaction_t* txn) {
  return txn == nullptr ? 0 : txn->rep->GetNumPuts();
}
uint64_t cambium_transaction_get_num_deletes(const cambium_transaction_t* txn) {
  return txn == nullptr ? 0 : txn->rep->GetNumDeletes();
}
uint64_t cambium_transaction_get_elapsed_time(const cambium_transaction_t* txn) {
  return txn == nullptr ? 0 : txn->rep->GetElapsedTime();
}

// ---- Options ----

#define CAMBIUM_C_LIFE(type)                                          \
  cambium_##type##_t* cambium_##type##_create() { return new cambium_##type##_t; } \
  void cambium_##type##_destroy(cambium_##type##_t* options) { delete options; }
#define CAMBIUM_C_BOOL(type, name)                                                                             \
  void cambium_##type##_set_##name(cambium_##type##_t* options, unsigned char value) {                         \
    options->rep.name = value != 0;                                                                            \
  }                                                                                                            \
  unsigned char cambium_##type##_get_##name(const cambium_##type##_t* options) {                               \
    return cambium::c::Truth(options->rep.name);                                                               \
  }
#define CAMBIUM_C_NUMBER(type, name, number)                                                               \
  void cambium_##type##_set_##name(cambium_##type##_t* options, number value) { options->rep.name = value; } \
  number cambium_##type##_get_##name(const cambium_##type##_t* options) { return options->rep.name; }

CAMBIUM_C_LIFE(optimistictransaction_options)
CAMBIUM_C_BOOL(optimistictransaction_options, set_snapshot)
CAMBIUM_C_BOOL(optimistictransaction_options, read_at_snapshot)

CAMBIUM_C_LIFE(transaction_options)
CAMBIUM_C_BOOL(transaction_options, set_snapshot)
CAMBIUM_C_BOOL(transaction_options, read_at_snapshot)
CAMBIUM_C_BOOL(transaction_options, deadlock_detect)
CAMBIUM_C_NUMBER(transaction_options, deadlock_detect_depth, int64_t)
CAMBIUM_C_NUMBER(transaction_options, lock_timeout, int64_t)
CAMBIUM_C_NUMBER(transaction_options, expiration, int64_t)
CAMBIUM_C_NUMBER(transaction_options, max_write_batch_size, size_t)
CAMBIUM_C_BOOL(transaction_options, skip_prepare)

CAMBIUM_C_LIFE(transactiondb_options)
CAMBIUM_C_NUMBER(transactiondb_options, max_num_locks, int64_t)
CAMBIUM_C_NUMBER(transactiondb_options, max_num_deadlocks, uint32_t)
CAMBIUM_C_NUMBER(transactiondb_options, num_stripes, size_t)
CAMBIUM_C_NUMBER(transactiondb_options, transaction_lock_timeout, int64_t)
CAMBIUM_C_NUMBER(transactiondb_options, default_lock_timeout, int64_t)

#undef CAMBIUM_C_LIFE
#undef CAMBIUM_C_BOOL
#undef CAMBIUM_C_NUMBER
