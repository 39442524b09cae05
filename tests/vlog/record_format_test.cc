#include "vlog/record_format.h"

#include <gtest/gtest.h>

#include "io/file_header.h"
#include "testing/mutant_scope.h"
#include "util/prng.h"

namespace cambium {
namespace {

using testing::MutantScope;

RecordHeader SomeHeader() {
  RecordHeader header;
  header.body_checksum = 0x0102030405060708u;
  header.sequence = 0x1122334455u;
  header.value_size = 1000;
  header.write_time = 1'700'000'000;
  header.durable_lag = 7;
  header.family = 3;
  header.key_size = 5;
  header.batch_index = 2;
  header.op = RecordOp::kPut;
  header.codec = Codec::kZstd;
  header.marks = kLastOfBatch;
  return header;
}

// The layout in record_format.h, byte for byte. If this fails, the format has changed.
TEST(RecordFormatTest, HeaderHasTheDocumentedBytes) {
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(SomeHeader(), 42, 128, bytes);
  EXPECT_EQ(Slice(bytes, sizeof(bytes)).ToString(true),
            "9c89945746d06adf" "0807060504030201" "5544332211000000" "e803000000000000"
            "00f15365" "07000000" "03000000" "05000000" "02000000" "01020100");
}

TEST(RecordFormatTest, BodyChecksumHasTheDocumentedBytes) {
  EXPECT_EQ(BodyChecksum("key", "value"), 12215510952284365372u);
  EXPECT_EQ(BodyChecksum("", ""), 0x2d06800538d394c2u);
}

TEST(RecordFormatTest, EncodedHeaderDecodesToTheSameFields) {
  const RecordHeader header = SomeHeader();
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(header, 42, 128, bytes);
  RecordHeader decoded;
  ASSERT_EQ(DecodeRecordHeader(bytes, 42, 128, &decoded), HeaderCheck::kValid);
  char again[kRecordHeaderSize];
  EncodeRecordHeader(decoded, 42, 128, again);
  EXPECT_EQ(Slice(bytes, sizeof(bytes)), Slice(again, sizeof(again)));
  EXPECT_EQ(decoded.RecordSize(), (56u + 5 + 1000 + 7) / 8 * 8);
  EXPECT_EQ(decoded.DurableSequence(), header.sequence - 7);
}

TEST(RecordFormatTest, EveryFlippedHeaderBitIsRejected) {
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(SomeHeader(), 42, 128, bytes);
  for (std::size_t bit = 0; bit < 8 * kRecordHeaderSize; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    RecordHeader decoded;
    EXPECT_EQ(DecodeRecordHeader(bytes, 42, 128, &decoded), HeaderCheck::kBadChecksum) << "bit " << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
}

bool ValidatesAtAnotherOffset() {
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(SomeHeader(), 42, 128, bytes);
  RecordHeader decoded;
  return DecodeRecordHeader(bytes, 42, 136, &decoded) == HeaderCheck::kValid;
}

TEST(RecordFormatTest, HeaderIsBoundToItsOffset) {
  EXPECT_FALSE(ValidatesAtAnotherOffset());
  const MutantScope mutant(Mutant::kSeedWithoutOffset);
  EXPECT_TRUE(ValidatesAtAnotherOffset());
}

bool ValidatesInAnotherFile(const FileHeader& other) {
  FileHeader file;
  file.kind = FileKind::kLog;
  file.number = 7;
  file.epoch = 2;
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(SomeHeader(), file.Seed(), 128, bytes);
  RecordHeader decoded;
  return DecodeRecordHeader(bytes, other.Seed(), 128, &decoded) == HeaderCheck::kValid;
}

TEST(RecordFormatTest, HeaderIsBoundToItsFile) {
  FileHeader same;
  same.kind = FileKind::kLog;
  same.number = 7;
  same.epoch = 2;
  ASSERT_TRUE(ValidatesInAnotherFile(same));
  FileHeader other_number = same;
  other_number.number = 8;
  FileHeader other_epoch = same;
  other_epoch.epoch = 3;
  FileHeader other_id = same;
  other_id.file_id[15] = 1;
  for (const FileHeader& other : {other_number, other_epoch, other_id}) {
    EXPECT_FALSE(ValidatesInAnotherFile(other));
    const MutantScope mutant(Mutant::kSeedWithoutFileId);
    EXPECT_TRUE(ValidatesInAnotherFile(other));
  }
}

// A header with a right checksum is invalid if a field is out of its range. Operations of later versions are
// distinguished from damage.
TEST(RecordFormatTest, FieldsOutOfRangeAreRejectedDespiteARightChecksum) {
  const auto check = [](const RecordHeader& header) {
    char bytes[kRecordHeaderSize];
    EncodeRecordHeader(header, 1, 128, bytes);
    RecordHeader decoded;
    return DecodeRecordHeader(bytes, 1, 128, &decoded);
  };
  RecordHeader header = SomeHeader();
  header.sequence = kMaxSequenceNumber;
  header.key_size = 64 << 10;
  EXPECT_EQ(check(header), HeaderCheck::kValid);
  header.sequence = kMaxSequenceNumber + 1;
  EXPECT_EQ(check(header), HeaderCheck::kBadField);
  header = SomeHeader();
  header.key_size = (64 << 10) + 1;
  EXPECT_EQ(check(header), HeaderCheck::kBadField);
  header = SomeHeader();
  header.value_size = ~std::uint64_t{0};
  EXPECT_EQ(check(header), HeaderCheck::kBadField);
  header = SomeHeader();
  header.codec = static_cast<Codec>(3);
  EXPECT_EQ(check(header), HeaderCheck::kBadField);
  header = SomeHeader();
  header.marks = 2;
  EXPECT_EQ(check(header), HeaderCheck::kBadField);
  header = SomeHeader();
  header.op = RecordOp::kDeleteRange;  // its value is a key
  header.codec = Codec::kNone;
  header.value_size = 64 << 10;
  EXPECT_EQ(check(header), HeaderCheck::kValid);
  header.value_size = (64 << 10) + 1;
  EXPECT_EQ(check(header), HeaderCheck::kBadField);
  header.value_size = 9;
  header.codec = Codec::kLz4;
  EXPECT_EQ(check(header), HeaderCheck::kBadField);
  for (const int op : {0, 3, 4, 7, 15, 17, 19, 255}) {
    header = SomeHeader();
    header.op = static_cast<RecordOp>(op);
    EXPECT_EQ(check(header), HeaderCheck::kUnknownOperation) << op;
  }
}

TEST(RecordFormatTest, BodyChecksumDoesNotDependOnWhereKeyAndValueLie) {
  Prng prng(1);
  for (int i = 0; i < 100; ++i) {
    const std::string key = prng.Bytes(prng.Uniform(40));
    const std::string value = prng.Bytes(prng.Uniform(3000));
    const std::string joined = key + value;
    EXPECT_EQ(BodyChecksum(key, value),
              BodyChecksum({joined.data(), key.size()}, {joined.data() + key.size(), value.size()}));
  }
}

TEST(RecordFormatTest, LagAboveSequenceNumberProvesNothingDurable) {
  RecordHeader header;
  header.sequence = 5;
  header.durable_lag = 6;
  EXPECT_EQ(header.DurableSequence(), 0u);
  header.durable_lag = kNothingDurable;
  EXPECT_EQ(header.DurableSequence(), 0u);
  header.durable_lag = 5;
  EXPECT_EQ(header.DurableSequence(), 0u);
  header.durable_lag = 1;
  EXPECT_EQ(header.DurableSequence(), 4u);
}

TEST(RecordFormatTest, LinksAndLargeValueRefsOfWrongSizeAreRejected) {
  SegmentLink link;
  ASSERT_TRUE(DecodeSegmentLink(EncodeSegmentLink({1, 200, 3}), &link));
  EXPECT_TRUE(link.number == 1 && link.length == 200 && link.last_sequence == 3);
  LargeValueRef ref;
  ASSERT_TRUE(DecodeLargeValueRef(EncodeLargeValueRef({4, 5, 6}), &ref));
  EXPECT_TRUE(ref.number == 4 && ref.file_size == 5 && ref.body_checksum == 6);
  for (const std::size_t size : {0u, 23u, 25u}) {
    EXPECT_FALSE(DecodeSegmentLink(std::string(size, 'x'), &link));
    EXPECT_FALSE(DecodeLargeValueRef(std::string(size, 'x'), &ref));
  }
}

TEST(RecordFormatTest, LinksWithImpossibleFieldsAreRejected) {
  SegmentLink link;
  EXPECT_TRUE(DecodeSegmentLink(EncodeSegmentLink({0, 0, 0}), &link));  // no predecessor
  EXPECT_TRUE(DecodeSegmentLink(EncodeSegmentLink({1, kFileHeaderSize, kMaxSequenceNumber}), &link));
  EXPECT_FALSE(DecodeSegmentLink(EncodeSegmentLink({1, kFileHeaderSize - 1, 3}), &link));
  EXPECT_FALSE(DecodeSegmentLink(EncodeSegmentLink({1, 0, 0}), &link));
  EXPECT_FALSE(DecodeSegmentLink(EncodeSegmentLink({1, 200, kMaxSequenceNumber + 1}), &link));
  EXPECT_FALSE(DecodeSegmentLink(EncodeSegmentLink({0, 0, ~SequenceNumber{0}}), &link));
}

}  // namespace
}  // namespace cambium
