// The stored form of a leaf that was compressed. Branches are never compressed: nearly all of them are in the pool
// anyway, and their checksums do not shrink.
//
//   offset  size  field
//        0     8  checksum       XXH3 of everything behind it, up to the end of the last unit, as in any page
//        8     8  page id        its own; its units are those that are stored
//       16     1  type           PageType::kCompressedLeaf
//       17     1  level          0
//       18     1  flags          of the leaf
//       19     1  codec          1 LZ4, 2 ZSTD
//       20    28  of the leaf    count, prefix length, suffix length, key stride, heap offset, value bytes
//       48     4  raw size       of the leaf, header included: a multiple of 512, at most 64 units of the file
//       52     4  packed size    of what follows
//
//   56          what the codec made of the leaf's bytes 48 to raw size | zeros up to the end of the page
//
// The header stays readable, and enters the checksum: place, sizes and codec are believed only when every stored byte
// is the one that was written. An expanded leaf is an ordinary leaf of raw size bytes, but its first 8 bytes are still
// the checksum of its stored form: that is what the parent holds, and what names the page in the pool.
//
// A leaf is stored raw where this form would not save an eighth, or not a unit.
#pragma once

#include <cstdint>
#include <string>

#include "index/page_format.h"
#include "util/compression.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::size_t kCompressedHeaderSize = 56;

// What sizes of expanded leaves are multiples of: frames of evicted pages then often fit the page that comes.
inline constexpr std::size_t kRawSizeStep = kPageSizeMin;

// Makes the stored form of `leaf` (at least 512 bytes, a multiple of kRawSizeStep) in *stored, without id and checksum:
// PlacePage gives it those. False, *stored then being of no use, if the leaf is to be stored raw. *packed_end is where
// its zeros begin.
[[nodiscard]] bool CompressLeaf(Codec codec, Slice leaf, std::uint32_t page_size, std::string* stored,
                                std::size_t* packed_end);

// A compressed leaf whose checksum was verified. Borrows the stored bytes. Any thread.
class CompressedPage {
 public:
  // Of a page that VerifyPage has passed: whether it must be expanded before it is parsed.
  [[nodiscard]] static bool Is(Slice stored);

  // Corruption if the sizes are impossible, NotSupported for a codec of a later version. What a reader may have to
  // allocate is bounded here: raw_size() is at most kPageUnitsMax * page_size, whatever the bytes say.
  static Result<CompressedPage> Parse(Slice stored, std::uint32_t page_size, const std::string& path,
                                      std::uint64_t offset);

  [[nodiscard]] std::size_t raw_size() const { return raw_size_; }

  // Fills out[0, raw_size()) with the leaf, which is then to be parsed like any page. Corruption if the stored bytes do
  // not expand to exactly that many.
  Status Expand(char* out, const std::string& path, std::uint64_t offset) const;

 private:
  CompressedPage() = default;

  const char* header_ = nullptr;
  Slice packed_;
  std::size_t raw_size_ = 0;
  Codec codec_ = Codec::kNone;
};

}  // namespace cambium
