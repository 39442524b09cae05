// The library for programs of RocksDB, as such a program uses it: loaded at run time, by the names of RocksDB's c.h.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "testing/temp_directory.h"

namespace cambium::testing {

class RocksDbCFixture : public ::testing::Test {
 protected:
  RocksDbCFixture() : library_(dlopen(CAMBIUM_ROCKSDB_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {
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
    Call<void>("rocksdb_readoptions_destroy", read);
    return Taken(value, length);
  }
  // A value that a call has returned, and that its caller frees; "none" if the key is not there.
  std::string Taken(char* value, std::size_t length) {
    std::string copy = value == nullptr ? "none" : std::string(value, length);
    Call<void>("rocksdb_free", static_cast<void*>(value));
    return copy;
  }
  std::string TakenPinned(void* pinned) {
    std::size_t length = 0;
    const char* const value = Call<const char*>("rocksdb_pinnableslice_value", pinned, &length);
    std::string copy = value == nullptr ? "none" : std::string(value, length);
    Call<void>("rocksdb_pinnableslice_destroy", pinned);
    return copy;
  }
  // What an iterator shows from its first entry: "a=1 b=2".
  std::string Shown(void* iterator) {
    std::string entries;
    Call<void>("rocksdb_iter_seek_to_first", iterator);
    for (; Call<unsigned char>("rocksdb_iter_valid", iterator) != 0; Call<void>("rocksdb_iter_next", iterator)) {
      std::size_t length = 0;
      const char* bytes = Call<const char*>("rocksdb_iter_key", iterator, &length);
      entries += (entries.empty() ? "" : " ") + std::string(bytes, length) + "=";
      bytes = Call<const char*>("rocksdb_iter_value", iterator, &length);
      entries += std::string(bytes, length);
    }
    Call<void>("rocksdb_iter_get_error", iterator, &error_);
    const std::string error = Error();
    return error.empty() ? entries : error;
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

}  // namespace cambium::testing
