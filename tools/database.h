// A database as a command opens it: with the options it was last open with, whatever its families are.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "cambium/listener.h"

namespace cambium::tool {

// What most commands have in common.
struct DatabaseFlags {
  std::string directory;
  std::string family = kDefaultColumnFamilyName;
  bool hex = false;
  bool json = false;
  bool default_options = false;  // of commands that write; see OptionsToWriteWith
};
void AddDirectory(CLI::App* command, DatabaseFlags* flags);
void AddFamily(CLI::App* command, DatabaseFlags* flags);
void AddHex(CLI::App* command, DatabaseFlags* flags);
void AddJson(CLI::App* command, DatabaseFlags* flags);
void AddDefaultOptions(CLI::App* command, DatabaseFlags* flags);

// The options of all its families, from its OPTIONS file; where there is none that can be read, from what the database itself
// says of them. InvalidArgument if a family has a comparator that is not the library's own.
Status OptionsOf(const std::string& directory, DBOptions* options, std::vector<ColumnFamilyDescriptor>* families);

// The same for a command that writes. Whoever opens a database for writing leaves a new OPTIONS file, of what is in force
// then. So a damaged one is Corruption, unless the user says that the defaults shall take its place.
Status OptionsToWriteWith(const DatabaseFlags& flags, DBOptions* options,
                          std::vector<ColumnFamilyDescriptor>* families);

[[nodiscard]] bool Compresses(const ColumnFamilyOptions& family);

// NoSpace if so many new files and bytes would not go there, as far as can be told.
Status CheckSpaceFor(const std::string& directory, std::uint64_t files, std::uint64_t bytes);
// Nobody writes into a database without a new MANIFEST.
inline constexpr std::uint64_t kFilesOfOpening = 1;

// What a write to the family would say of their sizes.
Status CheckSizes(const ColumnFamilyOptions& family, Slice key, Slice value);

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  Status OpenToRead(const std::string& directory);
  // `listener`, which may be null, is told of everything from the first moment on.
  Status OpenToWrite(const DatabaseFlags& flags, std::shared_ptr<EventListener> listener = nullptr);
  // For a dry run: what OpenToWrite would refuse is refused; nothing can be written. `bytes` are to be written, about.
  Status OpenAsIfToWrite(const DatabaseFlags& flags, std::uint64_t bytes);
  // Whether the key has a value that a read would look for. The value is not read: it may be damaged.
  Status Has(ColumnFamilyHandle* family, Slice key, bool* has) const;
  // InvalidArgument if there is none of that name.
  Status Find(const std::string& family, ColumnFamilyHandle** handle) const;
  [[nodiscard]] DB* db() const { return db_.get(); }
  [[nodiscard]] const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }
  // The first error, of Close too.
  Status Close();

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

}  // namespace cambium::tool
