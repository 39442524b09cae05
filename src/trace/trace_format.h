// The format of a trace file.
//
//   +--------+--------+--------+- - -+--------+
//   | header | record | record |     | end    |   without an end record: the trace was not ended, or a write failed
//   +--------+--------+--------+- - -+--------+
//
//   offset  size  field of the header
//        0     8  magic              "CAMTRACE"
//        8     4  version            1; a later one is NotSupported
//       12     4  flags              1: values are recorded, 2: writes are in log order; others are NotSupported
//       16     8  id                 random
//       24     8  wall seconds       since 1970
//       32     8  sampling frequency
//       40     8  filter
//       48     8  checksum           of the 48 bytes before it, seed 0
//
//   offset  size  field of a record
//        0     8  checksum           of the rest of the record, with SeedAt(the header's checksum, the record's offset)
//        8     4  size               of the body, at most 256 MiB
//       12     1  type               TraceType
//       13     -  body
//
// Bodies consist of varints, of single bytes, and of keys and values that each follow a varint of their length:
//
//   write              time | sync 0 or 1 | count | operations: type (1) | family | key
//                                                                | put: value size, and the value if they are recorded
//                                                                | delete range: end key
//   get, multiget      time | count | lookups: family | key | 0 if not found, else value size + 1
//   seek, for prev     time | scan | family | key
//   seek to first/last time | scan | family
//   iterator done      time | scan | moves
//                                    scan: a number from 1, unique among the seeks of the trace
//   end                time | records before it | batches left out as too large | 1 if the file was full, else 0
//
// The checksum binds a record to its trace and its offset. So a cut record does not validate, and neither does a record
// that another trace left in the same blocks. Nothing follows the end record.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/trace.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::size_t kTraceHeaderSize = 56;
inline constexpr std::size_t kTraceRecordHeaderSize = 13;
inline constexpr std::size_t kTraceBodyMax = 256u << 20;
// The largest size of an end record.
inline constexpr std::size_t kTraceEndMax = kTraceRecordHeaderSize + 3 * 10 + 1;

[[nodiscard]] std::string EncodeTraceHeader(const TraceHeader& header, std::uint64_t id);
// Sets *header, and *seed to the header's checksum. `where` names the file in errors.
Status DecodeTraceHeader(Slice bytes, const std::string& where, TraceHeader* header, std::uint64_t* seed);

// Returns the body of a record. The body does not contain the record's type.
[[nodiscard]] std::string EncodeTraceBody(const TraceRecord& record, bool include_values);
// Returns false if the body is malformed. The record's slices point into `body`.
[[nodiscard]] bool DecodeTraceBody(Slice body, TraceType type, bool include_values, TraceRecord* record);

// Appends a whole record to *out. `offset` is its offset in the file.
void AppendTraceRecord(std::string* out, std::uint64_t seed, std::uint64_t offset, TraceType type, Slice body);

}  // namespace cambium
