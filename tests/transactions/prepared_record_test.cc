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

const std::vector<PreparedRecord::KeyLock> kLocks = {{0, true, "a"}, {0, true, "b"}, {7, false, ""}};

TEST(PreparedRecordTest, RecordIsReadAsItWasWritten) {
  const WriteBatch batch = SomeBatch();
  const std::string bytes = EncodePreparedRecord(kLocks, batch);
  const Result<PreparedRecord> read = DecodePreparedRecord("name", bytes);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->locks, kLocks);
  EXPECT_EQ(read->batch.Data(), batch.Data());
  EXPECT_EQ(read->bytes, bytes.size());
}

TEST(PreparedRecordTest, BytesOfARecordAreAsDocumented) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "v").ok());
  const std::string bytes = EncodePreparedRecord({{300, true, "k"}}, batch);
  EXPECT_EQ(Slice(bytes).ToString(true), "01" "01" "ac02" "01" "01" "6b" + Slice(batch.Data()).ToString(true));
}

TEST(PreparedRecordTest, TruncatedRecordIsCorruption) {
  const std::string bytes = EncodePreparedRecord(kLocks, SomeBatch());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Status s = DecodePreparedRecord("name", Slice(bytes).substr(0, size)).status();
    EXPECT_TRUE(s.IsCorruption()) << size << ": " << s.ToString();
  }
}

TEST(PreparedRecordTest, UnknownVersionIsNotSupported) {
  std::string bytes = EncodePreparedRecord(kLocks, SomeBatch());
  bytes[0] = 2;
  EXPECT_TRUE(DecodePreparedRecord("name", bytes).status().IsNotSupported());
}

TEST(PreparedRecordTest, UnknownFlagOfALockIsCorruption) {
  std::string bytes = EncodePreparedRecord({{0, true, "a"}}, SomeBatch());
  ASSERT_EQ(bytes[3], 1);
  bytes[3] = 2;
  EXPECT_TRUE(DecodePreparedRecord("name", bytes).status().IsCorruption());
}

TEST(PreparedRecordTest, NumberOfLocksBeyondTheRecordIsCorruption) {
  const std::string bytes("\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
  EXPECT_TRUE(DecodePreparedRecord("name", bytes).status().IsCorruption());
}

}  // namespace
}  // namespace cambium::testing::prepared_record_test
