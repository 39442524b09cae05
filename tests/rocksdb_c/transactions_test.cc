// Transactions of both kinds, over the names of RocksDB's C interface.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "rocksdb_c/rocksdb_c_fixture.h"

namespace cambium::testing {
namespace {

class RocksDbCTransactionsTest : public RocksDbCFixture {
 protected:
  ~RocksDbCTransactionsTest() override {
    if (txn_db_ != nullptr) Call<void>("rocksdb_transactiondb_close", txn_db_);
    if (optimistic_ != nullptr) Call<void>("rocksdb_optimistictransactiondb_close", optimistic_);
    Call<void>("rocksdb_readoptions_destroy", read_);
    Call<void>("rocksdb_writeoptions_destroy", write_);
    Call<void>("rocksdb_optimistictransaction_options_destroy", optimistic_options_);
    Call<void>("rocksdb_transaction_options_destroy", txn_options_);
    Call<void>("rocksdb_transactiondb_options_destroy", db_options_);
    Call<void>("rocksdb_options_destroy", options_);
  }
  // Returns the error.
  std::string OpenPessimistic() {
    // A call that meets a lock returns at once.
    Call<void>("rocksdb_transactiondb_options_set_transaction_lock_timeout", db_options_, std::int64_t{0});
    Call<void>("rocksdb_transactiondb_options_set_default_lock_timeout", db_options_, std::int64_t{0});
    txn_db_ = Call<void*>("rocksdb_transactiondb_open", options_, db_options_, path_.c_str(), &error_);
    return Error();
  }
  std::string OpenOptimistic() {
    optimistic_ = Call<void*>("rocksdb_optimistictransactiondb_open", options_, path_.c_str(), &error_);
    return Error();
  }
  // Begins one of the database that is open; with `old`, begins that one anew.
  void* Begin(void* old = nullptr) {
    if (txn_db_ != nullptr) return Call<void*>("rocksdb_transaction_begin", txn_db_, write_, txn_options_, old);
    return Call<void*>("rocksdb_optimistictransaction_begin", optimistic_, write_, optimistic_options_, old);
  }
  // The calls of a transaction. They return the error.
  std::string PutIn(void* txn, const std::string& key, const std::string& value) {
    Call<void>("rocksdb_transaction_put", txn, key.data(), key.size(), value.data(), value.size(), &error_);
    return Error();
  }
  std::string Commit(void* txn) {
    Call<void>("rocksdb_transaction_commit", txn, &error_);
    return Error();
  }
  // The value, "none" if there is none, or the error.
  std::string GetIn(void* txn, const std::string& key) {
    std::size_t length = 99;
    char* const value = Call<char*>("rocksdb_transaction_get", txn, read_, key.data(), key.size(), &length, &error_);
    const std::string found = Taken(value, length);
    const std::string error = Error();
    void* const pinned = Call<void*>("rocksdb_transaction_get_pinned", txn, read_, key.data(), key.size(), &error_);
    EXPECT_EQ(TakenPinned(pinned), found);
    EXPECT_EQ(Error(), error);
    return error.empty() ? found : error;
  }
  std::string GetForUpdateIn(void* txn, const std::string& key, bool exclusive = true) {
    std::size_t length = 99;
    char* const value = Call<char*>("rocksdb_transaction_get_for_update", txn, read_, key.data(), key.size(), &length,
                                    static_cast<unsigned char>(exclusive ? 1 : 0), &error_);
    const std::string found = Taken(value, length);
    const std::string error = Error();
    return error.empty() ? found : error;
  }
  void End(void* txn) { Call<void>("rocksdb_transaction_destroy", txn); }
  std::string GetOutside(const std::string& key) {
    std::size_t length = 99;
    char* const value =
        Call<char*>("rocksdb_transactiondb_get", txn_db_, read_, key.data(), key.size(), &length, &error_);
    EXPECT_EQ(Error(), "");
    return Taken(value, length);
  }
  std::string PutOutside(const std::string& key, const std::string& value) {
    Call<void>("rocksdb_transactiondb_put", txn_db_, write_, key.data(), key.size(), value.data(), value.size(),
               &error_);
    return Error();
  }

  void* const options_ = NewOptions();
  void* const db_options_ = Call<void*>("rocksdb_transactiondb_options_create");
  void* const txn_options_ = Call<void*>("rocksdb_transaction_options_create");
  void* const optimistic_options_ = Call<void*>("rocksdb_optimistictransaction_options_create");
  void* const write_ = Call<void*>("rocksdb_writeoptions_create");
  void* const read_ = Call<void*>("rocksdb_readoptions_create");
  void* txn_db_ = nullptr;
  void* optimistic_ = nullptr;
};

TEST_F(RocksDbCTransactionsTest, WritesOfATransactionAreSeenOutsideAfterItsCommit) {
  ASSERT_EQ(OpenPessimistic(), "");
  void* txn = Begin();
  EXPECT_EQ(PutIn(txn, "elm", "new"), "");
  EXPECT_EQ(GetIn(txn, "elm"), "new");
  EXPECT_EQ(GetIn(txn, "oak"), "none");
  EXPECT_EQ(GetOutside("elm"), "none");
  EXPECT_EQ(Commit(txn), "");
  EXPECT_EQ(GetOutside("elm"), "new");
  EXPECT_EQ(Begin(txn), txn) << "the old one begins anew";
  Call<void>("rocksdb_transaction_set_savepoint", txn);
  Call<void>("rocksdb_transaction_delete", txn, "elm", std::size_t{3}, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(GetIn(txn, "elm"), "none");
  Call<void>("rocksdb_transaction_rollback_to_savepoint", txn, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(GetIn(txn, "elm"), "new");
  EXPECT_EQ(PutIn(txn, "fir", "rolled back"), "");
  Call<void>("rocksdb_transaction_rollback", txn, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(GetIn(txn, "fir"), "none");
  End(txn);
  EXPECT_EQ(GetOutside("fir"), "none");
}

// Programs look at the beginning of an error's text.
TEST_F(RocksDbCTransactionsTest, LocksKeepOthersFromWriting) {
  ASSERT_EQ(OpenPessimistic(), "");
  EXPECT_EQ(PutOutside("elm", "old"), "");
  void* const first = Begin();
  void* const second = Begin();
  EXPECT_EQ(GetForUpdateIn(first, "elm"), "old");
  EXPECT_EQ(GetForUpdateIn(first, "oak"), "none") << "a key that does not exist is locked too";
  for (const char* const key : {"elm", "oak"}) {
    EXPECT_TRUE(PutIn(second, key, "other").starts_with("Operation timed out")) << key;
    EXPECT_TRUE(PutOutside(key, "other").starts_with("Operation timed out")) << key;
  }
  EXPECT_EQ(GetIn(second, "elm"), "old") << "reading needs no lock";
  EXPECT_EQ(GetForUpdateIn(second, "fir", false), "none");
  EXPECT_EQ(GetForUpdateIn(first, "fir", false), "none") << "two share a lock that is not exclusive";
  EXPECT_EQ(Commit(first), "");
  EXPECT_EQ(PutIn(second, "elm", "other"), "");
  EXPECT_EQ(Commit(second), "");
  EXPECT_EQ(GetOutside("elm"), "other");
  End(first);
  End(second);
}

// The object of a transaction's snapshot is the program's, and is released with rocksdb_free.
TEST_F(RocksDbCTransactionsTest, SnapshotFindsConflictsButIsReadOnlyIfPassed) {
  Call<void>("rocksdb_transaction_options_set_set_snapshot", txn_options_, static_cast<unsigned char>(1));
  ASSERT_EQ(OpenPessimistic(), "");
  EXPECT_EQ(PutOutside("elm", "old"), "");
  void* txn = Begin();
  EXPECT_EQ(PutOutside("elm", "newer"), "");
  EXPECT_EQ(GetIn(txn, "elm"), "newer") << "as in RocksDB";
  void* const snapshot = Call<void*>("rocksdb_transaction_get_snapshot", txn);
  EXPECT_GT(Call<std::uint64_t>("rocksdb_snapshot_get_sequence_number", snapshot), 0U);
  Call<void>("rocksdb_readoptions_set_snapshot", read_, snapshot);
  EXPECT_EQ(GetIn(txn, "elm"), "old");
  void* const iterator = Call<void*>("rocksdb_transaction_create_iterator", txn, read_);
  EXPECT_EQ(Shown(iterator), "elm=old");
  Call<void>("rocksdb_iter_destroy", iterator);
  void* const nothing = nullptr;
  Call<void>("rocksdb_readoptions_set_snapshot", read_, nothing);
  Call<void>("rocksdb_free", snapshot);
  EXPECT_TRUE(PutIn(txn, "elm", "mine").starts_with("Resource busy"));
  End(txn);

  Call<void>("rocksdb_transaction_options_set_set_snapshot", txn_options_, static_cast<unsigned char>(0));
  txn = Begin();
  void* const none = Call<void*>("rocksdb_transaction_get_snapshot", txn);
  ASSERT_NE(none, nullptr);
  Call<void>("rocksdb_readoptions_set_snapshot", read_, none);
  EXPECT_EQ(GetIn(txn, "elm"), "newer") << "a transaction without a snapshot";
  Call<void>("rocksdb_readoptions_set_snapshot", read_, nothing);
  Call<void>("rocksdb_free", none);
  End(txn);
}

TEST_F(RocksDbCTransactionsTest, IteratorsShowTheTransactionAboveTheDatabase) {
  ASSERT_EQ(OpenPessimistic(), "");
  for (const char* const key : {"b", "d", "f"}) EXPECT_EQ(PutOutside(key, "db"), "");
  void* const txn = Begin();
  EXPECT_EQ(PutIn(txn, "c", "txn"), "");
  EXPECT_EQ(PutIn(txn, "d", "txn"), "");
  void* iterator = Call<void*>("rocksdb_transaction_create_iterator", txn, read_);
  EXPECT_EQ(Shown(iterator), "b=db c=txn d=txn f=db");
  Call<void>("rocksdb_iter_destroy", iterator);
  Call<void>("rocksdb_readoptions_set_iterate_lower_bound", read_, "c", std::size_t{1});
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read_, "d", std::size_t{1});
  iterator = Call<void*>("rocksdb_transaction_create_iterator", txn, read_);
  EXPECT_EQ(Shown(iterator), "c=txn");
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read_, "g", std::size_t{1});
  EXPECT_EQ(Shown(iterator), "c=txn d=txn f=db") << "other bounds";
  Call<void>("rocksdb_iter_destroy", iterator);
  iterator = Call<void*>("rocksdb_transactiondb_create_iterator", txn_db_, read_);
  EXPECT_EQ(Shown(iterator), "d=db f=db");
  Call<void>("rocksdb_iter_destroy", iterator);
  End(txn);
}

TEST_F(RocksDbCTransactionsTest, MultiGetReadsSeveralFamilies) {
  ASSERT_EQ(OpenPessimistic(), "");
  void* const family = Call<void*>("rocksdb_transactiondb_create_column_family", txn_db_, options_, "trees", &error_);
  ASSERT_EQ(Error(), "");
  void* const home = Call<void*>("rocksdb_transactiondb_create_column_family", txn_db_, options_, "home", &error_);
  ASSERT_EQ(Error(), "");
  void* const txn = Begin();
  Call<void>("rocksdb_transaction_put_cf", txn, family, "elm", std::size_t{3}, "tree", std::size_t{4}, &error_);
  Call<void>("rocksdb_transaction_put_cf", txn, home, "elm", std::size_t{3}, "table", std::size_t{5}, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(GetIn(txn, "elm"), "none") << "the default family";
  void* const no_family = nullptr;
  Call<void>("rocksdb_transaction_put_cf", txn, no_family, "elm", std::size_t{3}, "tree", std::size_t{4}, &error_);
  EXPECT_NE(Error().find("column family handle is null"), std::string::npos) << "not the default family";
  Call<void>("rocksdb_transactiondb_put_cf", txn_db_, write_, no_family, "elm", std::size_t{3}, "v", std::size_t{1},
             &error_);
  EXPECT_NE(Error().find("column family handle is null"), std::string::npos);
  Call<void>("rocksdb_transactiondb_delete_cf", txn_db_, write_, no_family, "elm", std::size_t{3}, &error_);
  EXPECT_NE(Error().find("column family handle is null"), std::string::npos);
  const void* const families[] = {family, family, home, nullptr, home};
  const char* const keys[] = {"elm", "oak", "elm", "elm", "oak"};
  const std::size_t lengths[] = {3, 3, 3, 3, 3};
  for (const char* const name : {"rocksdb_transaction_multi_get_cf", "rocksdb_transaction_multi_get_for_update_cf"}) {
    char* values[5];
    std::size_t value_lengths[5];
    char* errors[5];
    Call<void>(name, txn, read_, static_cast<const void* const*>(families), std::size_t{5},
               static_cast<const char* const*>(keys), static_cast<const std::size_t*>(lengths),
               static_cast<char**>(values), static_cast<std::size_t*>(value_lengths), static_cast<char**>(errors));
    std::string all;
    for (std::size_t i = 0; i < 5; ++i) {
      all += Taken(values[i], value_lengths[i]) + (errors[i] == nullptr ? " " : " failed ");
      Call<void>("rocksdb_free", static_cast<void*>(errors[i]));
    }
    EXPECT_EQ(all, "tree none table none failed none ") << name;
  }
  EXPECT_EQ(Commit(txn), "");
  End(txn);
  void* const names = Call<void*>("rocksdb_transactiondb_create_iterator_cf", txn_db_, read_, family);
  EXPECT_EQ(Shown(names), "elm=tree");
  Call<void>("rocksdb_iter_destroy", names);
  Call<void>("rocksdb_column_family_handle_destroy", family);
  Call<void>("rocksdb_column_family_handle_destroy", home);
}

// A program reads the batch of a transaction, and makes it part of another one.
TEST_F(RocksDbCTransactionsTest, ABatchOfATransactionCanBeBuiltIntoAnother) {
  ASSERT_EQ(OpenPessimistic(), "");
  void* const first = Begin();
  EXPECT_EQ(PutIn(first, "elm", "built"), "");
  void* const indexed = Call<void*>("rocksdb_transaction_get_writebatch_wi", first);
  EXPECT_EQ(Call<int>("rocksdb_writebatch_wi_count", indexed), 1);
  std::size_t length = 0;
  const char* const data = Call<const char*>("rocksdb_writebatch_wi_data", indexed, &length);
  void* const batch = Call<void*>("rocksdb_writebatch_create_from", data, length);
  Call<void>("rocksdb_free", indexed);
  End(first);
  void* const second = Begin();
  Call<void>("rocksdb_transaction_rebuild_from_writebatch", second, batch, &error_);
  EXPECT_EQ(Error(), "");
  Call<void>("rocksdb_writebatch_destroy", batch);
  EXPECT_EQ(GetIn(second, "elm"), "built");
  EXPECT_TRUE(PutOutside("elm", "other").starts_with("Operation timed out")) << "its keys are locked";
  EXPECT_EQ(Commit(second), "");
  End(second);
  EXPECT_EQ(GetOutside("elm"), "built");
}

TEST_F(RocksDbCTransactionsTest, AnOptimisticCommitFailsAfterAConflict) {
  ASSERT_EQ(OpenOptimistic(), "");
  void* const base = Call<void*>("rocksdb_optimistictransactiondb_get_base_db", optimistic_);
  Put(base, "elm", "old");
  void* const first = Begin();
  void* const second = Begin();
  EXPECT_EQ(PutIn(first, "elm", "first"), "");
  EXPECT_EQ(PutIn(second, "elm", "second"), "");
  EXPECT_EQ(Commit(first), "");
  EXPECT_TRUE(Commit(second).starts_with("Resource busy"));
  EXPECT_EQ(Get(base, "elm"), "first");
  EXPECT_EQ(Begin(second), second);
  EXPECT_EQ(GetForUpdateIn(second, "elm"), "first");
  Put(base, "elm", "outside");
  EXPECT_EQ(GetIn(second, "elm"), "outside") << "the newest state";
  EXPECT_TRUE(Commit(second).starts_with("Resource busy")) << "a key that was read for update";
  End(first);
  End(second);
  Call<void>("rocksdb_optimistictransactiondb_close_base_db", base);
}

TEST_F(RocksDbCTransactionsTest, OptimisticFamiliesAreOpenedTogether) {
  Call<void>("rocksdb_options_set_create_missing_column_families", options_, static_cast<unsigned char>(1));
  void* const db_options = Call<void*>("rocksdb_optimistictransactiondb_options_create");
  Call<void>("rocksdb_optimistictransactiondb_options_set_validate_policy", db_options, 0);
  const char* const names[] = {"default", "trees"};
  const void* const each[] = {options_, options_};
  void* families[2] = {};
  optimistic_ = Call<void*>("rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options", options_,
                            db_options, path_.c_str(), 2, static_cast<const char* const*>(names),
                            static_cast<const void* const*>(each), static_cast<void**>(families), &error_);
  ASSERT_EQ(Error(), "");
  Call<void>("rocksdb_optimistictransactiondb_options_destroy", db_options);
  EXPECT_NE(Log().find("no effect here: validate_policy\n"), std::string::npos) << Log();
  const auto put_in_family = [&](void* txn, const std::string& value) {
    Call<void>("rocksdb_transaction_put_cf", txn, families[1], "elm", std::size_t{3}, value.data(), value.size(),
               &error_);
    return Error();
  };
  void* const first = Begin();
  void* const second = Begin();
  EXPECT_EQ(put_in_family(first, "first"), "");
  EXPECT_EQ(PutIn(second, "elm", "another family"), "");
  EXPECT_EQ(Commit(first), "");
  EXPECT_EQ(Commit(second), "") << "no conflict";
  EXPECT_EQ(Begin(second), second);
  void* const iterator = Call<void*>("rocksdb_transaction_create_iterator_cf", second, read_, families[1]);
  EXPECT_EQ(Shown(iterator), "elm=first");
  Call<void>("rocksdb_iter_destroy", iterator);
  std::uint64_t keys = 0;
  EXPECT_EQ(Call<int>("rocksdb_optimistictransactiondb_property_int", optimistic_, "rocksdb.estimate-num-keys", &keys),
            0);
  EXPECT_EQ(keys, 1U);
  End(first);
  End(second);
  for (void* const family : families) Call<void>("rocksdb_column_family_handle_destroy", family);
}

TEST_F(RocksDbCTransactionsTest, BaseDbIsTheSameDatabase) {
  ASSERT_EQ(OpenPessimistic(), "");
  EXPECT_EQ(PutOutside("elm", "v"), "");
  void* const base = Call<void*>("rocksdb_transactiondb_get_base_db", txn_db_);
  EXPECT_EQ(Get(base, "elm"), "v");
  void* const checkpoint = Call<void*>("rocksdb_transactiondb_checkpoint_object_create", txn_db_, &error_);
  ASSERT_EQ(Error(), "");
  const std::string copy = directory_.File("copy");
  Call<void>("rocksdb_checkpoint_create", checkpoint, copy.c_str(), std::uint64_t{0}, &error_);
  EXPECT_EQ(Error(), "");
  Call<void>("rocksdb_checkpoint_object_destroy", checkpoint);
  Call<void>("rocksdb_transactiondb_close", txn_db_);
  EXPECT_EQ(Get(base, "elm"), "v") << "the base keeps it open";
  Call<void>("rocksdb_transactiondb_close_base_db", base);
  txn_db_ = Call<void*>("rocksdb_transactiondb_open", options_, db_options_, copy.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  EXPECT_EQ(GetOutside("elm"), "v");
}

// Options whose meaning would be lost make the call fail that uses them; others are in LOG.
TEST_F(RocksDbCTransactionsTest, OptionsAreStoredRefusedOrLogged) {
  Call<void>("rocksdb_transactiondb_options_set_write_policy", db_options_, 1);
  EXPECT_NE(OpenPessimistic().find("WRITE_COMMITTED"), std::string::npos);
  EXPECT_EQ(txn_db_, nullptr);
  Call<void>("rocksdb_transactiondb_options_set_write_policy", db_options_, 0);
  Call<void>("rocksdb_transactiondb_options_set_use_per_key_point_lock_mgr", db_options_,
             static_cast<unsigned char>(1));
  Call<void>("rocksdb_transactiondb_options_set_max_num_locks", db_options_, std::int64_t{1});
  ASSERT_EQ(OpenPessimistic(), "");
  EXPECT_NE(Log().find("no effect here: use_per_key_point_lock_mgr\n"), std::string::npos) << Log();
  void* txn = Begin();
  EXPECT_EQ(PutIn(txn, "elm", "v"), "");
  EXPECT_TRUE(PutIn(txn, "oak", "v").starts_with("Resource busy")) << "max_num_locks";
  End(txn);
  Call<void>("rocksdb_transaction_options_set_max_write_batch_size", txn_options_, std::size_t{50});
  txn = Begin();
  EXPECT_NE(PutIn(txn, "elm", std::string(50, 'v')), "") << "max_write_batch_size";
  End(txn);
  Call<void>("rocksdb_transaction_options_set_max_write_batch_size", txn_options_, std::size_t{0});
  Call<void>("rocksdb_transaction_options_set_skip_prepare", txn_options_, static_cast<unsigned char>(0));
  txn = Begin();
  EXPECT_EQ(PutIn(txn, "elm", "v"), "");
  EXPECT_NE(Commit(txn).find("prepared"), std::string::npos);
  Call<void>("rocksdb_transaction_prepare", txn, &error_);
  EXPECT_TRUE(Error().starts_with("Invalid argument")) << "it has no name";
  Call<void>("rocksdb_transaction_set_name", txn, "t", std::size_t{1}, &error_);
  EXPECT_EQ(Error(), "");
  Call<void>("rocksdb_transaction_prepare", txn, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(GetOutside("elm"), "none");
  EXPECT_EQ(Commit(txn), "");
  EXPECT_EQ(GetOutside("elm"), "v");
  End(txn);
}

TEST_F(RocksDbCTransactionsTest, APreparedTransactionIsFoundAfterAReopen) {
  ASSERT_EQ(OpenPessimistic(), "");
  void* const txn = Begin();
  EXPECT_EQ(PutIn(txn, "elm", "v"), "");
  Call<void>("rocksdb_transaction_set_name", txn, "t", std::size_t{1}, &error_);
  Call<void>("rocksdb_transaction_prepare", txn, &error_);
  EXPECT_EQ(Error(), "");
  std::size_t count = 99;
  EXPECT_EQ(Call<void*>("rocksdb_transactiondb_get_prepared_transactions", txn_db_, &count), nullptr);
  EXPECT_EQ(count, 0U) << "the program has its object";
  End(txn);
  Call<void>("rocksdb_transactiondb_close", txn_db_);
  ASSERT_EQ(OpenPessimistic(), "");
  void** const found = Call<void**>("rocksdb_transactiondb_get_prepared_transactions", txn_db_, &count);
  ASSERT_EQ(count, 1U);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(GetOutside("elm"), "none");
  EXPECT_EQ(Commit(found[0]), "");
  EXPECT_EQ(GetOutside("elm"), "v");
  End(found[0]);
  Call<void>("rocksdb_free", found);
}

TEST_F(RocksDbCTransactionsTest, ATransactionExpires) {
  Call<void>("rocksdb_transaction_options_set_expiration", txn_options_, std::int64_t{1});
  ASSERT_EQ(OpenPessimistic(), "");
  void* const txn = Begin();
  // A program may be late already.
  if (const std::string error = PutIn(txn, "elm", "v"); !error.empty()) {
    EXPECT_TRUE(error.starts_with("Operation expired")) << error;
  }
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(5)) std::this_thread::yield();
  EXPECT_TRUE(Commit(txn).starts_with("Operation expired"));
  End(txn);
  EXPECT_EQ(GetOutside("elm"), "none");
}

TEST_F(RocksDbCTransactionsTest, FeaturesThatDoNotExistFail) {
  ASSERT_EQ(OpenPessimistic(), "");
  void* txn = Begin();
  Call<void>("rocksdb_transaction_merge", txn, "elm", std::size_t{3}, "v", std::size_t{1}, &error_);
  EXPECT_NE(Error().find("Merge is not in this version"), std::string::npos);
  EXPECT_EQ(PutIn(txn, "elm", "v"), "");
  Call<void>("rocksdb_transaction_set_commit_timestamp", txn, std::uint64_t{7});
  EXPECT_NE(Commit(txn).find("timestamp"), std::string::npos) << "the function before cannot say so";
  EXPECT_EQ(GetOutside("elm"), "none");
  EXPECT_EQ(Begin(txn), txn);
  EXPECT_EQ(PutIn(txn, "elm", "v"), "");
  EXPECT_EQ(Commit(txn), "");
  End(txn);
  std::size_t length = 99;
  txn = Begin();
  Call<void>("rocksdb_transaction_set_name", txn, "sapling", std::size_t{7}, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(Taken(Call<char*>("rocksdb_transaction_get_name", txn, &length), 7), "sapling");
  EXPECT_EQ(length, 7U);
  End(txn);
}

}  // namespace
}  // namespace cambium::testing
