// Values whose every byte can be checked by whoever knows the key.
//
//   offset  size          field          (little-endian)
//        0     8          id of the key
//        8     8          version: which write of the run this was
//       16     size - 16  a slice of the pool; seed, id and version say from where
//
// A value of less than 16 bytes is the beginning of a hash of seed and id. The pool is random, and so incompressible,
// unless the run compresses: then pieces of 128 bytes, of which `compression_ratio` is random and the rest repeats it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cambium/slice.h"

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
  // compression_ratio in (0, 1]; 1 for bytes that do not compress.
  ValuePool(std::uint64_t seed, std::size_t value_size, double compression_ratio);

  [[nodiscard]] std::size_t value_size() const { return value_size_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  // Where in the pool the body of this value begins.
  [[nodiscard]] std::size_t OffsetOf(std::uint64_t id, std::uint64_t version) const;
  // What a value of less than 16 bytes begins with.
  [[nodiscard]] std::array<char, kValueHeaderSize> ShortValue(std::uint64_t id) const;

  // Whether `value` is one that was made for key `id`, of whatever version.
  [[nodiscard]] bool Matches(std::uint64_t id, Slice value, CheckDepth depth) const;
  // What is wrong with a value that does not match, for a message.
  [[nodiscard]] std::string Explain(std::uint64_t id, Slice value) const;

 private:
  static constexpr std::size_t kOffsets = 1u << 20;  // bodies begin at one of a million places, then run on

  std::uint64_t seed_;
  std::size_t value_size_;
  std::string bytes_;  // kOffsets + value_size_ bytes, so that a body never wraps
};

// Makes values without copying bodies: it writes the header into its own copy of the pool, just in front of the body,
// and mends the pool when the next value is made. One thread at a time.
class ValueMaker {
 public:
  explicit ValueMaker(const ValuePool& pool);

  // Lives until the next call.
  Slice Make(std::uint64_t id, std::uint64_t version);

 private:
  const ValuePool& pool_;
  std::string bytes_;  // a header's room, then the pool
  std::size_t header_at_ = 0;
};

}  // namespace cambium::bench
