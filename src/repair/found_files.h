// FoundFiles: what lies in the directory of a damaged database, by the files' own word.
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
  Status flaw;                 // OK: the header is whole, and this file's
  FileHeader header;           // with a flaw: as far as it can be guessed, or nothing
  // The bytes where the header should be are those of one that is damaged; else they are anything.
  bool is_guessed = false;
};

// Files with a header, in the order of kinds and numbers; MANIFESTs and reserves are not among them. NotSupported if
// one is of a later version.
Result<std::vector<FoundFile>> FindFiles(FileSystem& fs, const std::string& directory);

// Null if there is none.
[[nodiscard]] FoundFile* FindFile(std::vector<FoundFile>* files, FileKind kind, std::uint64_t number);

}  // namespace cambium
