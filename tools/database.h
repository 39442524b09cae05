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
};
void AddDirectory(CLI::App* command, DatabaseFlags* flags);
void AddFamily(CLI::App* command, DatabaseFlags* flags);
void AddHex(CLI::App* command, DatabaseFlags* flags);
void AddJson(CLI::App* command, DatabaseFlags* flags);

// The options of all its families, from its OPTIONS file; where there is none that can be read, from what the database itself
// says of them. InvalidArgument if a family has a comparator that is not the library's own.
Status OptionsOf(const std::string& directory, DBOptions* options, std::vector<ColumnFamilyDescriptor>* families);

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  Status OpenToRead(const std::string& directory);
  // `listener`, which may be null, is told of everything from the first moment on.
  Status OpenToWrite(const std::string& directory, std::shared_ptr<EventListener> listener = nullptr);
  // InvalidArgument if there is none of that name.
  Status Find(const std::string& family, ColumnFamilyHandle** handle) const;
  [[nodiscard]] DB* db() const { return db_.get(); }
  [[nodiscard]] const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }
  // The first error, of Close too.
  Status Close();

 private:
  Status Open(const std::string& directory, bool to_write, std::shared_ptr<EventListener> listener);
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

}  // namespace cambium::tool
