// EntrySource: entries from elsewhere, one after the other, for `import`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/db.h"

namespace cambium::tool {

struct ImportedEntry {
  std::string family = kDefaultColumnFamilyName;
  std::string key;
  std::string value;
};

class EntrySource {
 public:
  EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;
  virtual ~EntrySource() = default;
  // *has_one is false behind the last one. After an error no further call is made.
  virtual Status Next(ImportedEntry* entry, bool* has_one) = 0;
  // Which part of all came so far, about; 0: nobody knows. May take as long as looking at the names of all files does,
  // the first time.
  [[nodiscard]] virtual double Part() const { return 0; }
};

// Each names `path` in its errors.
//   jsonl     what `export` has written; "-" is stdin. Corruption if it is cut off
//   folder    regular files below it: the key is the path from there on, the value what is in the file
//   rocksdb, lmdb   a database, through the library of that name. NotSupported if it is not installed
Status OpenJsonl(const std::string& path, std::unique_ptr<EntrySource>* source);
Status OpenFolder(const std::string& path, std::unique_ptr<EntrySource>* source);
Status OpenRocksDb(const std::string& path, std::unique_ptr<EntrySource>* source);
Status OpenLmdb(const std::string& path, std::unique_ptr<EntrySource>* source);

}  // namespace cambium::tool
