// Codecs of single values. Their numbers are on disk.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/options.h"
#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

enum class Codec : std::uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };

// The codec behind an option, false if this build or this format has none for it.
[[nodiscard]] bool CodecOf(CompressionType type, Codec* codec);

// Appends the compressed form of `raw` to *out and returns true; returns false, *out unchanged, when that would not
// save at least an eighth, when the codec cannot take that much, or for kNone. Then the value is stored raw.
[[nodiscard]] bool Compress(Codec codec, Slice raw, std::string* out);

// Fills out[0, raw_size). Corruption if `stored` is not the compressed form of exactly raw_size bytes. Safe for any
// input. The caller has bounded raw_size.
Status Decompress(Codec codec, Slice stored, char* out, std::size_t raw_size);

}  // namespace cambium
