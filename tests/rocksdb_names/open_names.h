// Shared by the tests of RocksDB's names: a directory, and a database in it. Like a user's program, the tests are
// outside of namespace cambium.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "rocksdb/db.h"
#include "testing/temp_directory.h"

namespace rocksdb_names_test {

class NamesTest : public ::testing::Test {
 protected:
  NamesTest() { options_.create_if_missing = true; }
  void Open() {
    db_.reset();
    const rocksdb::Status opened = rocksdb::DB::Open(options_, path_, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  void Put(const std::string& key, const std::string& value) {
    const rocksdb::Status put = db_->Put(rocksdb::WriteOptions(), key, value);
    EXPECT_TRUE(put.ok()) << put.ToString();
  }
  // "none" if the key is not there.
  std::string Get(const std::string& key) {
    std::string value;
    const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), key, &value);
    if (read.IsNotFound()) return "none";
    EXPECT_TRUE(read.ok()) << read.ToString();
    return value;
  }
  std::string Log() const {
    std::ifstream log(path_ + "/LOG");
    std::stringstream text;
    text << log.rdbuf();
    return text.str();
  }

  cambium::testing::TempDirectory directory_;
  const std::string path_ = directory_.File("db");
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace rocksdb_names_test
