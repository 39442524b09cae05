// PartialFileSystem: a FileSystem whose calls all fail, as a base for test file systems that implement only some.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"

namespace cambium::testing {

// As with PartialFile, a derived class overrides the calls that it expects.
class PartialFileSystem : public FileSystem {
 public:
  using Names = std::vector<std::string>;
  Status Open(const std::string& path, OpenMode, const FileOptions&, std::unique_ptr<File>*) override { return No(path); }
  Status GetInfo(const std::string& path, FileInfo*) override { return No(path); }
  Status List(const std::string& path, Names*) override { return No(path); }
  Status CreateDirectory(const std::string& path) override { return No(path); }
  Status RemoveDirectory(const std::string& path) override { return No(path); }
  Status Unlink(const std::string& path) override { return No(path); }
  Status Rename(const std::string& path, const std::string&) override { return No(path); }
  Status Link(const std::string& path, const std::string&) override { return No(path); }
  Status SyncDirectory(const std::string& path) override { return No(path); }
  Status Lock(const std::string& path, LockMode, std::uint64_t, std::unique_ptr<FileLock>*) override { return No(path); }
  Status FreeSpace(const std::string& path, std::uint64_t*) override { return No(path); }
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t, bool) override { return nullptr; }

 private:
  static Status No(const std::string& path) { return Status::NotSupported(path + ": unexpected call"); }
};

}  // namespace cambium::testing
