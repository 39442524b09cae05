// The size that a compressed value claims to have, checked before memory is taken for it.
#pragma once

#include <cstdint>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "util/compression.h"

namespace cambium {

// Returns Corruption if `stored` cannot decompress to raw_size bytes: no input of its length gives so many, or its zstd
// frame states another size. Reads only the beginning of `stored`.
[[nodiscard]] Status CheckRawSize(Codec codec, Slice stored, std::uint64_t raw_size);

}  // namespace cambium
