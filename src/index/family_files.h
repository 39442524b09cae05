// How an index reaches its files: through these functions. It neither names nor numbers files and never opens a path.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "util/result.h"

namespace cambium {

// A new, empty file, open for buffered writes, and its header; the writer sets kind and page size. No other file has
// the number. The caller makes the file's name durable before a MANIFEST record names the file.
struct NewIndexFile {
  std::shared_ptr<File> file;
  FileHeader header;
};
// Called before `bytes` bytes are written to a file; may block to limit the rate. May be empty.
using BeforeWrite = std::function<void(std::uint64_t bytes)>;
using CreateIndexFile = std::function<Result<NewIndexFile>()>;

// Opens a file of the family for reading.
using OpenIndexFile = std::function<Result<std::shared_ptr<File>>(FileKind kind, std::uint64_t number)>;

}  // namespace cambium
