// ReplayValues: values for a replay. A trace has only the lengths of values. The bytes follow from key and length, so
// every value read can be checked without knowing which call wrote it last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cambium/slice.h"
#include "data/mix.h"
#include "util/checksum.h"

namespace cambium::bench {

// The first 8 bytes are a hash of key and length, the rest is a piece of the pool, used as a ring. One thread at a
// time.
class ReplayValues {
 public:
  // `pool` must outlive this object, and not be empty.
  ReplayValues(std::string_view pool, std::uint64_t seed) : pool_(pool), seed_(seed) {}

  // Returns a value, whose bytes live until the next call.
  Slice Make(Slice key, std::size_t size) {
    buffer_.clear();
    const std::uint64_t hash = HashOf(key, size);
    buffer_.append(reinterpret_cast<const char*>(&hash), size < sizeof(hash) ? size : sizeof(hash));
    for (std::size_t at = hash % pool_.size(); buffer_.size() < size; at = 0) {
      buffer_.append(pool_.substr(at, size - buffer_.size()));
    }
    return buffer_;
  }
  bool Matches(Slice key, Slice value) { return Make(key, value.size()) == value; }

 private:
  [[nodiscard]] std::uint64_t HashOf(Slice key, std::size_t size) const { return Mix(Checksum64(key, seed_), size); }

  const std::string_view pool_;
  const std::uint64_t seed_;
  std::string buffer_;
};

}  // namespace cambium::bench
