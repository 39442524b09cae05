// Functions that copy and read whole files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cambium/file_system.h"
#include "cambium/slice.h"
#include "util/result.h"

namespace cambium {

struct CopyRequest {
  std::string from;
  std::string to;            // must not exist
  std::uint64_t length = 0;  // bytes to copy, from the beginning of `from`
  bool keeps_holes = false;  // blocks of zeros become holes in the copy
  FileSystem* fs_of_from = nullptr;  // null: that of `to`
};
// Copies a file and syncs the copy, but not its name. Passes every byte in order to `see`, unless null. Corruption if
// `from` is shorter than `length`. After an error, tries to remove `to` if it was created here. If the sync fails, the
// severity Fatal concerns the copy only.
Status CopyFile(FileSystem& fs, const CopyRequest& request, const std::function<Status(Slice)>& see = nullptr);

// Reads `length` bytes from `offset` on, in pieces of at most 1 MiB, and passes each with its offset to `take`.
// Corruption if the file is shorter.
Status ReadPieces(const File& from, std::uint64_t offset, std::uint64_t length,
                  const std::function<Status(std::uint64_t at, Slice piece)>& take);
// Reads the first `length` bytes of a file and passes them to `see`. Corruption if the file is shorter.
Status ReadThrough(FileSystem& fs, const std::string& path, std::uint64_t length,
                   const std::function<Status(Slice)>& see);

}  // namespace cambium
