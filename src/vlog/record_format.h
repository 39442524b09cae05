// A record of the commit log: one operation, with its key and, for a put, the value as stored. A separated value has no
// other copy, so it is written only once.
//
//   offset  size  field            (little-endian, no padding)
//        0     8  header checksum  XXH3 of bytes 8..55, seeded with the file's seed and the record's offset
//        8     8  body checksum    XXH3 of key and stored value, seed 0: computed before the append lock is taken
//       16     8  sequence         of this operation; of the last operation before it for control records
//       24     8  value size       bytes as stored
//       32     4  write time       seconds since 1970
//       36     4  durable lag      the log is known durable up to sequence - lag; 0xffffffff: nothing is known
//       40     4  family
//       44     4  key size
//       48     4  batch index      place in its batch, from 0: sequence - index identifies the batch
//       52     1  operation        RecordOp
//       53     1  codec            of the stored value: 0 none, 1 lz4, 2 zstd
//       54     1  marks            bit 0: last operation of its batch
//       55     1  zero
//       56     -  key | stored value | zeros up to a multiple of 8
//
// A compressed value starts with its raw size (8 bytes). The header has a checksum of its own because its `durable lag`
// is a witness: it proves that the log was durable up to that number, even if the body after it is damaged. The seed is
// derived from a random id in the file's header. So images of records inside user values, stale bytes of a reused disk
// block, and records of other files or offsets never validate.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/slice.h"
#include "cambium/types.h"
#include "util/compression.h"

namespace cambium {

inline constexpr std::size_t kRecordHeaderSize = 56;
inline constexpr std::uint32_t kNothingDurable = 0xffffffffu;
// The largest value in a log segment, before compression; larger ones always have a file of their own (it is also the
// maximum of Options::large_value_size). It bounds the memory that any record, even a forged one, makes a reader
// allocate.
inline constexpr std::uint64_t kLoggedValueSizeMax = std::uint64_t{64} << 20;

// On disk. Readers reject any other number.
enum class RecordOp : std::uint8_t {
  kPut = 1,
  kDelete = 2,
  kSingleDelete = 3,  // reserved: this version writes kDelete
  kMerge = 4,         // reserved; rejected on read
  kDeleteRange = 5,   // deletes [key, stored value); the stored value is a key, never compressed
  kPutLarge = 6,      // the value is in a file of its own, which is durable; the stored value is a LargeValueRef
  kLink = 16,         // control: the first record of a segment, names its predecessor; the value is a SegmentLink
  kAbort = 17,        // reserved control: ends a batch that failed
  kMark = 18,         // control: only a witness of durability
};
[[nodiscard]] constexpr bool IsControl(RecordOp op) { return static_cast<std::uint8_t>(op) >= 16; }

inline constexpr std::uint8_t kLastOfBatch = 1;

struct RecordHeader {
  std::uint64_t body_checksum = 0;
  SequenceNumber sequence = 0;
  std::uint64_t value_size = 0;
  std::uint32_t write_time = 0;
  std::uint32_t durable_lag = kNothingDurable;
  std::uint32_t family = 0;
  std::uint32_t key_size = 0;
  std::uint32_t batch_index = 0;
  RecordOp op = RecordOp::kPut;
  Codec codec = Codec::kNone;
  std::uint8_t marks = 0;

  // The size of the whole record. Cannot overflow for a header that DecodeRecordHeader accepts.
  [[nodiscard]] std::uint64_t RecordSize() const {
    return (kRecordHeaderSize + key_size + value_size + 7) / 8 * 8;
  }
  // The sequence number up to which this record proves that the log is durable; 0 if it proves nothing.
  [[nodiscard]] SequenceNumber DurableSequence() const {
    return durable_lag == kNothingDurable || durable_lag > sequence ? 0 : sequence - durable_lag;
  }
};

// Writes kRecordHeaderSize bytes that validate only at `offset` of the file with that seed.
void EncodeRecordHeader(const RecordHeader& header, std::uint64_t file_seed, std::uint64_t offset, char* out);

// The outcome of decoding a record header. kUnknownOperation: the checksum is right, but this version does not know the
// operation.
enum class HeaderCheck : std::uint8_t { kValid, kBadChecksum, kBadField, kUnknownOperation };
// `in` must have kRecordHeaderSize bytes. *header is set unless the checksum is wrong.
[[nodiscard]] HeaderCheck DecodeRecordHeader(const char* in, std::uint64_t file_seed, std::uint64_t offset,
                                             RecordHeader* header);

[[nodiscard]] std::uint64_t BodyChecksum(Slice key, Slice stored_value);

// The value of a kLink record: the predecessor of this segment, where its log ends, and its last operation.
struct SegmentLink {
  std::uint64_t number = 0;  // 0: no predecessor
  std::uint64_t length = 0;
  SequenceNumber last_sequence = 0;
  static constexpr std::size_t kSize = 24;
};
[[nodiscard]] std::string EncodeSegmentLink(const SegmentLink& link);
// False if `in` is no link, or if a field is impossible: an end within the file header, or a number above
// kMaxSequenceNumber.
[[nodiscard]] bool DecodeSegmentLink(Slice in, SegmentLink* link);

// The value of a kPutLarge record: a file that was durable before this record was written.
struct LargeValueRef {
  std::uint64_t number = 0;
  std::uint64_t file_size = 0;
  std::uint64_t body_checksum = 0;  // of the record in the file
  static constexpr std::size_t kSize = 24;
};
[[nodiscard]] std::string EncodeLargeValueRef(const LargeValueRef& ref);
[[nodiscard]] bool DecodeLargeValueRef(Slice in, LargeValueRef* ref);

}  // namespace cambium
