// Values whose every byte can be checked if the key is known.
//
//   offset  size          field          (little-endian)
//        0     8          id of the key
//        8     8          version: which write of the run this is
//       16     size - 16  a slice of the pool; where it begins follows from seed, id, version and size
//
// A value of less than 16 bytes is the beginning of a hash of seed, id and size. The pool is random, and so does not
// compress. If the run compresses, the pool consists of pieces of 128 bytes: the first part, `compression_ratio` of the
// piece, is random, and the rest repeats it. With --source the pool is the bytes of real files, and a body is a whole
// file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "data/value_sizes.h"

namespace cambium::bench {

inline constexpr std::size_t kValueHeaderSize = 16;

// The part of a value that is compared with the written bytes.
enum class CheckDepth : unsigned char {
  kFull,  // every byte
  kEnds,  // the header, and the first and last 8 bytes of the body
};

// A ValuePool has the bytes that bodies of values are slices of. Immutable, shared by all threads.
class ValuePool {
 public:
  // compression_ratio is in (0, 1]; 1: bytes that do not compress. Values of up to `room` bytes can be made.
  ValuePool(std::uint64_t seed, const ValueSizes& sizes, double compression_ratio, std::size_t room = 0);
  ValuePool(std::uint64_t seed, std::size_t value_size, double compression_ratio)
      : ValuePool(seed, ValueSizes::Fixed(value_size), compression_ratio) {}
  // Bodies are these files, of which one is chosen for each value. Requires at least one file.
  ValuePool(std::uint64_t seed, const std::vector<std::string>& files);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool OfFiles() const { return !file_ends_.empty(); }
  // The size of the largest value.
  [[nodiscard]] std::size_t size_max() const { return size_max_; }
  // The mean size of values, unless their maker asks for other sizes.
  [[nodiscard]] std::size_t size_typical() const { return size_typical_; }
  // Whether all values have the same size.
  [[nodiscard]] bool fixed() const { return sizes_.fixed() && size_max_ == sizes_.max; }
  // Returns the size of this version of a value, unless its maker asks for another size.
  [[nodiscard]] std::size_t SizeOf(std::uint64_t id, std::uint64_t version) const;
  // Returns where in the pool the body of this value begins.
  [[nodiscard]] std::size_t OffsetOf(std::uint64_t id, std::uint64_t version, std::size_t size) const;
  // Returns the hash that a value of less than 16 bytes is the beginning of.
  [[nodiscard]] std::array<char, kValueHeaderSize> ShortValue(std::uint64_t id, std::size_t size) const;

  // Returns whether `value` was made for key `id`, in any version. The size is compared if all sizes are equal or
  // values are files. Otherwise a wrong size shows in the body, because the offset in the pool depends on it.
  [[nodiscard]] bool Matches(std::uint64_t id, Slice value, CheckDepth depth) const;
  // Returns what is wrong with a value that does not match, for a message.
  [[nodiscard]] std::string Explain(std::uint64_t id, Slice value) const;

 private:
  static constexpr std::size_t kOffsets = 1u << 20;  // bodies begin at one of a million places

  [[nodiscard]] std::size_t FileOf(std::uint64_t id, std::uint64_t version) const;
  [[nodiscard]] std::size_t FileBegin(std::size_t file) const { return file == 0 ? 0 : file_ends_[file - 1]; }
  // Returns whether this version may have that many bytes.
  [[nodiscard]] bool SizeMayBe(std::uint64_t id, std::uint64_t version, std::size_t size) const;

  std::uint64_t seed_;
  ValueSizes sizes_;
  std::size_t size_max_;
  std::size_t size_typical_;
  std::vector<std::size_t> file_ends_;  // in bytes_; empty: no files
  std::string bytes_;                   // kOffsets bytes plus the largest value, so that no body wraps; or all files
};

// Returns the id in a value's header; 0 for a value without a header.
std::uint64_t IdInValue(Slice value);
// Returns the version in a value's header; nothing for a value without a header.
std::optional<std::uint64_t> VersionInValue(Slice value);

// A ValueMaker makes values without copying bodies: it writes the header into its own copy of the pool, just in front
// of the body, and restores the pool's bytes when it makes the next value. Files are copied. One thread at a time.
class ValueMaker {
 public:
  explicit ValueMaker(const ValuePool& pool);

  // Returns a value, whose bytes live until the next call.
  Slice Make(std::uint64_t id, std::uint64_t version) { return Make(id, version, pool_.SizeOf(id, version)); }
  // As above, with another size than the pool would choose: at most size_max(). Not for files.
  Slice Make(std::uint64_t id, std::uint64_t version, std::size_t size);

 private:
  const ValuePool& pool_;
  const bool copies_;
  std::string bytes_;  // room for a header, then the pool; or the last value
  std::size_t header_at_ = 0;
};

}  // namespace cambium::bench
