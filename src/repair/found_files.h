// FindFiles lists the files of a damaged database's directory, by their own headers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/result.h"

namespace cambium {

struct FoundFile {
  NumberedFile name;
  std::string path;
  std::uint64_t size = 0;
  std::shared_ptr<File> file;  // null: it cannot be opened, see `flaw`
  Status flaw;                 // OK: the header is whole and belongs to this file
  FileHeader header;           // with a flaw: guessed as far as possible
  // With a flaw: whether `header` was guessed from the bytes of a damaged header.
  bool is_guessed = false;
};

// Returns the files of kinds that have a header, except MANIFESTs and reserves, in the order of kinds and numbers.
// Those with a damaged header, and those that cannot be opened, have a flaw. NotSupported if one is of a later version,
// Denied if the system denies this process one of them.
Result<std::vector<FoundFile>> FindFiles(FileSystem& fs, const std::string& directory);

// Returns null if there is no such file.
[[nodiscard]] FoundFile* FindFile(std::vector<FoundFile>* files, FileKind kind, std::uint64_t number);

}  // namespace cambium
