// ReadBytes: a read at any offset, of a file that may be open for direct reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cambium/file_system.h"

namespace cambium {

// As File::Read, without its rules for direct files: those are read in whole blocks into aligned memory, and copied.
Status ReadBytes(const File& file, std::uint64_t offset, std::size_t n, char* out, std::size_t* read);

}  // namespace cambium
