#include <cstddef>
#include <cstdlib>
#include <string>

#include "rocksdb_c/rocksdb_c_fixture.h"

namespace cambium::testing {
namespace {

using RocksDbCTest = RocksDbCFixture;

TEST_F(RocksDbCTest, KeysAreThereAfterReopening) {
  void* const options = NewOptions();
  void* db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  Put(db, "oak", "a ring a year");
  Put(db, "ash", std::string(5000, 'a'));
  EXPECT_EQ(Get(db, "oak"), "a ring a year");
  Call<void>("rocksdb_close", db);
  db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  EXPECT_EQ(Get(db, "ash"), std::string(5000, 'a'));
  EXPECT_EQ(Get(db, "elm"), "none");
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
}

TEST_F(RocksDbCTest, ACheckpointHasTheIdentityOfItsDatabase) {
  void* const options = NewOptions();
  const auto identity = [&](void* db) {
    std::size_t length = 0;
    char* const text = Call<char*>("rocksdb_get_db_identity", db, &length);
    std::string copy(text, length);
    Call<void>("rocksdb_free", static_cast<void*>(text));
    return copy;
  };
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  const std::string own = identity(db);
  EXPECT_EQ(own.size(), 36U) << "as RocksDB writes it: 32 digits in five groups";
  void* const checkpoint = Call<void*>("rocksdb_checkpoint_object_create", db, &error_);
  const std::string copy_path = directory_.File("copy");
  Call<void>("rocksdb_checkpoint_create", checkpoint, copy_path.c_str(), std::uint64_t{0}, &error_);
  ASSERT_EQ(Error(), "");
  Call<void>("rocksdb_checkpoint_object_destroy", checkpoint);
  Call<void>("rocksdb_close", db);
  void* const copy = Call<void*>("rocksdb_open", options, copy_path.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  EXPECT_EQ(identity(copy), own);
  Call<void>("rocksdb_close", copy);
  void* const other = Call<void*>("rocksdb_open", options, directory_.File("other").c_str(), &error_);
  ASSERT_EQ(Error(), "");
  EXPECT_NE(identity(other), own);
  Call<void>("rocksdb_close", other);
  Call<void>("rocksdb_options_destroy", options);
}

// Programs read the serialised form of a batch, and make batches of forms that RocksDB has written.
TEST_F(RocksDbCTest, BatchesHaveRocksDbsSerialisedForm) {
  using namespace std::string_literals;
  void* const options = NewOptions();
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  void* const write = Call<void*>("rocksdb_writeoptions_create");
  const auto written = [&](const std::string& form) {
    void* const batch = Call<void*>("rocksdb_writebatch_create_from", form.data(), form.size());
    std::size_t length = 0;
    const char* const data = Call<const char*>("rocksdb_writebatch_data", batch, &length);
    const std::string again(data, length);
    Call<void>("rocksdb_write", db, write, batch, &error_);
    Call<void>("rocksdb_writebatch_destroy", batch);
    const std::string error = Error();
    return error.empty() ? again : error;
  };
  void* const batch = Call<void*>("rocksdb_writebatch_create");
  Call<void>("rocksdb_writebatch_put", batch, "k1", std::size_t{2}, "v1", std::size_t{2});
  Call<void>("rocksdb_writebatch_delete", batch, "k2", std::size_t{2});
  Call<void>("rocksdb_writebatch_singledelete", batch, "k3", std::size_t{2});
  Call<void>("rocksdb_writebatch_delete_range", batch, "x", std::size_t{1}, "y", std::size_t{1});
  std::size_t length = 0;
  const char* const data = Call<const char*>("rocksdb_writebatch_data", batch, &length);
  const std::string zeros(8, '\0');
  const std::string form =
      zeros + "\x04\0\0\0"s + "\x01\x02k1\x02v1"s + "\x00\x02k2"s + "\x07\x02k3"s + "\x0f\x01x\x01y"s;
  EXPECT_EQ(std::string(data, length), form);
  std::size_t again = 0;
  EXPECT_EQ(Call<const char*>("rocksdb_writebatch_data", batch, &again), data) << "valid until the batch changes";
  Call<void>("rocksdb_writebatch_destroy", batch);
  EXPECT_EQ(written(form), form);
  // No batch can be made of one that has refused an operation: it would lack the operation.
  void* const refused = Call<void*>("rocksdb_writebatch_create");
  const std::string long_key(70'000, 'k');
  Call<void>("rocksdb_writebatch_put", refused, "k1", std::size_t{2}, "v1", std::size_t{2});
  Call<void>("rocksdb_writebatch_put", refused, long_key.data(), long_key.size(), "v1", std::size_t{2});
  const char* const without = Call<const char*>("rocksdb_writebatch_data", refused, &again);
  EXPECT_EQ(written(std::string(without, again)).rfind("Corruption", 0), 0U);
  Call<void>("rocksdb_writebatch_destroy", refused);
  EXPECT_EQ(Get(db, "k1"), "v1");
  // Log data and no-ops do not count; a family without a handle is known when the batch is written.
  EXPECT_EQ(written(zeros + "\x01\0\0\0"s + "\x03\x03log"s + "\x0d"s + "\x01\x02k4\x02v4"s),
            zeros + "\x01\0\0\0"s + "\x01\x02k4\x02v4"s);
  EXPECT_EQ(Get(db, "k4"), "v4");
  EXPECT_NE(written(zeros + "\x01\0\0\0"s + "\x05\x07\x02k5\x02v5"s).find("family"), std::string::npos);
  EXPECT_NE(written(zeros + "\x01\0\0\0"s + "\x02\x02k6\x02v6"s).find("Merge"), std::string::npos);
  EXPECT_NE(written(zeros + "\x01\0\0\0"s + "\x13"s).find("operation 19"), std::string::npos);
  for (const std::string& malformed :
       {"\x01\0\0\0"s + "\x01\xff\xff\xff\xff\x0fk"s, "\x01\0\0\0"s + "\x05\xff\xff\xff\xff\x7f\x01k\x01v"s,
        "\x01\0\0\0"s + "\x01\x01k\x01v\x00\x01k"s}) {
    EXPECT_EQ(written(zeros + malformed).rfind("Corruption", 0), 0U) << "a length, a family, and a count";
  }
  for (std::size_t cut = 0; cut < form.size(); ++cut) {
    EXPECT_EQ(written(form.substr(0, cut)).rfind("Corruption", 0), 0U) << cut;
  }
  Call<void>("rocksdb_writeoptions_destroy", write);
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
}

unsigned char CountAndKeep(void* count, int /*level*/, const char* /*key*/, std::size_t /*key_length*/,
                           const char* /*value*/, std::size_t /*value_length*/, char** /*new_value*/,
                           std::size_t* /*new_length*/, unsigned char* /*is_changed*/) {
  ++*static_cast<int*>(count);
  return 0;
}

// A compaction asks the filter about each key.
TEST_F(RocksDbCTest, ManualCompactionsCanBeDisabled) {
  int asked = 0;
  void* const filter = Call<void*>("rocksdb_compactionfilter_create", static_cast<void*>(&asked),
                                   static_cast<void (*)(void*)>([](void*) {}), &CountAndKeep,
                                   static_cast<const char* (*)(void*)>([](void*) { return "counts"; }));
  void* const options = NewOptions();
  Call<void>("rocksdb_options_set_compaction_filter", options, filter);
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  const auto compact = [&] {
    const char* const none = nullptr;
    Call<void>("rocksdb_compact_range", db, none, std::size_t{0}, none, std::size_t{0});
  };
  Put(db, "oak", "a ring a year");
  Call<void>("rocksdb_enable_manual_compaction", db);
  Call<void>("rocksdb_disable_manual_compaction", db);  // cancelled by the call before
  Call<void>("rocksdb_disable_manual_compaction", db);
  Call<void>("rocksdb_disable_manual_compaction", db);
  compact();
  Call<void>("rocksdb_enable_manual_compaction", db);
  compact();
  EXPECT_EQ(asked, 0) << "two calls disable until two calls enable";
  Call<void>("rocksdb_enable_manual_compaction", db);
  compact();
  EXPECT_EQ(asked, 1);
  void* const metadata = Call<void*>("rocksdb_get_column_family_metadata", db);
  EXPECT_GE(Call<std::size_t>("rocksdb_column_family_metadata_get_file_count", metadata), 1U) << "also in a tree";
  Call<void>("rocksdb_column_family_metadata_destroy", metadata);
  Call<void>("rocksdb_verify_checksum", db, &error_);
  EXPECT_EQ(Error(), "");
  Call<void>("rocksdb_verify_file_checksums", db, &error_);
  EXPECT_EQ(Error(), "");
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
  Call<void>("rocksdb_compactionfilter_destroy", filter);
}

TEST_F(RocksDbCTest, KeyMayExistGivesEmptyValueForMissingKey) {
  void* const options = NewOptions();
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  Put(db, "oak", "a ring a year");
  void* const read = Call<void*>("rocksdb_readoptions_create");
  for (const std::string key : {"oak", "elm"}) {
    char* value = nullptr;
    std::size_t length = 99;
    unsigned char is_found = 0;
    const char* const no_timestamp = nullptr;
    const auto may_exist = Call<unsigned char>("rocksdb_key_may_exist", db, read, key.data(), key.size(), &value,
                                               &length, no_timestamp, std::size_t{0}, &is_found);
    EXPECT_EQ(may_exist, key == "oak" ? 1 : 0);
    EXPECT_EQ(is_found, 1);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(std::string(value, length), key == "oak" ? "a ring a year" : "");
    Call<void>("rocksdb_free", static_cast<void*>(value));
  }
  Call<void>("rocksdb_readoptions_destroy", read);
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
}

TEST_F(RocksDbCTest, OptionsAreStoredOrClampedToTheirRange) {
  void* const compact = Call<void*>("rocksdb_compactoptions_create");
  EXPECT_EQ(Call<unsigned char>("rocksdb_compactoptions_get_bottommost_level_compaction", compact), 1);
  Call<void>("rocksdb_compactoptions_set_bottommost_level_compaction", compact, static_cast<unsigned char>(2));
  EXPECT_EQ(Call<unsigned char>("rocksdb_compactoptions_get_bottommost_level_compaction", compact), 2);
  Call<void>("rocksdb_compactoptions_destroy", compact);
  void* const options = NewOptions();
  void* const limiter =
      Call<void*>("rocksdb_ratelimiter_create", std::int64_t{100} << 20, std::int64_t{100'000}, std::int32_t{1} << 20);
  Call<void>("rocksdb_options_set_ratelimiter", options, limiter);
  Call<void>("rocksdb_ratelimiter_destroy", limiter);
  void* const table = Call<void*>("rocksdb_block_based_options_create");
  Call<void>("rocksdb_block_based_options_set_user_defined_index_factory_from_string", table, "trie_index",
             std::size_t{10}, &error_);
  EXPECT_EQ(Error(), "");
  std::size_t length = 0;
  const char* const name =
      Call<const char*>("rocksdb_block_based_options_get_user_defined_index_factory_name", table, &length);
  EXPECT_EQ(std::string(name, length), "trie_index");
  Call<void>("rocksdb_options_set_block_based_table_factory", options, table);
  Call<void>("rocksdb_block_based_options_destroy", table);
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  EXPECT_NE(Log().find("user_defined_index_factory"), std::string::npos);
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
}

// Programs look at the beginning of an error's text.
TEST_F(RocksDbCTest, ErrorsAreWordedAsInRocksDb) {
  void* const options = NewOptions();
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  EXPECT_EQ(Call<void*>("rocksdb_open", options, path_.c_str(), &error_), nullptr);
  const std::string error = Error();
  EXPECT_TRUE(error.starts_with("IO error: lock ")) << error;
  EXPECT_NE(error.find("/LOCK:"), std::string::npos) << error;
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
}

// A program may change options at run time that are only hints here.
TEST_F(RocksDbCTest, SettingHintsSucceeds) {
  void* const options = NewOptions();
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  const auto set = [&](const char* name, const char* value) {
    const char* const names[] = {name};
    const char* const values[] = {value};
    Call<void>("rocksdb_set_options", db, 1, static_cast<const char* const*>(names),
               static_cast<const char* const*>(values), &error_);
    return Error();
  };
  EXPECT_EQ(set("arena_block_size", "8192"), "");
  EXPECT_NE(Log().find("no effect here: arena_block_size\n"), std::string::npos) << Log();
  EXPECT_EQ(set("disable_auto_compactions", "true"), "");
  EXPECT_NE(set("disable_auto_compactions", "perhaps").find("disable_auto_compactions"), std::string::npos);
  EXPECT_EQ(set("arena_block_size", "8K"), "");
  EXPECT_EQ(set("bottommost_compression", "kZSTD"), "");
  EXPECT_NE(set("arena_block_size", "8KK"), "");
  EXPECT_EQ(set("write_buffer_size", "131072"), "");
  EXPECT_NE(set("write_buffer_size", "many"), "");
  EXPECT_NE(set("no_such_option", "1").find("no_such_option"), std::string::npos);
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
}

TEST_F(RocksDbCTest, NumbersHaveRocksDbsInitialValues) {
  void* const options = Call<void*>("rocksdb_options_create");
  EXPECT_EQ(Call<int>("rocksdb_options_get_max_open_files", options), -1);
  EXPECT_EQ(Call<int>("rocksdb_options_get_wal_recovery_mode", options), 2);
  EXPECT_EQ(Call<std::size_t>("rocksdb_options_get_write_buffer_size", options), std::size_t{64} << 20);
  Call<void>("rocksdb_options_set_write_buffer_size", options, std::size_t{1} << 20);
  EXPECT_EQ(Call<std::size_t>("rocksdb_options_get_write_buffer_size", options), std::size_t{1} << 20);
  Call<void>("rocksdb_options_destroy", options);
}

// Options of RocksDB's formats are accepted, and LOG names them.
TEST_F(RocksDbCTest, OptionsWithoutAnEffectAreLogged) {
  void* const options = NewOptions();
  Call<void>("rocksdb_options_set_arena_block_size", options, std::size_t{4096});
  Call<void>("rocksdb_options_set_memtable_vector_rep", options);
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
  const std::string log = Log();
  EXPECT_NE(log.find("Options.arena_block_size: 4096\n"), std::string::npos);
  EXPECT_NE(log.find("no effect here: arena_block_size; memtable_vector_rep\n"), std::string::npos) << log;
}

// A call of a feature that this version lacks fails. Setting the feature's options does not.
TEST_F(RocksDbCTest, MissingFeaturesFailWhenTheyAreUsed) {
  void* const options = NewOptions();
  Call<void>("rocksdb_options_set_uint64add_merge_operator", options);
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  void* const write = Call<void*>("rocksdb_writeoptions_create");
  Call<void>("rocksdb_merge", db, write, "k", std::size_t{1}, "v", std::size_t{1}, &error_);
  EXPECT_NE(Error().find("Merge is not in this version"), std::string::npos);
  void* const batch = Call<void*>("rocksdb_writebatch_create");
  Call<void>("rocksdb_writebatch_put", batch, "k", std::size_t{1}, "v", std::size_t{1});
  Call<void>("rocksdb_writebatch_merge", batch, "k", std::size_t{1}, "v", std::size_t{1});
  Call<void>("rocksdb_write", db, write, batch, &error_);
  EXPECT_NE(Error().find("Merge is not in this version"), std::string::npos);
  EXPECT_EQ(Get(db, "k"), "none") << "a part of the batch was written";
  Call<void>("rocksdb_writebatch_destroy", batch);
  Call<void>("rocksdb_writeoptions_destroy", write);
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_set_compaction_style", options, 2);
  EXPECT_EQ(Call<void*>("rocksdb_open", options, path_.c_str(), &error_), nullptr);
  EXPECT_NE(Error().find("FIFO"), std::string::npos);
  Call<void>("rocksdb_options_destroy", options);
}

// RocksDB's iterators may be refreshed, and their bounds may change between two seeks.
TEST_F(RocksDbCTest, IteratorsTakeOtherBoundsAndNewState) {
  void* const options = NewOptions();
  void* const db = Call<void*>("rocksdb_open", options, path_.c_str(), &error_);
  ASSERT_EQ(Error(), "");
  for (const char* const key : {"a", "b", "c"}) Put(db, key, key);
  void* const read = Call<void*>("rocksdb_readoptions_create");
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read, "b", std::size_t{1});
  void* const it = Call<void*>("rocksdb_create_iterator", db, read);
  const auto count = [&] {
    int entries = 0;
    Call<void>("rocksdb_iter_seek_to_first", it);
    for (; Call<unsigned char>("rocksdb_iter_valid", it) != 0; ++entries) Call<void>("rocksdb_iter_next", it);
    return entries;
  };
  EXPECT_EQ(count(), 1);
  // With other bounds it shows the same state.
  Put(db, "bb", "bb");
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read, "d", std::size_t{1});
  EXPECT_EQ(count(), 3);
  Call<void>("rocksdb_iter_refresh", it, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(count(), 4);
  Put(db, "cc", "cc");
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read, "c", std::size_t{1});
  EXPECT_EQ(count(), 3);
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read, "d", std::size_t{1});
  EXPECT_EQ(count(), 4);
  Call<void>("rocksdb_iter_destroy", it);
  Call<void>("rocksdb_readoptions_destroy", read);
  Call<void>("rocksdb_close", db);
  Call<void>("rocksdb_options_destroy", options);
}

}  // namespace
}  // namespace cambium::testing
