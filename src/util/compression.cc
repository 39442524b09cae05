#include "util/compression.h"

#include <lz4.h>
#include <zstd.h>

namespace cambium {
namespace {

// Every read of a compressed value pays for a decompression; the saved space must be worth it.
std::size_t LargestWorthwhile(std::size_t raw_size) { return raw_size - raw_size / 8; }

// One context per thread and direction. Its tables take 1.3 MB (compression) or 160 KB (decompression): creating a
// context for each value would cost more than compressing most values.
ZSTD_CCtx* ThreadCompressor() {
  struct Owner {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ~Owner() { ZSTD_freeCCtx(context); }
  };
  static thread_local Owner owner;
  return owner.context;
}
ZSTD_DCtx* ThreadDecompressor() {
  struct Owner {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    ~Owner() { ZSTD_freeDCtx(context); }
  };
  static thread_local Owner owner;
  return owner.context;
}

constexpr int kZstdLevel = 3;  // zstd's own default

}  // namespace

bool CodecOf(CompressionType type, Codec* codec) {
  switch (type) {
    case CompressionType::kNoCompression: *codec = Codec::kNone; return true;
    case CompressionType::kLZ4Compression: *codec = Codec::kLz4; return true;
    case CompressionType::kZSTD: *codec = Codec::kZstd; return true;
    default: return false;
  }
}

bool Compress(Codec codec, Slice raw, std::string* out) {
  const std::size_t start = out->size();
  const std::size_t room = LargestWorthwhile(raw.size());
  std::size_t stored = 0;
  if (codec == Codec::kLz4 && raw.size() <= LZ4_MAX_INPUT_SIZE) {
    out->resize(start + room);
    const int n = LZ4_compress_default(raw.data(), out->data() + start, static_cast<int>(raw.size()),
                                       static_cast<int>(room));
    stored = n > 0 ? static_cast<std::size_t>(n) : 0;
  } else if (codec == Codec::kZstd && ThreadCompressor() != nullptr) {
    out->resize(start + room);
    const std::size_t n = ZSTD_compressCCtx(ThreadCompressor(), out->data() + start, room, raw.data(), raw.size(), kZstdLevel);
    stored = ZSTD_isError(n) ? 0 : n;
  }
  out->resize(start + stored);
  return stored > 0;
}

Status Decompress(Codec codec, Slice stored, char* out, std::size_t raw_size) {
  std::size_t produced = raw_size + 1;
  if (codec == Codec::kLz4 && stored.size() <= LZ4_MAX_INPUT_SIZE && raw_size <= LZ4_MAX_INPUT_SIZE) {
    const int n = LZ4_decompress_safe(stored.data(), out, static_cast<int>(stored.size()), static_cast<int>(raw_size));
    if (n >= 0) produced = static_cast<std::size_t>(n);
  } else if (codec == Codec::kZstd) {
    if (ThreadDecompressor() == nullptr) return Status::OutOfMemory("for a decompression context");
    const std::size_t n = ZSTD_decompressDCtx(ThreadDecompressor(), out, raw_size, stored.data(), stored.size());
    if (!ZSTD_isError(n)) produced = n;
  }
  if (produced != raw_size) return Status::Corruption("a compressed value does not decompress to its recorded size");
  return Status::OK();
}

}  // namespace cambium
