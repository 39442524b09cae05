// A database directory of an input, in a simulated file system, and what can be asked of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "fuzz/target.h"
#include "io/sim/sim_file_system.h"

namespace cambium::fuzz {

// By "family/key".
using Contents = std::map<std::string, std::string>;

// Not movable: `options` refer to it. One thread.
class Directory {
 public:
  // Files whose names a directory cannot hold are left out.
  explicit Directory(const GoldenFiles& files);
  // A copy of the files as they are now, which another database may use.
  explicit Directory(const SimImage& image);
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // The families that the MANIFEST in `path` names, each with its index and, if it is one of the library's, its order.
  // Only the default family if the MANIFEST cannot be read.
  [[nodiscard]] std::vector<ColumnFamilyDescriptor> Families(const std::string& path) const;
  // A deep VerifyDB of a copy of the files at `path`. True if it finds no problem. An error must be one of damage.
  [[nodiscard]] bool VerifiesClean(const std::string& path) const;

  std::shared_ptr<SimFileSystem> fs;
  Options options;  // small sizes, so that little work causes flushes, compactions and log GC
};

// An open database, with handles of all families.
struct OpenDatabase {
  OpenDatabase() = default;
  ~OpenDatabase();
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;
  // Deletes the handles, then closes the database.
  Status Close();

  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
};

enum class OpenFor { kReading, kWriting };
Status OpenAll(const Directory& directory, const std::string& path, OpenFor purpose, OpenDatabase* opened);

// Reads everything, forwards and backwards, and each key by Get. Promises that the keys of a scan are in order and, if
// `is_sound`, that all ways give the same. Returns the first error.
Status ReadEverything(const OpenDatabase& opened, bool is_sound, Contents* contents);

}  // namespace cambium::fuzz
