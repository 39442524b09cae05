// A record of the commit log: one operation, with its key and, for a put, the value as stored. It is the only copy of
// a separated value, so that a value is written once.
//
//   offset  size  field            (little-endian, no padding)
//        0     8  header checksum  XXH3 of bytes 8..55, seeded with the file's seed and the record's offset
//        8     8  body checksum    XXH3 of key and stored value, seed 0: computed before the append lock is taken
//       16     8  sequence         of this operation; of the last operation before it for control records
//       24     8  value size       bytes as stored
//       32     4  write time       seconds since 1970
//       36     4  durable lag      sequence - lag is known durable; 0xffffffff: nothing is known
//       40     4  family
//       44     4  key size
//       48     4  batch index      place in its batch, from 0: sequence - index names the batch
//       52     1  operation        RecordOp
//       53     1  codec            of the stored value: 0 none, 1 lz4, 2 zstd
//       54     1  marks            bit 0: last operation of its batch
//       55     1  zero
//       56     -  key | stored value | zeros up to a multiple of 8
//
// A compressed value starts with its raw size (8 bytes). The header has a checksum of its own because its `durable lag`
// is a witness: it proves that the log was durable up to there, even if the body behind it is damaged. The seed comes
// from a random id in the file's header, so that images of records inside user values, bytes of an older life of the
// disk, and records of other files or places never validate.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/slice.h"
#include "cambium/types.h"
#include "util/compression.h"

namespace cambium {

inline constexpr std::size_t kRecordHeaderSize = 56;
inline constexpr std::uint32_t kNothingDurable = 0xffffffffu;
// A value in a log segment has at most so many bytes before compression; larger ones always have a file of their own
// (Options::large_value_size ends here). It bounds the memory that a record, whoever wrote it, makes a reader take.
inline constexpr std::uint64_t kLoggedValueSizeMax = std::uint64_t{64} << 20;

// On disk. Values not named here are refused.
enum class RecordOp : std::uint8_t {
  kPut = 1,
  kDelete = 2,
  kSingleDelete = 3,  // reserved: this version writes kDelete
  kMerge = 4,         // reserved; refused on read
  kDeleteRange = 5,   // of [key, value): the stored value is the end, a key, never compressed
  kPutLarge = 6,      // the value is in a file of its own, which is durable; the stored value is a LargeValueRef
  kLink = 16,         // control: the first record of a segment, ties it to the one before; the value is a SegmentLink
  kAbort = 17,        // reserved control: ends a batch that failed
  kMark = 18,         // control: nothing but a witness of durability
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

  // Bytes of the whole record. No overflow for any header that DecodeRecordHeader accepts.
  [[nodiscard]] std::uint64_t RecordSize() const {
    return (kRecordHeaderSize + key_size + value_size + 7) / 8 * 8;
  }
  // The sequence number up to which this record proves the log durable; 0 if it proves nothing.
  [[nodiscard]] SequenceNumber DurableSequence() const {
    return durable_lag == kNothingDurable || durable_lag > sequence ? 0 : sequence - durable_lag;
  }
};

// Writes kRecordHeaderSize bytes, bound to `offset` of the file with that seed.
void EncodeRecordHeader(const RecordHeader& header, std::uint64_t file_seed, std::uint64_t offset, char* out);

// Why bytes are no record header at this place. kFuture and kReserved validate, but mean something this version does
// not know.
enum class HeaderCheck : std::uint8_t { kValid, kBadChecksum, kBadField, kUnknownOperation };
// `in` has kRecordHeaderSize bytes.
[[nodiscard]] HeaderCheck DecodeRecordHeader(const char* in, std::uint64_t file_seed, std::uint64_t offset,
                                             RecordHeader* header);

// Of key and stored value.
[[nodiscard]] std::uint64_t BodyChecksum(Slice key, Slice stored_value);

// What a kLink record holds: the segment before this one, where its log ends, and the last operation in it.
struct SegmentLink {
  std::uint64_t number = 0;  // 0: there is none
  std::uint64_t length = 0;
  SequenceNumber last_sequence = 0;
  static constexpr std::size_t kSize = 24;
};
[[nodiscard]] std::string EncodeSegmentLink(const SegmentLink& link);
[[nodiscard]] bool DecodeSegmentLink(Slice in, SegmentLink* link);

// What a kPutLarge record holds: a file that was durable before this record was written.
struct LargeValueRef {
  std::uint64_t number = 0;
  std::uint64_t file_size = 0;
  std::uint64_t body_checksum = 0;  // of the record in the file
  static constexpr std::size_t kSize = 24;
};
[[nodiscard]] std::string EncodeLargeValueRef(const LargeValueRef& ref);
[[nodiscard]] bool DecodeLargeValueRef(Slice in, LargeValueRef* ref);

}  // namespace cambium
