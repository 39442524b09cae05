// Codecs for single values. Their numbers are stored on disk.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/options.h"
#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

enum class Codec : std::uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };

// Finds the codec for an option. Returns false if this build or this format has none for it.
[[nodiscard]] bool CodecOf(CompressionType type, Codec* codec);

// Appends the compressed form of `raw` to *out and returns true. Returns false and leaves *out unchanged if compression
// would save less than an eighth, if `raw` is too large for the codec, or for kNone; the caller then stores it raw.
[[nodiscard]] bool Compress(Codec codec, Slice raw, std::string* out);

// Fills out[0, raw_size). Returns Corruption if `stored` is not the compressed form of exactly raw_size bytes. Safe for
// any input. The caller has checked raw_size against a limit.
Status Decompress(Codec codec, Slice stored, char* out, std::size_t raw_size);

}  // namespace cambium
