// The bytes that malloc has given out and not got back.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace cambium::testing {

// Under sanitizers, which have an allocator of their own, this is always 0, and a test of an upper bound passes.
inline std::size_t HeapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

}  // namespace cambium::testing
