// One operation of a serialised WriteBatch (api/batch_tags.h).
#pragma once

#include <cstdint>

#include "cambium/slice.h"

namespace cambium {

struct BatchOp {
  char tag = 0;
  std::uint32_t family = 0;
  Slice key;
  Slice value;  // the value of a put, or the end of a range delete
};

// Reads the operation at the beginning of *rest and removes it from *rest. Returns false if the bytes are not an
// operation whose key and value are within the limits. The slices refer to the bytes of *rest.
[[nodiscard]] bool TakeBatchOp(Slice* rest, BatchOp* op);

}  // namespace cambium
