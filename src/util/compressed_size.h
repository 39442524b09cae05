// The size that a compressed value claims to have, checked before memory is taken for it.
#pragma once

#include <cstdint>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "util/compression.h"

namespace cambium {

// Corruption if `stored` cannot decompress to raw_size bytes: because no input of this length gives so many, or because
// the frame of zstd states another size. It reads only the beginning of `stored`.
[[nodiscard]] Status CheckRawSize(Codec codec, Slice stored, std::uint64_t raw_size);

}  // namespace cambium
