// The bytes of a trace.
//
//   +--------+--------+--------+- - -+--------+
//   | header | record | record |     | end    |   without the end: whoever wrote it did not get so far
//   +--------+--------+--------+- - -+--------+
//
//   offset  size  field of the header
//        0     8  magic              "CAMTRACE"
//        8     4  version            1; a later one is NotSupported
//       12     4  flags              1: values are recorded, 2: writes are in their order; others are NotSupported
//       16     8  id                 random
//       24     8  wall seconds       since 1970
//       32     8  sampling frequency
//       40     8  filter
//       48     8  checksum           of the 48 bytes before it, seed 0
//
//   offset  size  field of a record
//        0     8  checksum           of all behind it, with SeedAt(the header's checksum, offset of the record)
//        8     4  size               of the body, at most 256 MiB
//       12     1  type               TraceType
//       13     -  body
//
// Bodies, made of varints, of keys and values behind a varint of their length, and of single bytes:
//
//   write              time | sync 0 or 1 | count | operations: type (1) | family | key
//                                                                | put: value size, and the value if they are recorded
//                                                                | delete range: end key
//   get, multiget      time | count | look-ups: family | key | 0, or value size + 1
//   seek, for prev     time | scan | family | key
//   seek to first/last time | scan | family
//   iterator done      time | scan | moves
//                                    scan: from 1, a number that no other seek of the trace has
//   end                time | records before it | batches left out, since too large | 1 if the file was full, else 0
//
// The checksum binds a record to its trace and place, so that neither a record that was cut off nor what another trace
// left in the same blocks validates. Nothing follows the end.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/trace.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::size_t kTraceHeaderSize = 56;
inline constexpr std::size_t kTraceRecordHeaderSize = 13;
inline constexpr std::size_t kTraceBodyMax = 256u << 20;
// The largest an end can be.
inline constexpr std::size_t kTraceEndMax = kTraceRecordHeaderSize + 3 * 10 + 1;

[[nodiscard]] std::string EncodeTraceHeader(const TraceHeader& header, std::uint64_t id);
// The checksum in *seed. `where` names the file, for errors.
Status DecodeTraceHeader(Slice bytes, const std::string& where, TraceHeader* header, std::uint64_t* seed);

// The body of a record; its type is not in it.
[[nodiscard]] std::string EncodeTraceBody(const TraceRecord& record, bool include_values);
// False if it is malformed. Slices borrow from `body`.
[[nodiscard]] bool DecodeTraceBody(Slice body, TraceType type, bool include_values, TraceRecord* record);

// Appends the record to *out.
void AppendTraceRecord(std::string* out, std::uint64_t seed, std::uint64_t offset, TraceType type, Slice body);

}  // namespace cambium
