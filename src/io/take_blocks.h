// TakeBlocks: allocates space for exactly the bytes that are written next, if the file system can, so that a full disk
// fails this call and not a later sync.
#pragma once

#include <cstdint>

#include "cambium/file_system.h"

namespace cambium {

[[nodiscard]] inline Status TakeBlocks(File* file, std::uint64_t offset, std::uint64_t length) {
  const Status taken = file->Allocate(offset, length, /*grow=*/false);
  return taken.IsNotSupported() ? Status::OK() : taken;
}

}  // namespace cambium
