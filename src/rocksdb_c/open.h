// Opens a database for a program of RocksDB: with or without column families, for reading only, for transactions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb_c/objects.h"

namespace cambium::rocks {

// As DB::Open.
using Opens = std::function<Status(const Options&, const std::string&, std::unique_ptr<DB>*)>;
using OpensFamilies =
    std::function<Status(const DBOptions&, const std::string&, const std::vector<ColumnFamilyDescriptor>&,
                         std::vector<ColumnFamilyHandle*>*, std::unique_ptr<DB>*)>;

// The arguments with which a program opens a database.
struct Given {
  const rocksdb_options_t& options;
  const char* name;
  std::vector<std::string> hints = {};  // further options without an effect, which LOG will name
};
struct GivenFamilies {
  int count;
  const char* const* names;
  const rocksdb_options_t* const* options;
  rocksdb_column_family_handle_t** handles;  // set if the result is OK
};

// Set *db, which has no database yet, and write the options to LOG. After an error, *db is unchanged.
Status Open(const Opens& make, Given given, rocksdb_t* db);
Status Open(const OpensFamilies& make, Given given, const GivenFamilies& families, rocksdb_t* db);

// For functions of C that return an object with an open database. `make` gets a new object and opens its database. Null
// after an error.
template <typename Object, typename Call>
Object* Opened(char** errptr, Call&& make) {
  Object* opened = nullptr;
  Guarded(errptr, [&] {
    auto made = std::make_unique<Object>();
    Status status = make(made.get());
    if (status.ok()) opened = made.release();
    return status;
  });
  return opened;
}

}  // namespace cambium::rocks
