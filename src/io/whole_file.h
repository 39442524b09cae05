// ReadWholeFile: reads a small file into memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "util/result.h"

namespace cambium {

// Returns Corruption if the file is not a regular one, or if it is larger than `most` bytes; the message then names the
// offset `most`.
inline Result<std::string> ReadWholeFile(FileSystem& fs, const std::string& path, std::uint64_t most) {
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs.Open(path, OpenMode::kReadOnly, {}, &file));
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(file->GetInfo(&info));
  if (!info.is_regular) return Status::Corruption(path + ": is not a regular file");
  if (info.size > most) {
    return Status::Corruption(path + ":" + std::to_string(most) + ": has " + std::to_string(info.size) +
                              " bytes, more than any legal one");
  }
  std::string bytes(info.size, '\0');
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(file->Read(0, bytes.size(), bytes.data(), &read));
  bytes.resize(read);
  return bytes;
}

}  // namespace cambium
