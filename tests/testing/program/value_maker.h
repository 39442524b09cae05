// Values that contain the operation that wrote them, so that a wrong value shows where it came from.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/slice.h"

namespace cambium::testing {

// Describes a value: its bytes depend only on this.
struct ValueSpec {
  std::uint64_t writer = 0;  // id of the operation; unique in all lives of a run
  std::uint32_t index = 0;   // within the operation
  std::uint32_t size = 0;
  bool compressible = false;
};

// Returns the value. Its first bytes hold the spec itself, as far as the size allows.
[[nodiscard]] std::string MakeValue(const ValueSpec& spec);

// Returns, for example, "600 bytes written by operation 17[3]", or where the bytes differ from what that operation
// wrote.
[[nodiscard]] std::string DescribeValue(Slice value);

}  // namespace cambium::testing
