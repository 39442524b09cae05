// Opens databases for commands, with the options that they were last open with.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "cambium/listener.h"

namespace cambium::tool {

// Flags that most commands have.
struct DatabaseFlags {
  std::string directory;
  std::string family = kDefaultColumnFamilyName;
  bool hex = false;
  bool json = false;
  bool default_options = false;  // only for commands that write; see OptionsToWriteWith
};
void AddDirectory(CLI::App* command, DatabaseFlags* flags);
void AddFamily(CLI::App* command, DatabaseFlags* flags);
void AddHex(CLI::App* command, DatabaseFlags* flags);
void AddJson(CLI::App* command, DatabaseFlags* flags);
void AddDefaultOptions(CLI::App* command, DatabaseFlags* flags);

// Reads the options of a database and all its families from its OPTIONS file. If no file can be read, it finds out the
// families' options from the database itself. Denied if the system denies this process the file. InvalidArgument if a
// family has a comparator that is not the library's own.
Status OptionsOf(const std::string& directory, DBOptions* options, std::vector<ColumnFamilyDescriptor>* families);

// Like OptionsOf, for a command that writes. Opening for writing records the options in force in a new OPTIONS file, so
// a damaged file is Corruption here, unless --default-options allows the defaults to replace it.
Status OptionsToWriteWith(const DatabaseFlags& flags, DBOptions* options,
                          std::vector<ColumnFamilyDescriptor>* families);

[[nodiscard]] bool Compresses(const ColumnFamilyOptions& family);

// NoSpace if the file system probably has no space for this many new files and bytes.
Status CheckSpaceFor(const std::string& directory, std::uint64_t files, std::uint64_t bytes);
// Opening for writing creates a MANIFEST.
inline constexpr std::uint64_t kFilesOfOpen = 1;

// Returns the error that a write to the family would return for these sizes.
Status CheckSizes(const ColumnFamilyOptions& family, Slice key, Slice value);

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  Status OpenToRead(const std::string& directory);
  // `listener`, which may be null, receives all events from the start of Open.
  Status OpenToWrite(const DatabaseFlags& flags, std::shared_ptr<EventListener> listener = nullptr);
  // For a dry run: fails as OpenToWrite would, and writes nothing. `bytes`: about how much would be written.
  Status OpenAsIfToWrite(const DatabaseFlags& flags, std::uint64_t bytes);
  // Whether a read of the key would find a value. The value is not read, since it may be damaged.
  Status Has(ColumnFamilyHandle* family, Slice key, bool* has) const;
  // InvalidArgument if there is no family of that name.
  Status Find(const std::string& family, ColumnFamilyHandle** handle) const;
  [[nodiscard]] DB* db() const { return db_.get(); }
  [[nodiscard]] const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }
  // Returns the first error, that of Close included.
  Status Close();

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

}  // namespace cambium::tool
