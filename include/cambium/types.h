// Small types that several public headers share.
#pragma once

#include <cstdint>

namespace cambium {

// Numbers every operation, in the order of the log, from 1. A batch of n operations takes n of them.
using SequenceNumber = std::uint64_t;
inline constexpr SequenceNumber kMaxSequenceNumber = ~SequenceNumber{0} >> 8;

}  // namespace cambium
