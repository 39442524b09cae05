// The record of a prepared transaction.
#include "transactions/prepared_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cambium::testing::prepared_record_test {
namespace {

WriteBatch SomeBatch() {
  WriteBatch batch;
  static_cast<void>(batch.Put("a", "1"));
  static_cast<void>(batch.Delete("b"));
  return batch;
}

const Id128 kDatabase = {0xd0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
const std::vector<PreparedRecord::FamilyName> kFamilies = {{0, "default"}, {7, "seven"}};
using At = KeyBound::At;
const PreparedRecord::Locks kLocks = {
    {{0, true, "a"}, {0, true, "b"}, {7, false, ""}},
    {{0, true, {{At::kBefore, "c"}, {At::kAfter, "d"}}}, {7, false, {{At::kFirst, ""}, {At::kLast, ""}}}}};

TEST(PreparedRecordTest, RecordIsReadAsItWasWritten) {
  const WriteBatch batch = SomeBatch();
  const std::string bytes = EncodePreparedRecord(kDatabase, kFamilies, kLocks, batch);
  const Result<PreparedRecord> read = DecodePreparedRecord("name", bytes);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->database_id, kDatabase);
  EXPECT_EQ(read->families, kFamilies);
  EXPECT_EQ(read->locks, kLocks);
  EXPECT_EQ(read->batch.Data(), batch.Data());
  EXPECT_EQ(read->bytes, bytes.size());
}

TEST(PreparedRecordTest, BytesOfARecordAreAsDocumented) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "v").ok());
  const std::string bytes = EncodePreparedRecord(kDatabase, {{0, "default"}, {300, "f"}},
                                                 {{{300, true, "k"}}, {{0, false, KeyRange::Of("a", std::nullopt)}}},
                                                 batch);
  const std::string head = "01" "d00102030405060708090a0b0c0d0e0f" "02" "00" "0764656661756c74" "ac02" "0166";
  const std::string locks = "01" "ac02" "01" "016b" "01" "00" "00" "01" "0161" "03";
  EXPECT_EQ(Slice(bytes).ToString(true), head + locks + Slice(batch.Data()).ToString(true));
}

TEST(PreparedRecordTest, TruncatedRecordIsCorruption) {
  const std::string bytes = EncodePreparedRecord(kDatabase, kFamilies, kLocks, SomeBatch());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Status s = DecodePreparedRecord("name", Slice(bytes).substr(0, size)).status();
    EXPECT_TRUE(s.IsCorruption()) << size << ": " << s.ToString();
  }
}

TEST(PreparedRecordTest, UnknownVersionIsNotSupported) {
  std::string bytes = EncodePreparedRecord(kDatabase, kFamilies, kLocks, SomeBatch());
  bytes[0] = 2;
  EXPECT_TRUE(DecodePreparedRecord("name", bytes).status().IsNotSupported());
}

TEST(PreparedRecordTest, UnknownFlagOfALockIsCorruption) {
  std::string bytes = EncodePreparedRecord(kDatabase, {{0, "x"}}, {{{0, true, "a"}}, {}}, SomeBatch());
  const std::size_t at = 1 + 16 + 1 + 3 + 1 + 1;
  ASSERT_EQ(bytes[at], 1);
  bytes[at] = 2;
  EXPECT_TRUE(DecodePreparedRecord("name", bytes).status().IsCorruption());
}

// A range begins with a key or the first one; its end is no place before all keys.
TEST(PreparedRecordTest, MalformedRangeIsCorruption) {
  const WriteBatch batch;
  const std::vector<KeyRange> malformed = {{{At::kAfter, "a"}, {At::kLast, ""}},
                                           {{At::kLast, ""}, {At::kLast, ""}},
                                           {{At::kBefore, "a"}, {At::kFirst, ""}},
                                           {{static_cast<At>(4), ""}, {At::kLast, ""}}};
  for (const KeyRange& each : malformed) {
    const std::string bytes = EncodePreparedRecord(kDatabase, {{0, "x"}}, {{}, {{0, true, each}}}, batch);
    const Status s = DecodePreparedRecord("name", bytes).status();
    EXPECT_TRUE(s.IsCorruption()) << each.ForMessage();
    EXPECT_NE(s.ToString().find("range 0 is malformed"), std::string::npos) << s.ToString();
  }
}

TEST(PreparedRecordTest, NumberOfLocksBeyondTheRecordIsCorruption) {
  const std::string number(9, '\xff');
  const std::string bytes = "\x01" + std::string(16, 'd') + std::string(1, '\0') + number.substr(0, 8) + "\x7f";
  EXPECT_TRUE(DecodePreparedRecord("name", bytes).status().IsCorruption());
}

TEST(PreparedRecordTest, FamilyWithoutANameIsCorruption) {
  WriteBatch batch;
  const std::string lock = EncodePreparedRecord(kDatabase, {{0, "default"}}, {{{7, true, "a"}}, {}}, batch);
  EXPECT_TRUE(DecodePreparedRecord("name", lock).status().IsCorruption());
  const PreparedRecord::Locks ranges = {{}, {{7, true, KeyRange::Of("a", "b")}}};
  const std::string range = EncodePreparedRecord(kDatabase, {{0, "default"}}, ranges, batch);
  EXPECT_TRUE(DecodePreparedRecord("name", range).status().IsCorruption());
  const std::string operation = EncodePreparedRecord(kDatabase, {{7, "seven"}}, {}, SomeBatch());
  EXPECT_TRUE(DecodePreparedRecord("name", operation).status().IsCorruption());
}

}  // namespace
}  // namespace cambium::testing::prepared_record_test
