#pragma once
namespace cambium {
enum class CompressionType : unsigned char { kNoCompression = 0, kSnappyCompression = 1, kZlibCompression = 2, kBZip2Compression = 3, kLZ4Compression = 4, kLZ4HCCompression = 5, kXpressCompression = 6, kZSTD = 7 };
}
