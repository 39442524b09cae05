// Values that say who wrote them, so that a wrong one names its story.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/slice.h"

namespace cambium::testing {

// A value without its bytes: they follow from this.
struct ValueSpec {
  std::uint64_t writer = 0;  // id of the operation; unique over all lives of a run
  std::uint32_t index = 0;   // within the operation
  std::uint32_t size = 0;
  bool compressible = false;
};

// The first bytes hold the spec itself, as far as the size allows; the rest follows from it.
[[nodiscard]] std::string MakeValue(const ValueSpec& spec);

// "600 bytes written by operation 17[3]", or how far the bytes are from what any operation wrote.
[[nodiscard]] std::string DescribeValue(Slice value);

}  // namespace cambium::testing
