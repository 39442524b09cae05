// Forms of Open that all kinds of databases have: with the default family alone, and for a plain pointer.
#pragma once

#include <memory>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/db.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {

inline std::vector<ColumnFamilyDescriptor> OnlyDefault(const ColumnFamilyOptions& options) {
  return {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)};
}

// Opens the default family alone, by `make`, and gives its handle back.
template <typename Make>
Status WithoutHandle(const Make& make, std::unique_ptr<DB>* db) {
  std::vector<ColumnFamilyHandle*> handles;
  CAMBIUM_RETURN_IF_ERROR(make(&handles, db));
  for (ColumnFamilyHandle* const each : handles) CAMBIUM_RETURN_IF_ERROR((*db)->DestroyColumnFamilyHandle(each));
  return Status::OK();
}

// For calls that return a plain pointer: `make` opens a Database.
template <typename Database, typename Make>
Status Released(const Make& make, Database** db) {
  if (db == nullptr) return Status::InvalidArgument("the pointer for the database is null");
  std::unique_ptr<DB> opened;
  CAMBIUM_RETURN_IF_ERROR(make(&opened));
  *db = static_cast<Database*>(opened.release());
  return Status::OK();
}

}  // namespace rocksdb::inline on_cambium
