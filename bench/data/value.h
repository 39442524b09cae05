// Values whose every byte can be checked by whoever knows the key.
//
//   offset  size          field          (little-endian)
//        0     8          id of the key
//        8     8          version: which write of the run this was
//       16     size - 16  a slice of the pool; seed, id, version and size say from where
//
// A value of less than 16 bytes is the beginning of a hash of seed, id and size. The pool is random, and so
// incompressible, unless the run compresses: then pieces of 128 bytes, of which `compression_ratio` is random and the
// rest repeats it. Or it is the bytes of real files: then a body is one of them, whole.
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

// How much of a value is compared with what was written.
enum class CheckDepth : unsigned char {
  kFull,  // every byte
  kEnds,  // the header, and the first and last 8 bytes of the body
};

// Immutable, shared by all threads.
class ValuePool {
 public:
  // compression_ratio in (0, 1]; 1 for bytes that do not compress. Values of up to `room` bytes can be asked for.
  ValuePool(std::uint64_t seed, const ValueSizes& sizes, double compression_ratio, std::size_t room = 0);
  ValuePool(std::uint64_t seed, std::size_t value_size, double compression_ratio)
      : ValuePool(seed, ValueSizes::Fixed(value_size), compression_ratio) {}
  // Bodies are these files, one chosen for each value; at least one.
  ValuePool(std::uint64_t seed, const std::vector<std::string>& files);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool OfFiles() const { return !file_ends_.empty(); }
  // Of any value, at the most.
  [[nodiscard]] std::size_t size_max() const { return size_max_; }
  // What values have on average, unless who makes them wants other sizes.
  [[nodiscard]] std::size_t size_typical() const { return size_typical_; }
  // All values have one size.
  [[nodiscard]] bool fixed() const { return sizes_.fixed() && size_max_ == sizes_.max; }
  // What this version of a value has, unless who makes it wants another size.
  [[nodiscard]] std::size_t SizeOf(std::uint64_t id, std::uint64_t version) const;
  // Where in the pool the body of this value begins.
  [[nodiscard]] std::size_t OffsetOf(std::uint64_t id, std::uint64_t version, std::size_t size) const;
  // What a value of less than 16 bytes begins with.
  [[nodiscard]] std::array<char, kValueHeaderSize> ShortValue(std::uint64_t id, std::size_t size) const;

  // Whether `value` is one that was made for key `id`, of whatever version. Its size is compared where all are equal,
  // or files; else a value of another size than it was made with has another body.
  [[nodiscard]] bool Matches(std::uint64_t id, Slice value, CheckDepth depth) const;
  // What is wrong with a value that does not match, for a message.
  [[nodiscard]] std::string Explain(std::uint64_t id, Slice value) const;

 private:
  static constexpr std::size_t kOffsets = 1u << 20;  // bodies begin at one of a million places, then run on

  [[nodiscard]] std::size_t FileOf(std::uint64_t id, std::uint64_t version) const;
  [[nodiscard]] std::size_t FileBegin(std::size_t file) const { return file == 0 ? 0 : file_ends_[file - 1]; }
  // Whether a value of that many bytes may be that version's.
  [[nodiscard]] bool SizeMayBe(std::uint64_t id, std::uint64_t version, std::size_t size) const;

  std::uint64_t seed_;
  ValueSizes sizes_;
  std::size_t size_max_;
  std::size_t size_typical_;
  std::vector<std::size_t> file_ends_;  // in bytes_; empty: no files
  std::string bytes_;  // kOffsets bytes and the largest value more, so that a body never wraps; or all files
};

// The id that a value says it belongs to; 0 for a value without a header.
std::uint64_t IdInValue(Slice value);
// The version that it says it is; nothing for a value without a header.
std::optional<std::uint64_t> VersionInValue(Slice value);

// Makes values without copying bodies: it writes the header into its own copy of the pool, just in front of the body,
// and mends the pool when the next value is made. Files are copied. One thread at a time.
class ValueMaker {
 public:
  explicit ValueMaker(const ValuePool& pool);

  // Lives until the next call.
  Slice Make(std::uint64_t id, std::uint64_t version) { return Make(id, version, pool_.SizeOf(id, version)); }
  // Of another size than the pool would choose; at most size_max(). Not of files.
  Slice Make(std::uint64_t id, std::uint64_t version, std::size_t size);

 private:
  const ValuePool& pool_;
  const bool copies_;
  std::string bytes_;  // a header's room, then the pool; or the last value
  std::size_t header_at_ = 0;
};

}  // namespace cambium::bench
