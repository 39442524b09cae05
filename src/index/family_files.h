// How a back-end gets at files: it neither names nor numbers them, and never opens a path.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "util/result.h"

namespace cambium {

// An empty file, open for writing, not for direct writes, and the header that it shall have (kind and page size are set
// by whoever writes it). Its number is new. That its name is durable before a MANIFEST record names it is the caller's
// duty.
struct NewIndexFile {
  std::shared_ptr<File> file;
  FileHeader header;
};
// Called before so many bytes of a file are written; may let them wait. Empty: nobody needs to know.
using BeforeWrite = std::function<void(std::uint64_t bytes)>;
using CreateIndexFile = std::function<Result<NewIndexFile>()>;

// Opens a file of the family for reading.
using OpenIndexFile = std::function<Result<std::shared_ptr<File>>(FileKind kind, std::uint64_t number)>;

}  // namespace cambium
