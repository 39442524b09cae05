// The kinds of compression that RocksDB has. Cambium has LZ4 and ZSTD; docs/ROCKSDB_CPP.md says what the others mean.
#pragma once

#include <cstdint>

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

enum CompressionType : unsigned char {
  kNoCompression = 0x00,
  kSnappyCompression = 0x01,
  kZlibCompression = 0x02,
  kBZip2Compression = 0x03,
  kLZ4Compression = 0x04,
  kLZ4HCCompression = 0x05,
  kXpressCompression = 0x06,
  kZSTD = 0x07,
  kDisableCompressionOption = 0xff,
};

// Hints.
struct CompressionOptions {
  int window_bits = -14;
  int level = 32767;
  int strategy = 0;
  std::uint32_t max_dict_bytes = 0;
  std::uint32_t zstd_max_train_bytes = 0;
  std::uint32_t parallel_threads = 1;
  bool enabled = false;
  std::uint64_t max_dict_buffer_bytes = 0;
  bool use_zstd_dict_trainer = true;
  bool checksum = false;

  static constexpr int kDefaultCompressionLevel = 32767;
  bool operator==(const CompressionOptions&) const = default;
};

}  // namespace rocksdb::inline on_cambium
