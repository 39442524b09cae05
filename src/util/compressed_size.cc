#include "util/compressed_size.h"

#include <zstd.h>

#include <string>

#include "util/mutant.h"

namespace cambium {
namespace {

// The most bytes that `stored_size` bytes can decompress to: a length byte of lz4 stands for at most 255 bytes, and 4
// bytes of zstd for a block of 128 KiB.
std::uint64_t RawSizeMax(Codec codec, std::uint64_t stored_size) {
  return stored_size * (codec == Codec::kLz4 ? 255 : 32768);
}

}  // namespace

Status CheckRawSize(Codec codec, Slice stored, std::uint64_t raw_size) {
  const std::string claim = "compressed value claims " + std::to_string(raw_size) + " bytes";
  if (raw_size > RawSizeMax(codec, stored.size())) {
    return Status::Corruption(claim + ", more than " + std::to_string(stored.size()) + " bytes can hold");
  }
  if (codec != Codec::kZstd || MutantIs(Mutant::kTrustDeclaredSize)) return Status::OK();
  // The compressor knew the size, so every frame states it. If there is no frame or no size, zstd returns a number
  // above all sizes.
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) == raw_size) return Status::OK();
  return Status::Corruption(claim + ", and its frame has another size");
}

}  // namespace cambium
