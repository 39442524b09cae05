#include "overlay.h"

#include <utility>
#include <vector>

#include "batch.h"
#include "iterator.h"

namespace cambium_node {

Overlay::Overlay(std::shared_ptr<Database> database, cambium_transaction_t* transaction, cambium_writebatch_wi_t* batch)
    : database_(std::move(database)),
      transaction_(transaction),
      batch_(batch),
      what_(transaction != nullptr ? "transaction" : "batch") {
  database_->overlays.insert(this);
}

Overlay::~Overlay() { Destroy(); }

void Overlay::CheckUsable() const {
  database_->CheckOpen();
  if (!IsOpen()) throw Failure{std::string("Closed: the ") + what_ + " has ended"};
  if (is_busy_) throw Failure{std::string("Resource busy: the previous call of the ") + what_ + " has not ended"};
}

void Overlay::End() {
  is_busy_ = false;
  if (is_close_wanted_) Destroy();
}

void Overlay::Close() {
  is_close_wanted_ = true;
  if (!is_busy_) Destroy();
}

void Overlay::CloseIterators() noexcept {
  while (!iterators.empty()) (*iterators.begin())->Destroy();
}

void Overlay::Destroy() noexcept {
  if (is_ended_) return;
  is_ended_ = true;
  CloseIterators();
  database_->overlays.erase(this);
  cambium_transaction_t* const transaction = std::exchange(transaction_, nullptr);
  cambium_writebatch_wi_t* const batch = std::exchange(batch_, nullptr);
  if (IsForked()) return;
  cambium_transaction_destroy(transaction);
  cambium_writebatch_wi_destroy(batch);
}

std::shared_ptr<Overlay> OverlayAt(const Args& args, std::size_t i, const Database& database) {
  auto overlay = args.GetOrNull<Overlay>(i);
  if (overlay == nullptr) return nullptr;
  if (overlay->database().get() != &database) throw Failure{"Invalid argument: it belongs to another database"};
  overlay->CheckUsable();
  return overlay;
}

namespace {

cambium_transaction_t* BeginOptimistic(const Args& args, const Database& database, const cambium_writeoptions_t* write,
                                       Error* error) {
  cambium_optimistictransaction_options_t* const options = cambium_optimistictransaction_options_create();
  if (!args.IsNothing(2)) cambium_optimistictransaction_options_set_set_snapshot(options, args.Bool(2));
  cambium_optimistictransaction_options_set_read_at_snapshot(options, !args.Bool(3));
  cambium_transaction_t* const made = cambium_begin_optimistic_transaction(database.db(), write, options, error->Out());
  cambium_optimistictransaction_options_destroy(options);
  return made;
}

cambium_transaction_t* BeginLocking(const Args& args, const Database& database, const cambium_writeoptions_t* write) {
  const bool has_snapshot = args.Bool(2);
  const bool at_snapshot = !args.Bool(3);
  const bool detects = args.Bool(4);
  const bool has_wait = !args.IsNothing(5);
  const std::int64_t wait = has_wait ? ToInt64(args.env(), args[5], "lockTimeout") : 0;
  const std::int64_t expiration = ToInt64(args.env(), args[6], "expiration");
  const std::uint64_t bytes_max = ToUint64(args.env(), args[7], "maxWriteBatchSize");
  const bool skips_prepare = args.Bool(8);
  cambium_transaction_options_t* const options = cambium_transaction_options_create();
  cambium_transaction_options_set_set_snapshot(options, has_snapshot);
  cambium_transaction_options_set_read_at_snapshot(options, at_snapshot);
  cambium_transaction_options_set_deadlock_detect(options, detects);
  cambium_transaction_options_set_expiration(options, expiration);
  cambium_transaction_options_set_max_write_batch_size(options, bytes_max);
  cambium_transaction_options_set_skip_prepare(options, skips_prepare);
  cambium_transaction_t* const made =
      cambium_transaction_begin(database.core().transaction_db(), write, options, nullptr);
  cambium_transaction_options_destroy(options);
  if (has_wait) cambium_transaction_set_lock_timeout(made, wait);
  return made;
}

// (database, flags, snapshot or undefined, readNewest, deadlockDetect, lockTimeout or undefined, expiration,
// maxWriteBatchSize, skipPrepare). Times are in milliseconds, -1 without limit.
napi_value NewTransaction(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  const WriteOptions write(args.Uint32(1));
  Error error;
  cambium_transaction_t* const made = database->core().transaction_db() == nullptr
                                          ? BeginOptimistic(args, *database, write.get(), &error)
                                          : BeginLocking(args, *database, write.get());
  // The library says why no optimistic transaction began. Of the others it returns null for this reason only.
  if (made == nullptr && !error.IsSet()) error.Set("Not implemented: the database takes no writes");
  error.Throw();
  return Wrap(args.env(), std::make_shared<Overlay>(database, made, nullptr));
}

// (database) -> the transactions that were prepared before it was opened, each once
napi_value PreparedTransactions(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  if (database->core().transaction_db() == nullptr) {
    throw Failure{"Not implemented: only a database with transactionLocks has prepared transactions"};
  }
  Error error;
  std::size_t count = 0;
  cambium_transaction_t** const all =
      cambium_transactiondb_get_prepared_transactions(database->core().transaction_db(), &count, error.Out());
  error.Throw();
  std::vector<std::shared_ptr<Overlay>> overlays;
  for (std::size_t i = 0; i < count; ++i) overlays.push_back(std::make_shared<Overlay>(database, all[i], nullptr));
  cambium_free(all);
  // If an object of JavaScript cannot be made, its transaction remains prepared, and the next open finds it again.
  napi_value list = nullptr;
  Check(args.env(), napi_create_array_with_length(args.env(), count, &list));
  std::uint32_t i = 0;
  for (auto& overlay : overlays) {
    Check(args.env(), napi_set_element(args.env(), list, i++, Wrap(args.env(), std::move(overlay))));
  }
  return list;
}

// (database, maxBytes)
napi_value NewIndexedBatch(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  const std::uint64_t bytes_max = ToUint64(args.env(), args[1], "maxBytes");
  // All operations name their family, so the order of the batch does not matter.
  cambium_writebatch_wi_t* const made = cambium_writebatch_wi_create_with_params(nullptr, 0, 1, bytes_max);
  return Wrap(args.env(), std::make_shared<Overlay>(database, nullptr, made));
}

const std::shared_ptr<Overlay>& UsableAt(const Args& args, std::size_t i) {
  const auto& overlay = args.Get<Overlay>(i);
  overlay->CheckUsable();
  return overlay;
}
// The same for a call that only a transaction has.
const std::shared_ptr<Overlay>& TransactionAt(const Args& args, std::size_t i) {
  const auto& overlay = UsableAt(args, i);
  if (overlay->transaction() == nullptr) throw WrongType{"a transaction is expected"};
  return overlay;
}
const std::shared_ptr<Overlay>& IndexedBatchAt(const Args& args, std::size_t i) {
  const auto& overlay = UsableAt(args, i);
  if (overlay->batch() == nullptr) throw WrongType{"an indexed batch is expected"};
  return overlay;
}

// A call of the overlay, which is busy meanwhile.
napi_value PerformIn(const Args& args, const char* name, const std::shared_ptr<Overlay>& overlay, Work work, Run run,
                     Finish finish = &FinishUndefined) {
  const bool is_sync = args.Bool(0);
  if (is_sync) overlay->database()->CheckSync(work);
  overlay->Begin();
  return PerformOn(args.env(), is_sync, name, overlay->database(), work, std::move(run), std::move(finish),
                   [overlay] { overlay->End(); });
}

// A value that the library has given.
struct Found {
  Found() = default;
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() { cambium_free(data); }
  char* data = nullptr;
  std::size_t size = 0;
};

enum Use : std::uint32_t { kOnlyRead = 0, kShared = 1, kExclusive = 2, kOnlyBatch = 3 };

// (isSync, overlay, family, key, use, isText) -> the value, or undefined
napi_value Get(const Args& args) {
  const auto overlay = UsableAt(args, 1);
  const auto family = FamilyAt(args, 2, *overlay->database());
  const std::string key = args.CopyBytes(3, "the key");
  const std::uint32_t use = args.Uint32(4);
  const bool is_text = args.Bool(5);
  auto found = std::make_shared<Found>();
  return PerformIn(
      args, "cambium:overlayGet", overlay, Work::kRead,
      [=](Error* error) {
        const ReadOptions options;
        if (overlay->batch() != nullptr && use == kOnlyBatch) {
          found->data = cambium_writebatch_wi_get_from_batch_cf(overlay->batch(), nullptr, family->handle(), key.data(),
                                                                key.size(), &found->size, error->Out());
        } else if (overlay->batch() != nullptr) {
          found->data = cambium_writebatch_wi_get_from_batch_and_db_cf(overlay->batch(), overlay->database()->db(),
                                                                       options.get(), family->handle(), key.data(),
                                                                       key.size(), &found->size, error->Out());
        } else if (use == kOnlyRead) {
          found->data = cambium_transaction_get_cf(overlay->transaction(), options.get(), family->handle(), key.data(),
                                                   key.size(), &found->size, error->Out());
        } else {
          found->data = cambium_transaction_get_for_update_cf(overlay->transaction(), options.get(), family->handle(),
                                                              key.data(), key.size(), &found->size, use == kExclusive,
                                                              error->Out());
        }
      },
      [=](napi_env env) {
        if (found->data == nullptr) return Undefined(env);
        return FromOwned(env, std::exchange(found->data, nullptr), found->size, is_text);
      });
}

// (isSync, overlay, family, key, value)
napi_value Put(const Args& args) {
  const auto overlay = UsableAt(args, 1);
  const auto family = FamilyAt(args, 2, *overlay->database());
  const std::string key = args.CopyBytes(3, "the key");
  const std::string value = args.CopyBytes(4, "the value");
  return PerformIn(args, "cambium:overlayPut", overlay, Work::kRead, [=](Error* error) {
    if (overlay->batch() != nullptr) {
      cambium_writebatch_wi_put_cf(overlay->batch(), family->handle(), key.data(), key.size(), value.data(),
                                   value.size());
    } else {
      cambium_transaction_put_cf(overlay->transaction(), family->handle(), key.data(), key.size(), value.data(),
                                 value.size(), error->Out());
    }
  });
}

// (isSync, overlay, family, key)
napi_value Delete(const Args& args) {
  const auto overlay = UsableAt(args, 1);
  const auto family = FamilyAt(args, 2, *overlay->database());
  const std::string key = args.CopyBytes(3, "the key");
  return PerformIn(args, "cambium:overlayDelete", overlay, Work::kRead, [=](Error* error) {
    if (overlay->batch() != nullptr) {
      cambium_writebatch_wi_delete_cf(overlay->batch(), family->handle(), key.data(), key.size());
    } else {
      cambium_transaction_delete_cf(overlay->transaction(), family->handle(), key.data(), key.size(), error->Out());
    }
  });
}

// (isSync, batch, family, start, end)
napi_value DeleteRange(const Args& args) {
  const auto overlay = IndexedBatchAt(args, 1);
  const auto family = FamilyAt(args, 2, *overlay->database());
  const std::string start = args.CopyBytes(3, "the start");
  const std::string end = args.CopyBytes(4, "the end");
  return PerformIn(args, "cambium:overlayDeleteRange", overlay, Work::kRead, [=](Error*) {
    cambium_writebatch_wi_delete_range_cf(overlay->batch(), family->handle(), start.data(), start.size(), end.data(),
                                          end.size());
  });
}

// (isSync, transaction, batch): the operations of a batch, one by one
napi_value AddBatch(const Args& args) {
  const auto overlay = TransactionAt(args, 1);
  const auto batch = args.Get<Batch>(2);
  static_cast<void>(batch->get());
  const bool is_sync = args.Bool(0);
  if (is_sync) overlay->database()->CheckSync(Work::kRead);
  overlay->Begin();
  batch->Begin();
  return PerformOn(
      args.env(), is_sync, "cambium:addBatch", overlay->database(), Work::kRead,
      [=](Error* error) {
        cambium_transaction_rebuild_from_writebatch(overlay->transaction(), batch->unchecked(), error->Out());
      },
      &FinishUndefined,
      [=] {
        batch->End();
        overlay->End();
      });
}

// (isSync, transaction)
napi_value Prepare(const Args& args) {
  const auto overlay = TransactionAt(args, 1);
  return PerformIn(args, "cambium:prepare", overlay, Work::kWrite, [=](Error* error) {
    cambium_transaction_prepare(overlay->transaction(), error->Out());
  });
}

// A call that ends the transaction if it succeeds, and its iterators in any case.
napi_value EndBy(const Args& args, const char* name, const std::shared_ptr<Overlay>& overlay, Run run) {
  const bool is_sync = args.Bool(0);
  if (is_sync) overlay->database()->CheckSync(Work::kWrite);
  overlay->CloseIterators();
  return PerformIn(args, name, overlay, Work::kWrite, std::move(run), [=](napi_env env) {
    overlay->Close();  // when the call has ended
    return Undefined(env);
  });
}

// (isSync, transaction)
napi_value Commit(const Args& args) {
  const auto overlay = TransactionAt(args, 1);
  return EndBy(args, "cambium:commit", overlay, [=](Error* error) {
    cambium_transaction_commit(overlay->transaction(), error->Out());
  });
}

bool IsPrepared(const cambium_transaction_t* transaction) {
  return cambium_transaction_get_state(transaction) == cambium_transaction_prepared;
}

// (isSync, transaction): what closeOverlay does, except that a prepared transaction is rolled back too
napi_value Rollback(const Args& args) {
  const auto overlay = TransactionAt(args, 1);
  return EndBy(args, "cambium:rollback", overlay, [=](Error* error) {
    if (IsPrepared(overlay->transaction())) cambium_transaction_rollback(overlay->transaction(), error->Out());
  });
}

// (isSync, batch, flags)
napi_value WriteIndexed(const Args& args) {
  const auto overlay = IndexedBatchAt(args, 1);
  const std::uint32_t flags = args.Uint32(2);
  return PerformIn(args, "cambium:writeIndexed", overlay, Work::kWrite, [=](Error* error) {
    const WriteOptions options(flags);
    cambium_write_writebatch_wi(overlay->database()->db(), options.get(), overlay->batch(), error->Out());
  });
}

napi_value CloseOverlay(const Args& args) {
  args.Get<Overlay>(0)->Close();
  return Undefined(args.env());
}
napi_value OverlayIsOpen(const Args& args) {
  const auto& overlay = args.Get<Overlay>(0);
  return FromBool(args.env(), overlay->IsOpen() && overlay->database()->IsOpen());
}

// ---- Calls that take no time ----

napi_value SetSavePoint(const Args& args) {
  const auto& overlay = UsableAt(args, 0);
  if (overlay->batch() != nullptr) {
    cambium_writebatch_wi_set_save_point(overlay->batch());
  } else {
    cambium_transaction_set_savepoint(overlay->transaction());
  }
  return Undefined(args.env());
}
napi_value RollbackToSavePoint(const Args& args) {
  const auto& overlay = UsableAt(args, 0);
  Error error;
  if (overlay->batch() != nullptr) {
    cambium_writebatch_wi_rollback_to_save_point(overlay->batch(), error.Out());
  } else {
    cambium_transaction_rollback_to_savepoint(overlay->transaction(), error.Out());
  }
  error.Throw();
  return Undefined(args.env());
}
napi_value PopSavePoint(const Args& args) {
  const auto& overlay = UsableAt(args, 0);
  Error error;
  if (overlay->batch() != nullptr) {
    cambium_writebatch_wi_pop_save_point(overlay->batch(), error.Out());
  } else {
    cambium_transaction_pop_savepoint(overlay->transaction(), error.Out());
  }
  error.Throw();
  return Undefined(args.env());
}
napi_value ClearIndexed(const Args& args) {
  cambium_writebatch_wi_clear(IndexedBatchAt(args, 0)->batch());
  return Undefined(args.env());
}
napi_value CountIndexed(const Args& args) {
  return FromNumber(args.env(), cambium_writebatch_wi_count(IndexedBatchAt(args, 0)->batch()));
}

// (transaction, isSet)
napi_value SetTransactionSnapshot(const Args& args) {
  const auto& overlay = TransactionAt(args, 0);
  if (args.Bool(1)) {
    cambium_transaction_set_snapshot(overlay->transaction());
  } else {
    cambium_transaction_clear_snapshot(overlay->transaction());
  }
  return Undefined(args.env());
}
napi_value TransactionSnapshot(const Args& args) {
  const cambium_snapshot_t* const snapshot = cambium_transaction_snapshot(TransactionAt(args, 0)->transaction());
  if (snapshot == nullptr) return Undefined(args.env());
  return FromUint64(args.env(), cambium_snapshot_get_sequence_number(snapshot));
}
// (transaction, family, key)
napi_value UndoGetForUpdate(const Args& args) {
  const auto& overlay = TransactionAt(args, 0);
  const auto family = FamilyAt(args, 1, *overlay->database());
  const Bytes key(args.env(), args[2], "the key");
  cambium_transaction_undo_get_for_update_cf(overlay->transaction(), family->handle(), key.data(), key.size());
  return Undefined(args.env());
}
// (transaction, name)
napi_value SetTransactionName(const Args& args) {
  const auto& overlay = TransactionAt(args, 0);
  const std::string name = args.Name(1, "the name");
  Error error;
  cambium_transaction_set_name(overlay->transaction(), name.data(), name.size(), error.Out());
  error.Throw();
  return Undefined(args.env());
}
napi_value TransactionName(const Args& args) {
  std::size_t length = 0;
  char* const name = cambium_transaction_get_name(TransactionAt(args, 0)->transaction(), &length);
  return FromOwned(args.env(), name, length, true);
}
// (transaction) -> [id, keys, puts, deletes, milliseconds, whether it has lost locks, whether it is prepared]
napi_value TransactionInfo(const Args& args) {
  const cambium_transaction_t* const its = TransactionAt(args, 0)->transaction();
  const napi_env env = args.env();
  const auto number = [env](std::uint64_t value) { return FromNumber(env, static_cast<double>(value)); };
  const napi_value values[] = {
      FromUint64(env, cambium_transaction_get_id(its)),
      number(cambium_transaction_get_num_keys(its)),
      number(cambium_transaction_get_num_puts(its)),
      number(cambium_transaction_get_num_deletes(its)),
      number(cambium_transaction_get_elapsed_time(its)),
      FromBool(env, cambium_transaction_get_state(its) == cambium_transaction_locks_stolen),
      FromBool(env, IsPrepared(its)),
  };
  napi_value info = nullptr;
  Check(env, napi_create_array(env, &info));
  std::uint32_t i = 0;
  for (const napi_value value : values) Check(env, napi_set_element(env, info, i++, value));
  return info;
}

}  // namespace

void ExportOverlays(napi_env env, napi_value exports) {
  Export<NewTransaction>(env, exports, "newTransaction");
  Export<PreparedTransactions>(env, exports, "preparedTransactions");
  Export<NewIndexedBatch>(env, exports, "newIndexedBatch");
  Export<Get>(env, exports, "overlayGet");
  Export<Put>(env, exports, "overlayPut");
  Export<Delete>(env, exports, "overlayDelete");
  Export<DeleteRange>(env, exports, "overlayDeleteRange");
  Export<AddBatch>(env, exports, "transactionAddBatch");
  Export<Prepare>(env, exports, "transactionPrepare");
  Export<Commit>(env, exports, "transactionCommit");
  Export<Rollback>(env, exports, "transactionRollback");
  Export<WriteIndexed>(env, exports, "writeIndexed");
  Export<CloseOverlay>(env, exports, "closeOverlay");
  Export<OverlayIsOpen>(env, exports, "overlayIsOpen");
  Export<SetSavePoint>(env, exports, "overlaySetSavePoint");
  Export<RollbackToSavePoint>(env, exports, "overlayRollbackToSavePoint");
  Export<PopSavePoint>(env, exports, "overlayPopSavePoint");
  Export<ClearIndexed>(env, exports, "clearIndexed");
  Export<CountIndexed>(env, exports, "countIndexed");
  Export<SetTransactionSnapshot>(env, exports, "setTransactionSnapshot");
  Export<TransactionSnapshot>(env, exports, "transactionSnapshot");
  Export<UndoGetForUpdate>(env, exports, "undoGetForUpdate");
  Export<SetTransactionName>(env, exports, "setTransactionName");
  Export<TransactionName>(env, exports, "transactionName");
  Export<TransactionInfo>(env, exports, "transactionInfo");
}

}  // namespace cambium_node
