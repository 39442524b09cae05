// ValueBytes: values that do not compress and cost nothing to make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cambium/slice.h"
#include "util/prng.h"

namespace cambium::bench {

// Slices of one random string. Immutable.
class ValueBytes {
 public:
  explicit ValueBytes(std::size_t value_size)
      : value_size_(value_size), bytes_(Prng(3).Bytes(kPlaces * 8 + value_size)) {}

  [[nodiscard]] Slice Of(std::uint64_t n) const { return {bytes_.data() + n % kPlaces * 8, value_size_}; }

 private:
  static constexpr std::size_t kPlaces = 32'749;  // a prime: neighbours in a batch are not alike

  const std::size_t value_size_;
  const std::string bytes_;
};

}  // namespace cambium::bench
