// Small types that several public headers share.
#pragma once

#include <cstdint>

namespace cambium {

// The number of an operation, in log order, from 1. A batch of n operations takes n numbers.
using SequenceNumber = std::uint64_t;
inline constexpr SequenceNumber kMaxSequenceNumber = ~SequenceNumber{0} >> 8;

// Why a table file (a run, a level file of an LSM, or a segment of tree pages) is created. Names and numbers as in
// RocksDB where it has them. RocksDB's kRecovery (2) and kMisc (3) do not occur here.
enum class TableFileCreationReason : unsigned char {
  kFlush = 0,
  kCompaction = 1,  // a sweep or a compaction: filters are asked
  kLogGc = 4,       // records where log GC moved values
  kSnapshot = 5,    // keeps a memtable that only a snapshot needs
};

}  // namespace cambium
