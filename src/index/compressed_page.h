// The stored form of a compressed leaf. Branches are never compressed: nearly all of them stay in the pool anyway, and
// their checksums do not compress.
//
//   offset  size  field
//        0     8  checksum       XXH3 of everything after it, up to the end of the last unit, as in any page
//        8     8  page id        its own; it counts the stored units
//       16     1  type           PageType::kCompressedLeaf
//       17     1  level          0
//       18     1  flags          of the leaf
//       19     1  codec          1 LZ4, 2 ZSTD
//       20    28  of the leaf    count, prefix length, suffix length, key stride, heap offset, value bytes
//       48     4  raw size       of the leaf, header included: a multiple of 512, at most 64 units of the file
//       52     4  packed size    of the compressed bytes below
//
//   56          the compressed form of the leaf's bytes [48, raw size) | zeros up to the end of the page
//
// The header is not compressed, and the checksum covers it: place, sizes and codec are trusted only if every stored
// byte is the one that was written. An expanded leaf is an ordinary leaf of raw size bytes, except that its first 8
// bytes are still the checksum of the stored form: the parent holds this checksum, and the pool identifies the page by
// it.
//
// A leaf is stored raw if compression would save less than an eighth, or no unit.
#pragma once

#include <cstdint>
#include <string>

#include "index/page_format.h"
#include "util/compression.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::size_t kCompressedHeaderSize = 56;

// Sizes of expanded leaves are multiples of this, so that a new page often fits the frame of an evicted one exactly.
inline constexpr std::size_t kRawSizeStep = kPageSizeMin;

// Compresses `leaf` (at least 512 bytes, a multiple of kRawSizeStep) into *stored, without page id and checksum, which
// PlacePage sets. *packed_end is where its zeros begin. Returns false if the leaf is to be stored raw; *stored is then
// unspecified.
[[nodiscard]] bool CompressLeaf(Codec codec, Slice leaf, std::uint32_t page_size, std::string* stored,
                                std::size_t* packed_end);

// A compressed leaf whose checksum has been verified. Borrows the stored bytes. Any thread.
class CompressedPage {
 public:
  // Whether a page that VerifyPage has accepted must be expanded before it is parsed.
  [[nodiscard]] static bool Is(Slice stored);

  // Corruption if the sizes are impossible; NotSupported for a codec of a later version. Bounds what a reader
  // allocates: raw_size() is at most kPageUnitsMax * page_size, whatever the bytes say.
  static Result<CompressedPage> Parse(Slice stored, std::uint32_t page_size, const std::string& path,
                                      std::uint64_t offset);

  [[nodiscard]] std::size_t raw_size() const { return raw_size_; }

  // Fills out[0, raw_size()) with the leaf, to be parsed like any page. Corruption if the stored bytes do not expand to
  // exactly raw_size() bytes.
  Status Expand(char* out, const std::string& path, std::uint64_t offset) const;

 private:
  CompressedPage() = default;

  const char* header_ = nullptr;
  Slice packed_;
  std::size_t raw_size_ = 0;
  Codec codec_ = Codec::kNone;
};

}  // namespace cambium
