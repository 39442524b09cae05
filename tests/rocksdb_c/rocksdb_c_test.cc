// The library for programs of RocksDB, as such a program uses it: loaded at run time, by the names of RocksDB's c.h.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

class RocksDbCTest : public ::testing::Test {
 protected:
  RocksDbCTest() : library_(dlopen(CAMBIUM_ROCKSDB_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) ADD_FAILURE() << dlerror();
  }

  template <typename Result, typename... Arguments>
  Result Call(const char* name, Arguments... arguments) {
    using Function = Result (*)(Arguments...);
    void* const found = dlsym(library_, name);
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Function>(found)(arguments...);
  }
  // Returns the error of the last call, and forgets it.
  std::string Error() {
    const std::string text = error_ == nullptr ? "" : error_;
    Call<void>("rocksdb_free", static_cast<void*>(error_));
    error_ = nullptr;
    return text;
  }
  void* NewOptions() {
    void* const options = Call<void*>("rocksdb_options_create");
    Call<void>("rocksdb_options_set_create_if_missing", options, static_cast<unsigned char>(1));
    return options;
  }
  void Put(void* db, const std::string& key, const std::string& value) {
    void* const write = Call<void*>("rocksdb_writeoptions_create");
    Call<void>("rocksdb_put", db, write, key.data(), key.size(), value.data(), value.size(), &error_);
    EXPECT_EQ(Error(), "");
    Call<void>("rocksdb_writeoptions_destroy", write);
  }
  // "none" if the key is not there.
  std::string Get(void* db, const std::string& key) {
    void* const read = Call<void*>("rocksdb_readoptions_create");
    std::size_t length = 0;
    char* const value = Call<char*>("rocksdb_get", db, read, key.data(), key.size(), &length, &error_);
    EXPECT_EQ(Error(), "");
    std::string copy = value == nullptr ? "none" : std::string(value, length);
    Call<void>("rocksdb_free", static_cast<void*>(value));
    Call<void>("rocksdb_readoptions_destroy", read);
    return copy;
  }

  std::string Log() const {
    std::ifstream log(path_ + "/LOG");
    std::stringstream text;
    text << log.rdbuf();
    return text.str();
  }

  const TempDirectory directory_;
  const std::string path_ = directory_.File("db");
  void* const library_;
  char* error_ = nullptr;
};

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
  EXPECT_EQ(own.size(), 32U);
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

// A program may change options at run time that are only hints here.
TEST_F(RocksDbCTest, ChangesOfHintsSucceed) {
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
TEST_F(RocksDbCTest, OptionsWithoutAnEffectAreInTheLog) {
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
