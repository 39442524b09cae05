#include "vlog/prepared_batch.h"

#include <gtest/gtest.h>

#include "testing/seed.h"
#include "util/coding.h"
#include "util/prng.h"
#include "vlog/record_format.h"

namespace cambium {
namespace {

struct TestOp {
  std::string key;
  std::string value;
  int what;  // 0 put, 1 delete, 2 large, 3 range delete
};

std::string Compressible(std::size_t n) {
  std::string bytes(n, 'a');
  for (std::size_t i = 0; i < n; i += 97) bytes[i] = static_cast<char>(i);
  return bytes;
}

// Returns the log's image of a batch, built in the simplest way: one record after the other in one string.
std::string ImageOf(const std::vector<TestOp>& ops, const PreparedBatch::Rules& rules, SequenceNumber first,
                    SequenceNumber durable, std::uint64_t seed, std::uint64_t offset, const LargeValueRef& ref) {
  std::string image;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const TestOp& op = ops[i];
    std::string stored = op.what == 1 ? "" : op.what == 2 ? EncodeLargeValueRef(ref) : op.value;
    RecordHeader header;
    constexpr RecordOp kOps[] = {RecordOp::kPut, RecordOp::kDelete, RecordOp::kPutLarge, RecordOp::kDeleteRange};
    header.op = kOps[op.what];
    if (op.what == 0 && !stored.empty() && stored.size() >= rules.separate_from) {
      std::string compressed;
      PutFixed<std::uint64_t>(&compressed, stored.size());
      if (Compress(rules.codec, stored, &compressed)) {
        stored = compressed;
        header.codec = rules.codec;
      }
    }
    header.sequence = first + i;
    header.durable_lag = durable == 0 ? kNothingDurable : static_cast<std::uint32_t>(first + i - durable);
    header.batch_index = static_cast<std::uint32_t>(i);
    header.write_time = rules.write_time;
    header.family = 9;
    header.key_size = static_cast<std::uint32_t>(op.key.size());
    header.value_size = stored.size();
    header.marks = i + 1 == ops.size() ? kLastOfBatch : 0;
    header.body_checksum = BodyChecksum(op.key, stored);
    char bytes[kRecordHeaderSize];
    EncodeRecordHeader(header, seed, offset + image.size(), bytes);
    std::string record(bytes, sizeof(bytes));
    record += op.key;
    record += stored;
    record.resize(header.RecordSize());
    image += record;
  }
  return image;
}

TEST(PreparedBatchTest, PiecesJoinToTheImageOfTheBatch) {
  const std::uint64_t seed = testing::SeedFromEnvironment(11);
  Prng prng(seed);
  for (int round = 0; round < 300; ++round) {
    PreparedBatch::Rules rules;
    rules.separate_from = 1 + prng.Skewed(11);
    rules.codec = static_cast<Codec>(prng.Uniform(3));
    rules.write_time = static_cast<std::uint32_t>(prng.Next());
    const LargeValueRef ref{prng.Next(), prng.Next(), prng.Next()};
    const ValueAddress large = ValueAddress::OwnFile(Slot{77}, 1 << 25);
    std::vector<TestOp> ops(1 + prng.Skewed(6));
    PreparedBatch batch(rules);
    for (TestOp& op : ops) {
      op.key = prng.Bytes(prng.Skewed(8));
      op.what = prng.OneIn(8) ? 2 : prng.OneIn(4) ? 1 : prng.OneIn(8) ? 3 : 0;
      const std::size_t size = prng.OneIn(4) ? 2040 + prng.Uniform(20) : prng.Skewed(15);
      op.value = prng.OneIn(2) ? prng.Bytes(size) : Compressible(size);
      if (op.what == 0) batch.Put(9, op.key, op.value);
      if (op.what == 1) batch.Delete(9, op.key);
      if (op.what == 3) batch.DeleteRange(9, op.key, op.value);
      if (op.what == 2) batch.PutLarge(9, op.key, ref, large);
    }
    std::size_t ranges = 0;
    std::size_t bytes = 0;
    for (const TestOp& op : ops) {
      const bool is_small = op.value.empty() || op.value.size() < rules.separate_from;
      ranges += op.what == 3 ? 1 : 0;
      bytes += op.key.size() + (op.what == 3 || (op.what == 0 && is_small) ? op.value.size() : 0);
    }
    ASSERT_EQ(batch.range_count(), ranges);
    ASSERT_EQ(batch.memtable_bytes(), bytes);
    const SequenceNumber first = 1 + prng.Uniform(1 << 20);
    const SequenceNumber durable = prng.OneIn(4) ? 0 : prng.Uniform(first);
    // Bound twice: after a failed write a batch may be written at another place.
    for (const std::uint64_t offset : {std::uint64_t{128}, 8 * prng.Uniform(1 << 20)}) {
      batch.Bind(first, durable, 5, Slot{3}, offset);
      std::string written;
      for (const Slice piece : batch.pieces()) written.append(piece.data(), piece.size());
      ASSERT_EQ(written.size(), batch.size());
      ASSERT_EQ(written, ImageOf(ops, rules, first, durable, 5, offset, ref)) << "round " << round;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const PreparedBatch::Op& op = batch.ops()[i];
        ASSERT_EQ(op.header.sequence, first + i);
        ASSERT_EQ(op.key, Slice(ops[i].key));
        if (ops[i].what == 0) {
          ASSERT_EQ(op.value, Slice(ops[i].value));
          ASSERT_EQ(op.separated, !ops[i].value.empty() && ops[i].value.size() >= rules.separate_from);
        }
        if (ops[i].what == 3) {
          ASSERT_EQ(op.value, Slice(ops[i].value));
          ASSERT_FALSE(op.separated);
        }
        if (ops[i].what == 2) {
          ASSERT_EQ(op.address, large);
        } else if (op.separated) {
          ASSERT_EQ(op.address, ValueAddress::InLog(Slot{3}, offset + op.offset, op.header.RecordSize()));
        }
      }
    }
  }
}

TEST(PreparedBatchTest, LargeValuesAreWrittenFromTheCallersMemory) {
  const std::string value(100'000, 'v');
  PreparedBatch batch({});
  batch.Put(0, "k", value);
  batch.Bind(1, 0, 1, Slot{0}, 128);
  bool borrowed = false;
  for (const Slice piece : batch.pieces()) borrowed = borrowed || piece.data() == value.data();
  EXPECT_TRUE(borrowed);
}

TEST(PreparedBatchTest, EmptyValueIsNeverSeparated) {
  PreparedBatch::Rules rules;
  rules.separate_from = 0;
  PreparedBatch batch(rules);
  batch.Put(0, "k", "");
  EXPECT_FALSE(batch.ops()[0].separated);
}

}  // namespace
}  // namespace cambium
