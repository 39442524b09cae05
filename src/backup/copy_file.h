// CopyFile: bytes of one file into a new one.
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
  std::uint64_t length = 0;  // of `from`, from its beginning
  bool keeps_holes = false;  // blocks of zeros are left out of the copy's disk space
};
// Synced; its name is not. `see`, if it is not null, gets every byte in order. Corruption if `from` is shorter. After an
// error `to` is removed, if it can be and was made here; a failed sync is Fatal for the copy alone.
Status CopyFile(FileSystem& fs, const CopyRequest& request, const std::function<Status(Slice)>& see = nullptr);

// Only reads it.
Status ReadThrough(FileSystem& fs, const std::string& path, std::uint64_t length,
                   const std::function<Status(Slice)>& see);

}  // namespace cambium
