// Small types that several public headers share.
#pragma once

#include <cstdint>

namespace cambium {

// Numbers every operation, in the order of the log, from 1. A batch of n operations takes n of them.
using SequenceNumber = std::uint64_t;
inline constexpr SequenceNumber kMaxSequenceNumber = ~SequenceNumber{0} >> 8;

// Why a table file is made: a run, a level file of an LSM, or a segment of tree pages. Names and numbers as in RocksDB
// where it has them; its 2 and 3, recovery and others, do not happen here.
enum class TableFileCreationReason : unsigned char {
  kFlush = 0,
  kCompaction = 1,  // a sweep, or a compaction: filters are asked
  kLogGc = 4,       // says where log GC has moved values to
  kSnapshot = 5,    // takes over a memory table that only a snapshot holds
};

}  // namespace cambium
