// EntrySource: entries from another source, one by one, for `import`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/db.h"

namespace cambium::tool {

// One entry; or, if `comparator` is not empty, the beginning of a family, which may have no entries.
struct ImportedEntry {
  std::string family = kDefaultColumnFamilyName;
  std::string comparator;  // its name
  std::string key;
  std::string value;
};

class EntrySource {
 public:
  EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;
  virtual ~EntrySource() = default;
  // Sets *has_one to false after the last entry. Do not call it again after an error.
  virtual Status Next(ImportedEntry* entry, bool* has_one) = 0;
  // Returns roughly the fraction that has been read; 0: unknown. The first call may take as long as listing all files.
  [[nodiscard]] virtual double Part() const { return 0; }
};

// Errors name `path`.
//   jsonl          the output of `export`; "-" is stdin. Corruption if it is truncated
//   folder         regular files below `path`: the key is the relative path, the value the content
//   rocksdb, lmdb  a database, read through its own library. NotSupported if that is not installed
Status OpenJsonl(const std::string& path, std::unique_ptr<EntrySource>* source);
Status OpenFolder(const std::string& path, std::unique_ptr<EntrySource>* source);
Status OpenRocksDb(const std::string& path, std::unique_ptr<EntrySource>* source);
Status OpenLmdb(const std::string& path, std::unique_ptr<EntrySource>* source);

}  // namespace cambium::tool
