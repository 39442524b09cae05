// Out of memory inside a call from C: every function of c.h and c_transaction.h with an errptr reports it, and none ends
// the program.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <utility>

#include "c/transactions.h"
#include "c/wrappers.h"
#include "cambium/listener.h"
#include "io/sim/sim_file_system.h"
#include "testing/scale.h"
#include "testing/scarce_memory.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

enum class Needs { kNothing, kClosed, kOpen, kBackup };

// The objects that calls use, created for each call.
struct Room {
  explicit Room(Needs needs) {
    options.rep.create_if_missing = true;
    options.rep.write_buffer_size = 64u << 10;
    options.rep.info_log = NullLogger();
    cambium_writebatch_put(&batch, "batch", 5, "value", 5);
    cambium_writebatch_set_save_point(&batch);
    cambium_writebatch_put(&batch, "batch", 5, "value", 5);
    if (needs == Needs::kNothing) return;
    db = cambium_open(&options, path.c_str(), &error);
    x = cambium_create_column_family(db, &options, "x", &error);
    const std::string large(2'000, 'v');
    for (const std::string key : {"key", "other"}) {
      cambium_put(db, &write, key.data(), key.size(), large.data(), large.size(), &error);
      cambium_put_cf(db, &write, x, key.data(), key.size(), "value", 5, &error);
    }
    cambium_flush(db, &flush, &error);
    cambium_put(db, &write, "later", 5, "value", 5, &error);
    if (needs == Needs::kBackup) {
      engine = cambium_backup_engine_open(&options, backups.c_str(), &error);
      cambium_backup_engine_create_new_backup(engine, db, &error);
    }
    if (needs == Needs::kClosed) Close();
    EXPECT_EQ(error, nullptr) << error;
  }
  ~Room() {
    cambium_asyncreader_destroy(reader);
    for (cambium_iterator_t* each : iterators) cambium_iter_destroy(each);
    cambium_iter_destroy(iterator);
    cambium_transaction_destroy(txn);
    cambium_checkpoint_object_destroy(checkpoint);
    cambium_backup_engine_close(engine);
    for (cambium_column_family_handle_t* each : handles) cambium_column_family_handle_destroy(each);
    cambium_close(opened);
    Close();
    cambium_free(error);
    for (char* each : errors) cambium_free(each);
    for (char* each : copies) cambium_free(each);
    for (cambium_pinnableslice_t* each : slices) cambium_pinnableslice_destroy(each);
    cambium_string_list_destroy(list, list_size);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  void Close() {
    cambium_column_family_handle_destroy(x);
    x = nullptr;
    cambium_close(db);
    db = nullptr;
  }

  TempDirectory directory;
  const std::string path = directory.File("db");
  const std::string out = directory.File("out");
  const std::string backups = directory.File("backups");
  cambium_options_t options{Options()};
  cambium_readoptions_t read;
  cambium_writeoptions_t write{};
  cambium_flushoptions_t flush{};
  cambium_compactoptions_t compact{};
  cambium_writebatch_t batch;
  cambium_t* db = nullptr;
  cambium_column_family_handle_t* x = nullptr;
  cambium_backup_engine_t* engine = nullptr;

  // Results of calls.
  char* error = nullptr;
  cambium_t* opened = nullptr;
  cambium_iterator_t* iterator = nullptr;
  cambium_asyncreader_t* reader = nullptr;
  cambium_checkpoint_t* checkpoint = nullptr;
  cambium_column_family_handle_t* handles[2] = {};
  cambium_iterator_t* iterators[2] = {};
  cambium_pinnableslice_t* slices[2] = {};
  char* copies[2] = {};
  char* errors[2] = {};
  std::size_t sizes[2] = {};
  std::uint64_t numbers[2] = {};
  char** list = nullptr;
  std::size_t list_size = 0;
  cambium_transaction_t* txn = nullptr;
  cambium_transactiondb_t* txn_db = nullptr;             // `opened` closes them
  cambium_optimistictransactiondb_t* otxn_db = nullptr;
  std::shared_ptr<void> keeper;  // keeps an object that a case has made
};

struct Case {
  Needs needs;
  std::function<void(Room&)> call;
  std::function<void(Room&)> prepare = nullptr;
};

const char* const kNames[] = {"default", "x"};
const char* const kKeys[] = {"key", "other"};
const std::size_t kLengths[] = {3, 5};
const char* const kOptionNames[] = {"write_buffer_size"};
const char* const kOptionValues[] = {"128K"};
const char* const kDbOptionNames[] = {"max_background_jobs"};
const char* const kDbOptionValues[] = {"2"};

template <typename Info>
const Info& Worn() {
  static const auto* const info = [] {
    auto* const made = new Info();
    made->status = Status::IOError("a disk that is worn");
    return made;
  }();
  return *info;
}
template <typename Info, typename Face>
Case TellsStatus(void (*tell)(const Face*, char**)) {
  return {Needs::kNothing, [tell](Room& room) { tell(reinterpret_cast<const Face*>(&Worn<Info>()), &room.error); },
          [](Room&) { Worn<Info>(); }};
}

void CountAnswer(void* count, const char*, size_t, const char*) { ++*static_cast<std::uint64_t*>(count); }
void CountAnswers(void* count, size_t, const char* const*, const size_t*, const char* const*) {
  ++*static_cast<std::uint64_t*>(count);
}

using Table = std::map<std::string, Case>;

// The options of two column families.
const cambium_options_t* const* Both(Room& r) {
  static thread_local const cambium_options_t* both[2];
  both[0] = both[1] = &r.options;
  return both;
}

// ---- c_transaction.h: transactions and batches ----

void Begin(Room& r) {
  static const cambium_optimistictransaction_options_t optimistic{};
  r.txn = cambium_begin_optimistic_transaction(r.db, &r.write, &optimistic, &r.error);
}

void BeginAndWrite(Room& r) {
  Begin(r);
  cambium_transaction_set_savepoint(r.txn);
  cambium_transaction_put(r.txn, "key", 3, "new", 3, &r.error);
}

void AddRangesOfTransactions(Table* all) {
  Table& c = *all;
  c["transaction_track_range"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_track_range(r.txn, "key", 3, nullptr, 0, &r.error);
  }, Begin};
  c["transaction_track_range_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_track_range_cf(r.txn, r.x, "key", 3, "l", 1, &r.error);
  }, Begin};
  c["transaction_delete_range"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_delete_range(r.txn, "key", 3, "l", 1, &r.error);
  }, Begin};
  c["transaction_delete_range_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_delete_range_cf(r.txn, r.x, "key", 3, "l", 1, &r.error);
  }, Begin};
}

void AddReadsOfTransactions(Table* all) {
  Table& c = *all;
  c["transaction_get"] = {Needs::kOpen, [](Room& r) {
    r.copies[0] = cambium_transaction_get(r.txn, &r.read, "key", 3, r.sizes, &r.error);
  }, BeginAndWrite};
  c["transaction_get_cf"] = {Needs::kOpen, [](Room& r) {
    r.copies[0] = cambium_transaction_get_cf(r.txn, &r.read, r.x, "key", 3, r.sizes, &r.error);
  }, Begin};
  c["transaction_get_pinned"] = {Needs::kOpen, [](Room& r) {
    r.slices[0] = cambium_transaction_get_pinned(r.txn, &r.read, "key", 3, &r.error);
  }, Begin};
  c["transaction_get_pinned_cf"] = {Needs::kOpen, [](Room& r) {
    r.slices[0] = cambium_transaction_get_pinned_cf(r.txn, &r.read, r.x, "key", 3, &r.error);
  }, Begin};
  c["transaction_get_for_update"] = {Needs::kOpen, [](Room& r) {
    r.copies[0] = cambium_transaction_get_for_update(r.txn, &r.read, "key", 3, r.sizes, 1, &r.error);
  }, Begin};
  c["transaction_get_for_update_cf"] = {Needs::kOpen, [](Room& r) {
    r.copies[0] = cambium_transaction_get_for_update_cf(r.txn, &r.read, r.x, "key", 3, r.sizes, 1, &r.error);
  }, Begin};
  c["transaction_get_pinned_for_update"] = {Needs::kOpen, [](Room& r) {
    r.slices[0] = cambium_transaction_get_pinned_for_update(r.txn, &r.read, "key", 3, 1, &r.error);
  }, Begin};
  c["transaction_get_pinned_for_update_cf"] = {Needs::kOpen, [](Room& r) {
    r.slices[0] = cambium_transaction_get_pinned_for_update_cf(r.txn, &r.read, r.x, "key", 3, 1, &r.error);
  }, Begin};
  c["transaction_multi_get"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_multi_get(r.txn, &r.read, 2, kKeys, kLengths, r.copies, r.sizes, r.errors);
  }, BeginAndWrite};
  c["transaction_multi_get_cf"] = {Needs::kOpen, [](Room& r) {
    const cambium_column_family_handle_t* const families[] = {r.x, r.x};
    cambium_transaction_multi_get_cf(r.txn, &r.read, families, 2, kKeys, kLengths, r.copies, r.sizes, r.errors);
  }, Begin};
  c["transaction_multi_get_for_update"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_multi_get_for_update(r.txn, &r.read, 2, kKeys, kLengths, r.copies, r.sizes, r.errors);
  }, BeginAndWrite};
  c["transaction_multi_get_for_update_cf"] = {Needs::kOpen, [](Room& r) {
    const cambium_column_family_handle_t* const families[] = {r.x, r.x};
    cambium_transaction_multi_get_for_update_cf(r.txn, &r.read, families, 2, kKeys, kLengths, r.copies, r.sizes,
                                                r.errors);
  }, Begin};
}

void AddTransactions(Table* all) {
  Table& c = *all;
  c["begin_optimistic_transaction"] = {Needs::kOpen, Begin};
  c["transaction_commit"] = {Needs::kOpen, [](Room& r) { cambium_transaction_commit(r.txn, &r.error); },
                             BeginAndWrite};
  c["transaction_rollback"] = {Needs::kOpen, [](Room& r) { cambium_transaction_rollback(r.txn, &r.error); },
                               BeginAndWrite};
  c["transaction_rollback_to_savepoint"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_rollback_to_savepoint(r.txn, &r.error);
  }, BeginAndWrite};
  c["transaction_pop_savepoint"] = {Needs::kOpen, [](Room& r) { cambium_transaction_pop_savepoint(r.txn, &r.error); },
                                    BeginAndWrite};
  c["transaction_put"] = {Needs::kOpen, [](Room& r) { cambium_transaction_put(r.txn, "a", 1, "b", 1, &r.error); },
                          Begin};
  c["transaction_put_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_put_cf(r.txn, r.x, "a", 1, "b", 1, &r.error);
  }, BeginAndWrite};
  c["transaction_delete"] = {Needs::kOpen, [](Room& r) { cambium_transaction_delete(r.txn, "a", 1, &r.error); },
                             Begin};
  c["transaction_delete_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_delete_cf(r.txn, r.x, "a", 1, &r.error);
  }, Begin};
  c["transaction_singledelete"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_singledelete(r.txn, "a", 1, &r.error);
  }, Begin};
  c["transaction_singledelete_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_singledelete_cf(r.txn, r.x, "a", 1, &r.error);
  }, Begin};
  c["transaction_rebuild_from_writebatch"] = {Needs::kOpen, [](Room& r) {
    cambium_transaction_rebuild_from_writebatch(r.txn, &r.batch, &r.error);
  }, Begin};
}

// A batch with an index, which lives longer than the call.
struct Indexed {
  WriteBatchWithIndex rep;
  cambium_writebatch_wi_t face{&rep};
};

void AddIndexedBatches(Table* all) {
  Table& c = *all;
  const auto indexed = [](Room& r) {
    auto* const made = new Indexed;
    r.keeper.reset(made, [](void* old) { delete static_cast<Indexed*>(old); });
    cambium_writebatch_wi_set_save_point(&made->face);
    cambium_writebatch_wi_put(&made->face, "key", 3, "new", 3);
    if (r.x != nullptr) cambium_writebatch_wi_put_cf(&made->face, r.x, "other", 5, "new", 3);
  };
  const auto batch = [](Room& r) { return &static_cast<Indexed*>(r.keeper.get())->face; };
  c["transaction_rebuild_from_writebatch_wi"] = {Needs::kOpen, [batch](Room& r) {
    cambium_transaction_rebuild_from_writebatch_wi(r.txn, batch(r), &r.error);
  }, [indexed](Room& r) {
    indexed(r);
    Begin(r);
  }};
  c["writebatch_wi_rollback_to_save_point"] = {Needs::kNothing, [batch](Room& r) {
    cambium_writebatch_wi_rollback_to_save_point(batch(r), &r.error);
    if (r.error == nullptr) cambium_writebatch_wi_rollback_to_save_point(batch(r), &r.error);
  }, indexed};
  c["writebatch_wi_pop_save_point"] = {Needs::kNothing, [batch](Room& r) {
    cambium_writebatch_wi_pop_save_point(batch(r), &r.error);
    if (r.error == nullptr) cambium_writebatch_wi_pop_save_point(batch(r), &r.error);
  }, indexed};
  c["write_writebatch_wi"] = {Needs::kOpen, [batch](Room& r) {
    cambium_write_writebatch_wi(r.db, &r.write, batch(r), &r.error);
  }, indexed};
  c["writebatch_wi_get_from_batch"] = {Needs::kNothing, [batch](Room& r) {
    r.copies[0] = cambium_writebatch_wi_get_from_batch(batch(r), &r.options, "key", 3, r.sizes, &r.error);
  }, indexed};
  c["writebatch_wi_get_from_batch_cf"] = {Needs::kOpen, [batch](Room& r) {
    r.copies[0] = cambium_writebatch_wi_get_from_batch_cf(batch(r), &r.options, r.x, "other", 5, r.sizes, &r.error);
  }, indexed};
  c["writebatch_wi_get_from_batch_and_db"] = {Needs::kOpen, [batch](Room& r) {
    r.copies[0] = cambium_writebatch_wi_get_from_batch_and_db(batch(r), r.db, &r.read, "other", 5, r.sizes, &r.error);
  }, indexed};
  c["writebatch_wi_get_from_batch_and_db_cf"] = {Needs::kOpen, [batch](Room& r) {
    r.copies[0] =
        cambium_writebatch_wi_get_from_batch_and_db_cf(batch(r), r.db, &r.read, r.x, "key", 3, r.sizes, &r.error);
  }, indexed};
  c["writebatch_wi_get_pinned_from_batch_and_db"] = {Needs::kOpen, [batch](Room& r) {
    r.slices[0] = cambium_writebatch_wi_get_pinned_from_batch_and_db(batch(r), r.db, &r.read, "key", 3, &r.error);
  }, indexed};
  c["writebatch_wi_get_pinned_from_batch_and_db_cf"] = {Needs::kOpen, [batch](Room& r) {
    r.slices[0] =
        cambium_writebatch_wi_get_pinned_from_batch_and_db_cf(batch(r), r.db, &r.read, r.x, "key", 3, &r.error);
  }, indexed};
}

// ---- c_transaction.h: databases with transactions, at `out` ----

const cambium_transactiondb_options_t kLocking{};

void OpenOptimisticDb(Room& r) {
  r.otxn_db = cambium_optimistictransactiondb_open(&r.options, r.out.c_str(), &r.error);
  if (r.otxn_db != nullptr) r.opened = cambium_optimistictransactiondb_as_db(r.otxn_db);
}

void OpenLockingDb(Room& r) {
  r.txn_db = cambium_transactiondb_open(&r.options, &kLocking, r.out.c_str(), &r.error);
  if (r.txn_db != nullptr) r.opened = cambium_transactiondb_as_db(r.txn_db);
}

void OpenLockingFamilies(Room& r) {
  OpenLockingDb(r);
  r.handles[1] = cambium_transactiondb_create_column_family(r.txn_db, &r.options, "x", &r.error);
  cambium_transactiondb_put_cf(r.txn_db, &r.write, r.handles[1], "key", 3, "value", 5, &r.error);
}

// Begins a transaction that can be prepared.
void BeginNamed(Room& r) {
  static const cambium_transaction_options_t how{};
  OpenLockingDb(r);
  r.txn = cambium_transaction_begin(r.txn_db, &r.write, &how, nullptr);
  cambium_transaction_set_name(r.txn, "a name that is not short", 24, &r.error);
  cambium_transaction_put(r.txn, "key", 3, "new", 3, &r.error);
}

void Prepare(Room& r) {
  BeginNamed(r);
  cambium_transaction_prepare(r.txn, &r.error);
}

// Opens the database again, with a transaction that was prepared before.
void ReopenWithPrepared(Room& r) {
  Prepare(r);
  cambium_transaction_destroy(std::exchange(r.txn, nullptr));
  cambium_close(std::exchange(r.opened, nullptr));
  OpenLockingDb(r);
}

void TakePrepared(Room& r) {
  std::size_t count = 0;
  cambium_transaction_t** const all = cambium_transactiondb_get_prepared_transactions(r.txn_db, &count, &r.error);
  EXPECT_EQ(count, r.error == nullptr ? 1u : 0u);
  if (all != nullptr) r.txn = all[0];
  cambium_free(all);
}

void AddTransactionDbs(Table* all) {
  Table& c = *all;
  c["optimistictransactiondb_open"] = {Needs::kNothing, OpenOptimisticDb};
  c["optimistictransactiondb_open_column_families"] = {Needs::kClosed, [](Room& r) {
    r.otxn_db = cambium_optimistictransactiondb_open_column_families(&r.options, r.path.c_str(), 2, kNames, Both(r),
                                                                     r.handles, &r.error);
    if (r.otxn_db != nullptr) r.opened = cambium_optimistictransactiondb_as_db(r.otxn_db);
  }};
  c["optimistictransactiondb_write"] = {Needs::kNothing, [](Room& r) {
    cambium_optimistictransactiondb_write(r.otxn_db, &r.write, &r.batch, &r.error);
  }, OpenOptimisticDb};
  c["optimistictransactiondb_checkpoint_object_create"] = {Needs::kNothing, [](Room& r) {
    r.checkpoint = cambium_optimistictransactiondb_checkpoint_object_create(r.otxn_db, &r.error);
  }, OpenOptimisticDb};
  c["transactiondb_open"] = {Needs::kNothing, OpenLockingDb};
  c["transactiondb_open_column_families"] = {Needs::kClosed, [](Room& r) {
    r.txn_db = cambium_transactiondb_open_column_families(&r.options, &kLocking, r.path.c_str(), 2, kNames, Both(r),
                                                          r.handles, &r.error);
    if (r.txn_db != nullptr) r.opened = cambium_transactiondb_as_db(r.txn_db);
  }};
  c["transactiondb_create_column_family"] = {Needs::kNothing, [](Room& r) {
    r.handles[0] = cambium_transactiondb_create_column_family(r.txn_db, &r.options, "x", &r.error);
  }, OpenLockingDb};
  c["transactiondb_checkpoint_object_create"] = {Needs::kNothing, [](Room& r) {
    r.checkpoint = cambium_transactiondb_checkpoint_object_create(r.txn_db, &r.error);
  }, OpenLockingDb};
  c["transaction_prepare"] = {Needs::kNothing, [](Room& r) { cambium_transaction_prepare(r.txn, &r.error); },
                              BeginNamed};
  c["transaction_get_range_lock"] = {Needs::kNothing, [](Room& r) {
    cambium_transaction_get_range_lock(r.txn, "key", 3, 0, "l", 1, 1, &r.error);
  }, BeginNamed};
  c["transaction_get_range_lock_cf"] = {Needs::kNothing, [](Room& r) {
    cambium_transaction_get_range_lock_cf(r.txn, r.handles[1], "key", 3, 0, "l", 1, 1, &r.error);
  }, [](Room& r) {
    static const cambium_transaction_options_t how{};
    OpenLockingFamilies(r);
    r.txn = cambium_transaction_begin(r.txn_db, &r.write, &how, nullptr);
  }};
  c["transactiondb_get_prepared_transactions"] = {Needs::kNothing, TakePrepared, ReopenWithPrepared};
  c["transaction_set_name"] = {Needs::kNothing, [](Room& r) {
    cambium_transaction_set_name(r.txn, "a name that is not short", 24, &r.error);
  }, [](Room& r) {
    static const cambium_transaction_options_t how{};
    OpenLockingDb(r);
    r.txn = cambium_transaction_begin(r.txn_db, &r.write, &how, nullptr);
  }};
}

void AddCallsOfTransactionDbs(Table* all) {
  Table& c = *all;
  c["transactiondb_put"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_put(r.txn_db, &r.write, "a", 1, "b", 1, &r.error);
  }, OpenLockingDb};
  c["transactiondb_put_cf"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_put_cf(r.txn_db, &r.write, r.handles[1], "a", 1, "b", 1, &r.error);
  }, OpenLockingFamilies};
  c["transactiondb_delete"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_delete(r.txn_db, &r.write, "a", 1, &r.error);
  }, OpenLockingDb};
  c["transactiondb_delete_cf"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_delete_cf(r.txn_db, &r.write, r.handles[1], "a", 1, &r.error);
  }, OpenLockingFamilies};
  c["transactiondb_write"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_write(r.txn_db, &r.write, &r.batch, &r.error);
  }, OpenLockingDb};
  c["transactiondb_get"] = {Needs::kNothing, [](Room& r) {
    r.copies[0] = cambium_transactiondb_get(r.txn_db, &r.read, "key", 3, r.sizes, &r.error);
  }, OpenLockingDb};
  c["transactiondb_get_cf"] = {Needs::kNothing, [](Room& r) {
    r.copies[0] = cambium_transactiondb_get_cf(r.txn_db, &r.read, r.handles[1], "key", 3, r.sizes, &r.error);
  }, OpenLockingFamilies};
  c["transactiondb_get_pinned"] = {Needs::kNothing, [](Room& r) {
    r.slices[0] = cambium_transactiondb_get_pinned(r.txn_db, &r.read, "key", 3, &r.error);
  }, OpenLockingDb};
  c["transactiondb_get_pinned_cf"] = {Needs::kNothing, [](Room& r) {
    r.slices[0] = cambium_transactiondb_get_pinned_cf(r.txn_db, &r.read, r.handles[1], "key", 3, &r.error);
  }, OpenLockingFamilies};
  c["transactiondb_multi_get"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_multi_get(r.txn_db, &r.read, 2, kKeys, kLengths, r.copies, r.sizes, r.errors);
  }, OpenLockingDb};
  c["transactiondb_multi_get_cf"] = {Needs::kNothing, [](Room& r) {
    const cambium_column_family_handle_t* const families[] = {r.handles[1], r.handles[1]};
    cambium_transactiondb_multi_get_cf(r.txn_db, &r.read, families, 2, kKeys, kLengths, r.copies, r.sizes, r.errors);
  }, OpenLockingFamilies};
  c["transactiondb_flush"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_flush(r.txn_db, &r.flush, &r.error);
  }, OpenLockingFamilies};
  c["transactiondb_flush_cf"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_flush_cf(r.txn_db, &r.flush, r.handles[1], &r.error);
  }, OpenLockingFamilies};
  c["transactiondb_flush_wal"] = {Needs::kNothing, [](Room& r) {
    cambium_transactiondb_flush_wal(r.txn_db, 1, &r.error);
  }, OpenLockingFamilies};
}

void AddConditionalWrites(Table* all) {
  Table& c = *all;
  c["put_if_absent"] = {Needs::kOpen, [](Room& r) {
    cambium_put_if_absent(r.db, &r.write, "new", 3, "1", 1, &r.error);
  }};
  c["put_if_absent_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_put_if_absent_cf(r.db, &r.write, r.x, "new", 3, "1", 1, &r.error);
  }};
  c["compare_and_set"] = {Needs::kOpen, [](Room& r) {
    cambium_compare_and_set(r.db, &r.write, "later", 5, "value", 5, "1", 1, &r.error);
  }};
  c["compare_and_set_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_compare_and_set_cf(r.db, &r.write, r.x, "key", 3, "value", 5, "1", 1, &r.error);
  }};
  c["compare_and_delete"] = {Needs::kOpen, [](Room& r) {
    cambium_compare_and_delete(r.db, &r.write, "later", 5, "value", 5, &r.error);
  }};
  c["compare_and_delete_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_compare_and_delete_cf(r.db, &r.write, r.x, "key", 3, "value", 5, &r.error);
  }};
  c["get_with_version"] = {Needs::kOpen, [](Room& r) {
    std::uint64_t version = 0;
    r.copies[0] = cambium_get_with_version(r.db, &r.read, "later", 5, r.sizes, &version, &r.error);
  }};
  c["get_with_version_cf"] = {Needs::kOpen, [](Room& r) {
    std::uint64_t version = 0;
    r.copies[0] = cambium_get_with_version_cf(r.db, &r.read, r.x, "key", 3, r.sizes, &version, &r.error);
  }};
  c["put_if_unchanged"] = {Needs::kOpen, [](Room& r) {
    cambium_put_if_unchanged(r.db, &r.write, "new", 3, 0, "1", 1, &r.error);
  }};
  c["put_if_unchanged_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_put_if_unchanged_cf(r.db, &r.write, r.x, "new", 3, 0, "1", 1, &r.error);
  }};
  c["delete_if_unchanged"] = {Needs::kOpen, [](Room& r) {
    cambium_delete_if_unchanged(r.db, &r.write, "later", 5, 1, &r.error);
  }};
  c["delete_if_unchanged_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_delete_if_unchanged_cf(r.db, &r.write, r.x, "key", 3, 1, &r.error);
  }};
  c["write_if"] = {Needs::kOpen, [](Room& r) {
    cambium_write_if(r.db, &r.write, static_cast<cambium_writeconditions_t*>(r.keeper.get()), &r.batch, &r.error);
  }, [](Room& r) {
    r.keeper.reset(cambium_writeconditions_create(), [](cambium_writeconditions_t* made) {
      cambium_writeconditions_destroy(made);
    });
    auto* const conditions = static_cast<cambium_writeconditions_t*>(r.keeper.get());
    cambium_writeconditions_has_value(conditions, "later", 5, "value", 5);
    cambium_writeconditions_is_absent_cf(conditions, r.x, "new", 3);
  }};
}

// ---- c.h ----

void AddOpenAndClose(Table* all) {
  Table& c = *all;
  c["open"] = {Needs::kNothing, [](Room& r) { r.opened = cambium_open(&r.options, r.path.c_str(), &r.error); }};
  c["open_for_read_only"] = {Needs::kClosed, [](Room& r) {
    r.opened = cambium_open_for_read_only(&r.options, r.path.c_str(), &r.error);
  }};
  c["open_column_families"] = {Needs::kClosed, [](Room& r) {
    r.opened = cambium_open_column_families(&r.options, r.path.c_str(), 2, kNames, Both(r), r.handles, &r.error);
  }};
  c["open_for_read_only_column_families"] = {Needs::kClosed, [](Room& r) {
    r.opened = cambium_open_for_read_only_column_families(&r.options, r.path.c_str(), 2, kNames, Both(r), r.handles,
                                                          &r.error);
  }};
  c["close_with_status"] = {Needs::kOpen, [](Room& r) {
    if (cambium_close_with_status(r.db, &r.error) != 0) {
      r.db = nullptr;
    } else {
      EXPECT_EQ(cambium_error_subcode(r.error), cambium_subcode_out_of_memory) << r.error;
    }
  }, [](Room& r) {
    cambium_column_family_handle_destroy(r.x);
    r.x = nullptr;
  }};
  c["destroy_db"] = {Needs::kClosed, [](Room& r) { cambium_destroy_db(&r.options, r.path.c_str(), &r.error); }};
  c["repair_db"] = {Needs::kClosed, [](Room& r) { cambium_repair_db(&r.options, r.path.c_str(), &r.error); }};
  c["salvage_db"] = {Needs::kClosed, [](Room& r) {
    cambium_salvage_db(&r.options, r.path.c_str(), r.out.c_str(), 0, &r.numbers[0], &r.numbers[1], &r.error);
  }};
  c["salvage_db_column_families"] = {Needs::kClosed, [](Room& r) {
    cambium_salvage_db_column_families(&r.options, r.path.c_str(), 2, kNames, Both(r), r.out.c_str(), 0, &r.numbers[0],
                                       &r.numbers[1], &r.error);
  }};
  c["verify_db"] = {Needs::kClosed, [](Room& r) {
    cambium_verify_db(&r.options, r.path.c_str(), 1, &r.list, &r.list_size, &r.error);
  }};
  c["verify_db_column_families"] = {Needs::kClosed, [](Room& r) {
    cambium_verify_db_column_families(&r.options, r.path.c_str(), 2, kNames, Both(r), 1, &r.list, &r.list_size,
                                      &r.error);
  }};
  c["list_column_families"] = {Needs::kClosed, [](Room& r) {
    r.list = cambium_list_column_families(&r.options, r.path.c_str(), &r.list_size, &r.error);
  }};
  c["create_column_family"] = {Needs::kOpen, [](Room& r) {
    r.handles[0] = cambium_create_column_family(r.db, &r.options, "another", &r.error);
  }};
  c["drop_column_family"] = {Needs::kOpen, [](Room& r) { cambium_drop_column_family(r.db, r.x, &r.error); }};
}

void AddWrites(Table* all) {
  Table& c = *all;
  c["put"] = {Needs::kOpen, [](Room& r) { cambium_put(r.db, &r.write, "a", 1, "b", 1, &r.error); }};
  c["put_cf"] = {Needs::kOpen, [](Room& r) { cambium_put_cf(r.db, &r.write, r.x, "a", 1, "b", 1, &r.error); }};
  c["delete"] = {Needs::kOpen, [](Room& r) { cambium_delete(r.db, &r.write, "a", 1, &r.error); }};
  c["delete_cf"] = {Needs::kOpen, [](Room& r) { cambium_delete_cf(r.db, &r.write, r.x, "a", 1, &r.error); }};
  c["singledelete"] = {Needs::kOpen, [](Room& r) { cambium_singledelete(r.db, &r.write, "a", 1, &r.error); }};
  c["singledelete_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_singledelete_cf(r.db, &r.write, r.x, "a", 1, &r.error);
  }};
  c["delete_range"] = {Needs::kOpen, [](Room& r) {
    cambium_delete_range(r.db, &r.write, "a", 1, "z", 1, &r.error);
  }};
  c["delete_range_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_delete_range_cf(r.db, &r.write, r.x, "a", 1, "z", 1, &r.error);
  }};
  c["write"] = {Needs::kOpen, [](Room& r) { cambium_write(r.db, &r.write, &r.batch, &r.error); }};
  c["writebatch_rollback_to_save_point"] = {Needs::kNothing, [](Room& r) {
    cambium_writebatch_rollback_to_save_point(&r.batch, &r.error);
    if (r.error == nullptr) cambium_writebatch_rollback_to_save_point(&r.batch, &r.error);
  }};
  c["writebatch_pop_save_point"] = {Needs::kNothing, [](Room& r) {
    cambium_writebatch_pop_save_point(&r.batch, &r.error);
    if (r.error == nullptr) cambium_writebatch_pop_save_point(&r.batch, &r.error);
  }};
  c["writebatch_iterate_cf"] = {Needs::kNothing, [](Room& r) {
    cambium_writebatch_iterate_cf(
        &r.batch, nullptr, [](void*, uint32_t, const char*, size_t, const char*, size_t) {},
        [](void*, uint32_t, const char*, size_t) {}, [](void*, uint32_t, const char*, size_t, const char*, size_t) {},
        &r.error);
  }};
}

void AddReads(Table* all) {
  Table& c = *all;
  c["get"] = {Needs::kOpen, [](Room& r) {
    r.copies[0] = cambium_get(r.db, &r.read, "key", 3, r.sizes, &r.error);
  }};
  c["get_cf"] = {Needs::kOpen, [](Room& r) {
    r.copies[0] = cambium_get_cf(r.db, &r.read, r.x, "key", 3, r.sizes, &r.error);
  }};
  c["get_into_buffer"] = {Needs::kOpen, [](Room& r) {
    char buffer[3'000];
    unsigned char found = 0;
    cambium_get_into_buffer(r.db, &r.read, "key", 3, buffer, sizeof buffer, r.sizes, &found, &r.error);
  }};
  c["get_into_buffer_cf"] = {Needs::kOpen, [](Room& r) {
    char buffer[3];
    unsigned char found = 0;
    cambium_get_into_buffer_cf(r.db, &r.read, r.x, "key", 3, buffer, sizeof buffer, r.sizes, &found, &r.error);
  }};
  c["get_pinned"] = {Needs::kOpen, [](Room& r) {
    r.slices[0] = cambium_get_pinned(r.db, &r.read, "key", 3, &r.error);
  }};
  c["get_pinned_cf"] = {Needs::kOpen, [](Room& r) {
    r.slices[0] = cambium_get_pinned_cf(r.db, &r.read, r.x, "key", 3, &r.error);
  }};
  c["multi_get"] = {Needs::kOpen, [](Room& r) {
    cambium_multi_get(r.db, &r.read, 2, kKeys, kLengths, r.copies, r.sizes, r.errors);
  }};
  c["multi_get_cf"] = {Needs::kOpen, [](Room& r) {
    const cambium_column_family_handle_t* const families[] = {r.x, r.x};
    cambium_multi_get_cf(r.db, &r.read, families, 2, kKeys, kLengths, r.copies, r.sizes, r.errors);
  }};
  c["batched_multi_get_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_batched_multi_get_cf(r.db, &r.read, r.x, 2, kKeys, kLengths, r.slices, r.errors, 0);
  }};
  c["create_iterators"] = {Needs::kOpen, [](Room& r) {
    cambium_column_family_handle_t* const families[] = {r.x, r.x};
    cambium_create_iterators(r.db, &r.read, families, r.iterators, 2, &r.error);
  }};
  c["iter_get_error"] = {Needs::kOpen, [](Room& r) { cambium_iter_get_error(r.iterator, &r.error); }, [](Room& r) {
    r.read.rep.durable_only = true;  // not allowed together with a snapshot
    r.read.rep.snapshot = r.db->rep->GetSnapshot();
    r.iterator = cambium_create_iterator(r.db, &r.read);
    r.db->rep->ReleaseSnapshot(r.read.rep.snapshot);
  }};
  c["approximate_sizes_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_approximate_sizes_cf(r.db, r.x, 1, kKeys, kLengths, kKeys + 1, kLengths + 1, r.numbers, &r.error);
  }};
  c["approximate_sizes_cf_with_flags"] = {Needs::kOpen, [](Room& r) {
    cambium_approximate_sizes_cf_with_flags(r.db, r.x, 1, kKeys, kLengths, kKeys + 1, kLengths + 1, 3, r.numbers,
                                            &r.error);
  }};
}

void AddAsyncReads(Table* all) {
  Table& c = *all;
  const auto make_reader = [](Room& r) { r.reader = cambium_asyncreader_create(r.db, 4, 1u << 20, 1, &r.error); };
  c["asyncreader_create"] = {Needs::kOpen, make_reader};
  c["asyncreader_get"] = {Needs::kOpen, [](Room& r) {
    cambium_asyncreader_get(r.reader, &r.read, "key", 3, CountAnswer, &r.numbers[0], &r.error);
    cambium_asyncreader_poll(r.reader, 1, UINT64_MAX);
  }, make_reader};
  c["asyncreader_get_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_asyncreader_get_cf(r.reader, &r.read, r.x, "key", 3, CountAnswer, &r.numbers[0], &r.error);
    cambium_asyncreader_poll(r.reader, 1, UINT64_MAX);
  }, make_reader};
  c["asyncreader_multi_get_cf"] = {Needs::kOpen, [](Room& r) {
    const cambium_column_family_handle_t* const families[] = {r.x, nullptr};
    cambium_asyncreader_multi_get_cf(r.reader, &r.read, families, 2, kKeys, kLengths, CountAnswers, &r.numbers[0],
                                     &r.error);
    cambium_asyncreader_poll(r.reader, 1, UINT64_MAX);
  }, make_reader};
  c["asyncreader_event_fd"] = {Needs::kOpen, [](Room& r) {
    static_cast<void>(cambium_asyncreader_event_fd(r.reader, &r.error));
  }, make_reader};
}

void AddUpkeep(Table* all) {
  Table& c = *all;
  c["flush"] = {Needs::kOpen, [](Room& r) { cambium_flush(r.db, &r.flush, &r.error); }};
  c["flush_cf"] = {Needs::kOpen, [](Room& r) { cambium_flush_cf(r.db, &r.flush, r.x, &r.error); }};
  c["flush_wal"] = {Needs::kOpen, [](Room& r) { cambium_flush_wal(r.db, 1, &r.error); }};
  c["compact_range_opt"] = {Needs::kOpen, [](Room& r) {
    cambium_compact_range_opt(r.db, &r.compact, nullptr, 0, nullptr, 0, &r.error);
  }};
  c["compact_range_cf_opt"] = {Needs::kOpen, [](Room& r) {
    cambium_compact_range_cf_opt(r.db, r.x, &r.compact, nullptr, 0, nullptr, 0, &r.error);
  }};
  c["verify_checksum"] = {Needs::kOpen, [](Room& r) { cambium_verify_checksum(r.db, &r.read, &r.error); }};
  c["wait_for_compact"] = {Needs::kOpen, [](Room& r) { cambium_wait_for_compact(r.db, &r.error); }};
}

void AddOptions(Table* all) {
  Table& c = *all;
  c["set_options"] = {Needs::kOpen, [](Room& r) {
    cambium_set_options(r.db, 1, kOptionNames, kOptionValues, &r.error);
  }};
  c["set_options_cf"] = {Needs::kOpen, [](Room& r) {
    cambium_set_options_cf(r.db, r.x, 1, kOptionNames, kOptionValues, &r.error);
  }};
  c["set_db_options"] = {Needs::kOpen, [](Room& r) {
    cambium_set_db_options(r.db, 1, kDbOptionNames, kDbOptionValues, &r.error);
  }};
  c["get_options_from_string"] = {Needs::kNothing, [](Room& r) {
    cambium_get_options_from_string(&r.options, "page_size=8K", &r.options, &r.error);
  }};
  c["options_to_string"] = {Needs::kNothing, [](Room& r) {
    r.copies[0] = cambium_options_to_string(&r.options, &r.error);
  }};
  c["load_latest_options"] = {Needs::kClosed, [](Room& r) {
    cambium_options_t* of_db = nullptr;
    cambium_options_t** of_families = nullptr;
    std::size_t count = 0;
    char** names = nullptr;
    cambium_load_latest_options(r.path.c_str(), 0, nullptr, 0, &of_db, &count, &names, &of_families, &r.error);
    if (r.error == nullptr) cambium_load_latest_options_destroy(of_db, names, of_families, count);
  }};
  c["ratelimiter_set_bytes_per_second"] = {Needs::kNothing, [](Room& r) {
    cambium_ratelimiter_set_bytes_per_second(
        reinterpret_cast<cambium_ratelimiter_t*>(&r.options.rep.rate_limiter), -1, &r.error);
  }, [](Room& r) { r.options.rep.rate_limiter.reset(NewGenericRateLimiter(1 << 20)); }};
}

void AddReports(Table* all) {
  Table& c = *all;
  c["flushjobinfo_status"] = TellsStatus<FlushJobInfo>(&cambium_flushjobinfo_status);
  c["compactionjobinfo_status"] = TellsStatus<CompactionJobInfo>(&cambium_compactionjobinfo_status);
  c["loggcjobinfo_status"] = TellsStatus<LogGcJobInfo>(&cambium_loggcjobinfo_status);
  c["tablefilecreationinfo_status"] = TellsStatus<TableFileCreationInfo>(&cambium_tablefilecreationinfo_status);
  c["blobfilecreationinfo_status"] = TellsStatus<BlobFileCreationInfo>(&cambium_blobfilecreationinfo_status);
  c["backgrounderrorinfo_status"] = TellsStatus<BackgroundErrorInfo>(&cambium_backgrounderrorinfo_status);
  c["start_trace"] = {Needs::kOpen, [](Room& r) {
    const cambium_traceoptions_t trace{};
    cambium_start_trace(r.db, &trace, r.out.c_str(), &r.error);
  }};
  c["end_trace"] = {Needs::kOpen, [](Room& r) { cambium_end_trace(r.db, &r.error); }, [](Room& r) {
    const cambium_traceoptions_t trace{};
    cambium_start_trace(r.db, &trace, r.out.c_str(), &r.error);
  }};
}

void AddCopies(Table* all) {
  Table& c = *all;
  c["checkpoint_object_create"] = {Needs::kOpen, [](Room& r) {
    r.checkpoint = cambium_checkpoint_object_create(r.db, &r.error);
  }};
  c["checkpoint_create"] = {Needs::kOpen, [](Room& r) {
    cambium_checkpoint_create(r.checkpoint, r.out.c_str(), 0, &r.error);
  }, [](Room& r) { r.checkpoint = cambium_checkpoint_object_create(r.db, &r.error); }};
  c["checkpoint_offline"] = {Needs::kClosed, [](Room& r) {
    cambium_checkpoint_offline(&r.options, r.path.c_str(), r.out.c_str(), &r.error);
  }};
  const auto close_engine = [](Room& r) {
    cambium_backup_engine_close(r.engine);
    r.engine = nullptr;
  };
  c["backup_engine_open"] = {Needs::kBackup, [](Room& r) {
    r.engine = cambium_backup_engine_open(&r.options, r.backups.c_str(), &r.error);
  }, close_engine};
  c["backup_engine_open_for_read_only"] = {Needs::kBackup, [](Room& r) {
    r.engine = cambium_backup_engine_open_for_read_only(&r.options, r.backups.c_str(), &r.error);
  }, close_engine};
  c["backup_engine_create_new_backup"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_create_new_backup(r.engine, r.db, &r.error);
  }};
  c["backup_engine_create_new_backup_flush"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_create_new_backup_flush(r.engine, r.db, 1, &r.error);
  }};
  c["backup_engine_create_new_backup_offline"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_create_new_backup_offline(r.engine, r.path.c_str(), &r.error);
  }, [](Room& r) { r.Close(); }};
  c["backup_engine_purge_old_backups"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_purge_old_backups(r.engine, 0, &r.error);
  }};
  c["backup_engine_delete_backup"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_delete_backup(r.engine, 1, &r.error);
  }};
  c["backup_engine_garbage_collect"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_garbage_collect(r.engine, &r.error);
  }};
  c["backup_engine_verify_backup"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_verify_backup(r.engine, 1, 1, &r.error);
  }};
  c["backup_engine_restore_db_from_backup"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_restore_db_from_backup(r.engine, r.out.c_str(), 1, &r.error);
  }};
  c["backup_engine_restore_db_from_latest_backup"] = {Needs::kBackup, [](Room& r) {
    cambium_backup_engine_restore_db_from_latest_backup(r.engine, r.out.c_str(), &r.error);
  }};
}

// One case for each function that reports an error.
const Table& Cases() {
  static const auto* const cases = [] {
    auto* const all = new Table;
    AddOpenAndClose(all);
    AddWrites(all);
    AddReads(all);
    AddAsyncReads(all);
    AddUpkeep(all);
    AddOptions(all);
    AddReports(all);
    AddCopies(all);
    AddTransactions(all);
    AddReadsOfTransactions(all);
    AddRangesOfTransactions(all);
    AddIndexedBatches(all);
    AddTransactionDbs(all);
    AddCallsOfTransactionDbs(all);
    AddConditionalWrites(all);
    return all;
  }();
  return *cases;
}

// Returns the functions that the headers declare with a parameter errptr or errors.
std::set<std::string> Declared() {
  std::string text;
  for (const char* const header : {"/c.h", "/c_transaction.h"}) {
    std::ifstream in(std::string(CAMBIUM_C_HEADERS) + header);
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  text = std::regex_replace(text, std::regex("/\\*[^*]*\\*+([^/*][^*]*\\*+)*/"), "");
  std::set<std::string> names;
  for (std::size_t begin = 0, end = 0; (end = text.find(';', begin)) != std::string::npos; begin = end + 1) {
    const std::string declaration = text.substr(begin, end - begin);
    if (declaration.find("char** errptr") == std::string::npos &&
        declaration.find("char** errors") == std::string::npos) {
      continue;
    }
    const std::string before = declaration.substr(0, declaration.find('('));
    names.insert(before.substr(before.rfind("cambium_") + 8));
  }
  return names;
}

TEST(CErrorsTest, EveryFunctionWithAnErrorHasACase) {
  std::set<std::string> tried;
  for (const auto& [name, its] : Cases()) tried.insert(name);
  EXPECT_EQ(tried, Declared());
  EXPECT_GT(tried.size(), 60u);
}

class CMemoryTest : public ::testing::TestWithParam<std::string> {};

// Fails one allocation of the call in each round: first each of the first 40; then the number of the allocation grows
// by an eighth from round to round. `check`, if there is one, looks at the room after each round.
void CheckUnderScarceMemory(const Case& its, const std::function<void(const Room&)>& check = nullptr) {
  for (std::uint64_t granted = 0, met = 1; met != 0; granted += kSweepStep + (granted > 40 ? granted / 8 : 0)) {
    Room room(its.needs);
    if (its.prepare) its.prepare(room);
    {
      ScarceMemory scarce(granted);
      its.call(room);
      met = scarce.End();
    }
    for (const char* const error : {room.error, room.errors[0], room.errors[1]}) {
      if (error != nullptr && met != 0) {
        EXPECT_NE(std::string(error).find("memory"), std::string::npos) << error << ", after " << granted;
        EXPECT_NE(cambium_error_code(error), cambium_code_unknown) << error << ", after " << granted;
      }
    }
    if (check) check(room);
  }
}

TEST_P(CMemoryTest, OutOfMemoryIsReported) { CheckUnderScarceMemory(Cases().at(GetParam())); }

// The second phase writes more than the end of another transaction. If it fails, the transaction is still prepared.
TEST(CErrorsTest, OutOfMemoryInTheSecondPhaseIsReported) {
  for (const auto end : {&cambium_transaction_commit, &cambium_transaction_rollback}) {
    const int ended = end == &cambium_transaction_commit ? cambium_transaction_committed : cambium_transaction_started;
    CheckUnderScarceMemory({Needs::kNothing, [end](Room& r) { end(r.txn, &r.error); }, Prepare}, [&](const Room& r) {
      EXPECT_EQ(cambium_transaction_get_state(r.txn), r.error == nullptr ? ended : cambium_transaction_prepared);
    });
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, its] : Cases()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, CMemoryTest, ::testing::ValuesIn(Names()),
                         [](const auto& its) { return its.param; });

// Regression: an index out of range threw an exception through the interface, which ended the program.
TEST(CErrorsTest, OutOfRangeBackupIndexReturnsZeros) {
  Room room(Needs::kOpen);
  char* error = nullptr;
  cambium_backup_engine_t* const engine = cambium_backup_engine_open(&room.options, room.backups.c_str(), &error);
  ASSERT_EQ(error, nullptr) << error;
  const cambium_backup_engine_info_t* const info = cambium_backup_engine_get_backup_info(engine);
  EXPECT_EQ(cambium_backup_engine_info_count(info), 0);
  for (const int index : {0, -1, 1 << 30}) {
    EXPECT_EQ(cambium_backup_engine_info_timestamp(info, index), 0);
    EXPECT_EQ(cambium_backup_engine_info_backup_id(info, index), 0u);
    EXPECT_EQ(cambium_backup_engine_info_size(info, index), 0u);
    EXPECT_EQ(cambium_backup_engine_info_number_files(info, index), 0u);
    EXPECT_EQ(cambium_backup_engine_info_sequence_number(info, index), 0u);
  }
  cambium_backup_engine_info_destroy(info);
  cambium_backup_engine_close(engine);
}

// Regression: while a snapshot exists, Close returns Aborted and leaves the database open. An Aborted error from the
// disk, which leaves the database closed, was mistaken for this case, and the database leaked.
TEST(CErrorsTest, CloseFreesDatabaseAfterAbortedFromTheDisk) {
  const auto fs = std::make_shared<SimFileSystem>();
  const std::weak_ptr<SimFileSystem> watched = fs;
  char* error = nullptr;
  {
    cambium_options_t options{Options()};
    options.rep.create_if_missing = true;
    options.rep.file_system = fs;
    options.rep.info_log = NullLogger();
    cambium_t* const db = cambium_open(&options, "/db", &error);
    ASSERT_EQ(error, nullptr) << error;
    const cambium_writeoptions_t write{};
    cambium_put(db, &write, "key", 3, "value", 5, &error);
    ASSERT_EQ(error, nullptr) << error;
    SimFault fault;
    fault.kind = SimOpKind::kSync;
    fault.sticky = true;
    fault.status = Status::Aborted("a disk that gives up");
    fs->AddFault(fault);
    EXPECT_EQ(cambium_close_with_status(db, &error), 1);
  }
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(error).find("a disk that gives up"), std::string::npos) << error;
  cambium_free(error);
  EXPECT_EQ(watched.use_count(), 1) << "the database is still there";
}

// Exceptions of the library other than bad_alloc.
TEST(CErrorsTest, OtherExceptionsAreReported) {
  char* error = nullptr;
  c::Guarded(&error, []() -> Status { throw std::length_error("vector"); });
  EXPECT_STREQ(error, c::kOutOfMemory);
  c::Guarded(&error, []() -> Status { throw std::out_of_range("index"); });
  EXPECT_STREQ(error, "Operation aborted: index");
  cambium_free(error);
}

// A status whose text needs more memory than there is. The error then has a text that was there before, with the same
// code, subcode and severity, and it may be freed and replaced like any other.
TEST(CErrorsTest, CodeIsKeptWithoutMemoryForTheText) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  const std::string message(100, 'm');
  char* error = nullptr;
  const Status all[] = {
      Status::NotFound(message), Status::Corruption(message), Status::NotSupported(message),
      Status::InvalidArgument(message), Status::IOError(message), Status::NoSpace(message), Status::Locked(message),
      Status::PathNotFound(message), Status::Denied(message), Status::Incomplete(message),
      Status::ShutdownInProgress(message), Status::TimedOut(message), Status::LockTimeout(message),
      Status::Aborted(message), Status::OutOfMemory(message), Status::Busy(message), Status::Deadlock(message),
      Status::LockLimit(message), Status::Expired(message), Status::TryAgain(message),
      Status::ColumnFamilyDropped(message)};
  for (const Status& plain : all) {
    const Status fatal = plain.Fatal();
    for (const Status* const its : {&plain, &fatal}) {
      const Status& status = *its;
      {
        ScarceMemory scarce(0);
        c::SaveError(&error, status);
      }
      ASSERT_NE(error, nullptr);
      EXPECT_STREQ(cambium_error_message(error), "no memory for the error message") << error;
      EXPECT_EQ(cambium_error_code(error), static_cast<int>(status.code())) << error;
      EXPECT_EQ(cambium_error_subcode(error), static_cast<int>(status.subcode())) << error;
      EXPECT_EQ(cambium_error_severity(error), static_cast<int>(status.severity())) << error;
      cambium_free(std::exchange(error, nullptr));
      c::SaveError(&error, status);
      EXPECT_STREQ(error, status.ToString().c_str());
    }
  }
  cambium_free(error);
}

TEST(CErrorsTest, GetIntoBufferAllocatesNothingForAValueInMemory) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  Room room(Needs::kOpen);
  cambium_compact_range(room.db, nullptr, 0, nullptr, 0);
  char buffer[2'000];
  std::size_t length = 0;
  unsigned char found = 0;
  const auto allocated = [&] {
    const AllocatedBytes bytes;
    EXPECT_EQ(cambium_get_into_buffer(room.db, &room.read, "key", 3, buffer, sizeof buffer, &length, &found,
                                      &room.error), 1);
    return bytes.get();
  };
  // The first reads map the segment, and ask whether the value is in memory.
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 1'000 && least != 0; ++i) least = std::min(least, allocated());
  EXPECT_EQ(length, 2'000u);
  EXPECT_EQ(std::string(buffer, length), std::string(2'000, 'v'));
  EXPECT_EQ(least, 0u) << "or this file system has no reads that do not wait";
}

}  // namespace
}  // namespace cambium::testing
