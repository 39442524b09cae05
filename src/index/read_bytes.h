// ReadBytes: reads at any offset, even from a file that is open for direct I/O.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cambium/file_system.h"

namespace cambium {

// Like File::Read, without the alignment rules of direct files: reads whole blocks into aligned memory and copies.
Status ReadBytes(const File& file, std::uint64_t offset, std::size_t n, char* out, std::size_t* read);

}  // namespace cambium
