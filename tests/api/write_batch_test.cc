#include "cambium/write_batch.h"

#include <gtest/gtest.h>

#include "cambium/db.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Records each call.
class Recorder final : public WriteBatch::Handler {
 public:
  Status Put(Slice key, Slice value) override { return Note("put " + key.ToString() + "=" + value.ToString()); }
  Status Delete(Slice key) override { return Note("delete " + key.ToString()); }
  Status SingleDelete(Slice key) override { return Note("single " + key.ToString()); }
  bool Continue() override { return seen.size() < stop_after; }

  std::vector<std::string> seen;
  std::size_t stop_after = ~std::size_t{0};
  std::size_t fail_at = ~std::size_t{0};

 private:
  Status Note(std::string what) {
    if (seen.size() == fail_at) return Status::Aborted("enough");
    seen.push_back(std::move(what));
    return Status::OK();
  }
};

WriteBatch Three() {
  WriteBatch batch;
  EXPECT_TRUE(batch.Put("a", "1").ok());
  EXPECT_TRUE(batch.Delete("").ok());
  EXPECT_TRUE(batch.SingleDelete("c").ok());
  return batch;
}

TEST(WriteBatchTest, HandlerSeesOperationsInOrder) {
  const WriteBatch batch = Three();
  Recorder recorder;
  ASSERT_TRUE(batch.Iterate(&recorder).ok());
  EXPECT_EQ(recorder.seen, (std::vector<std::string>{"put a=1", "delete ", "single c"}));
  EXPECT_EQ(batch.Count(), 3u);
}

TEST(WriteBatchTest, HandlerMayStopOrFail) {
  const WriteBatch batch = Three();
  Recorder stops;
  stops.stop_after = 2;
  EXPECT_TRUE(batch.Iterate(&stops).ok());
  EXPECT_EQ(stops.seen.size(), 2u);
  Recorder fails;
  fails.fail_at = 1;
  EXPECT_TRUE(batch.Iterate(&fails).IsAborted());
  EXPECT_EQ(fails.seen.size(), 1u);
}

TEST(WriteBatchTest, SingleDeleteIsADeleteByDefault) {
  class OnlyTwo final : public WriteBatch::Handler {
   public:
    Status Put(Slice, Slice) override { return Status::OK(); }
    Status Delete(Slice) override {
      ++deletes;
      return Status::OK();
    }
    int deletes = 0;
  };
  OnlyTwo handler;
  ASSERT_TRUE(Three().Iterate(&handler).ok());
  EXPECT_EQ(handler.deletes, 2);
}

TEST(WriteBatchTest, RejectedOperationLeavesTheBatchUnchanged) {
  WriteBatch batch = Three();
  const std::string before = batch.Data();
  const std::string key(kMaxKeyBytes + 1, 'k');
  EXPECT_TRUE(batch.Put(key, "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Delete(key).IsInvalidArgument());
  EXPECT_TRUE(batch.SingleDelete(key).IsInvalidArgument());
  EXPECT_TRUE(batch.Put("k", Slice(key.data(), kMaxValueBytes + 1)).IsInvalidArgument());  // the bytes are not read
  EXPECT_TRUE(batch.Merge("k", "v").IsNotSupported());
  EXPECT_TRUE(batch.DeleteRange(key, "z").IsInvalidArgument());
  EXPECT_TRUE(batch.DeleteRange("a", key).IsInvalidArgument());
  EXPECT_EQ(batch.Data(), before);
  EXPECT_EQ(batch.Count(), 3u);
  EXPECT_TRUE(batch.Put(std::string(kMaxKeyBytes, 'k'), "v").ok());
}

using Refused = void (*)(WriteBatch* batch, Slice long_key);
constexpr Refused kRefused[] = {
    [](WriteBatch* batch, Slice key) { static_cast<void>(batch->Put(key, "v")); },
    [](WriteBatch* batch, Slice key) { static_cast<void>(batch->Put("k", Slice(key.data(), kMaxValueBytes + 1))); },
    [](WriteBatch* batch, Slice key) { static_cast<void>(batch->Delete(key)); },
    [](WriteBatch* batch, Slice key) { static_cast<void>(batch->SingleDelete(key)); },
    [](WriteBatch* batch, Slice key) { static_cast<void>(batch->DeleteRange(key, "z")); },
    [](WriteBatch* batch, Slice key) { static_cast<void>(batch->DeleteRange("a", key)); },
    [](WriteBatch* batch, Slice) { static_cast<void>(batch->Merge("k", "v")); },
};

// A program may ignore what the operations of a batch return, in C++ as in C. Write then fails, and applies nothing.
TEST(WriteBatchTest, BatchThatHasRefusedAnOperationIsNotWritten) {
  testing::TestStore store;
  store.MustOpen();
  const std::string key(kMaxKeyBytes + 1, 'k');
  for (const Refused refused : kRefused) {
    WriteBatch batch;
    ASSERT_TRUE(batch.Put("before", "1").ok());
    refused(&batch, key);
    const Status why = batch.status();
    ASSERT_TRUE(why.IsInvalidArgument() || why.IsNotSupported()) << why.ToString();
    ASSERT_TRUE(batch.Put("after", "1").ok());
    EXPECT_EQ(batch.Count(), 2u);
    for (const bool sync : {false, true}) {
      WriteOptions options;
      options.sync = sync;
      const Status written = store.db->Write(options, &batch);
      EXPECT_EQ(written.ToString(), why.ToString());
    }
    WriteBatch copy = batch;
    WriteBatch assigned;
    assigned = batch;
    WriteBatch appended;
    appended.Append(batch);
    WriteBatch moved = std::move(batch);
    for (WriteBatch* const each : {&copy, &assigned, &appended, &moved}) {
      EXPECT_EQ(each->status().ToString(), why.ToString());
      EXPECT_FALSE(store.db->Write({}, each).ok());
    }
    EXPECT_EQ(store.Get("before"), "NotFound");
    EXPECT_EQ(store.Get("after"), "NotFound");
    EXPECT_EQ(store.db->GetLatestSequenceNumber(), 0u);
    copy.Clear();
    EXPECT_TRUE(copy.status().ok());
    EXPECT_TRUE(store.db->Write({}, &copy).ok());
  }
}

// Writes a batch that has refused a key, whose status is ignored. Returns the status of Write, which must not apply the
// rest of the batch.
Status WriteWithoutLookingAtTheBatch() {
  testing::TestStore store;
  store.MustOpen();
  WriteBatch batch;
  static_cast<void>(batch.Put("before", "1"));
  static_cast<void>(batch.Put(std::string(kMaxKeyBytes + 1, 'k'), "2"));
  const Status written = store.db->Write({}, &batch);
  EXPECT_EQ(store.Get("before"), written.ok() ? "1" : "NotFound");
  return written;
}

TEST(WriteBatchTest, WriteFailsIfThePutOfATooLongKeyWasIgnored) {
  EXPECT_TRUE(WriteWithoutLookingAtTheBatch().IsInvalidArgument());
  const testing::MutantScope mutant(Mutant::kRefusedOperationIsLeftOut);
  const Status written = WriteWithoutLookingAtTheBatch();
  EXPECT_TRUE(written.ok()) << "the mutant has no effect: " << written.ToString();
}

TEST(WriteBatchTest, RollbackRemovesOnlyLaterRefusals) {
  const std::string key(kMaxKeyBytes + 1, 'k');
  WriteBatch batch = Three();
  batch.SetSavePoint();
  EXPECT_TRUE(batch.Put(key, "v").IsInvalidArgument());
  batch.SetSavePoint();
  EXPECT_TRUE(batch.Merge("k", "v").IsNotSupported());
  EXPECT_TRUE(batch.status().IsInvalidArgument()) << "the first error counts";
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_TRUE(batch.status().IsInvalidArgument());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_TRUE(batch.status().ok());
  batch.SetSavePoint();
  EXPECT_TRUE(batch.Put(key, "v").IsInvalidArgument());
  ASSERT_TRUE(batch.PopSavePoint().ok());
  EXPECT_TRUE(batch.status().IsInvalidArgument());
}

TEST(WriteBatchTest, SavePointsNest) {
  WriteBatch batch = Three();
  const std::string three = batch.Data();
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("d", "4").ok());
  const std::string four = batch.Data();
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("e", "5").ok());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(batch.Data(), four);
  EXPECT_EQ(batch.Count(), 4u);
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("f", "6").ok());
  ASSERT_TRUE(batch.PopSavePoint().ok());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(batch.Data(), three);
  batch.SetSavePoint();
  batch.Clear();
  EXPECT_EQ(batch.Count(), 0u);
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
}

// ---- Parts, and the limit of bytes ----

// Returns the serialised batch of `add`.
template <typename Add>
std::string DataOf(Add add) {
  WriteBatch batch;
  EXPECT_TRUE(add(&batch).ok());
  return batch.Data();
}

TEST(WriteBatchTest, OperationsInPartsAreThoseOfTheJoinedBytes) {
  const Slice key_parts[] = {"ke", "", "y"};
  const Slice value_parts[] = {"v", "alue"};
  const SliceParts key(key_parts, 3);
  const SliceParts value(value_parts, 2);
  const SliceParts none;
  EXPECT_EQ(DataOf([&](WriteBatch* b) { return b->Put(key, value); }),
            DataOf([](WriteBatch* b) { return b->Put("key", "value"); }));
  EXPECT_EQ(DataOf([&](WriteBatch* b) { return b->Put(key, none); }),
            DataOf([](WriteBatch* b) { return b->Put("key", ""); }));
  EXPECT_EQ(DataOf([&](WriteBatch* b) { return b->Delete(key); }),
            DataOf([](WriteBatch* b) { return b->Delete("key"); }));
  EXPECT_EQ(DataOf([&](WriteBatch* b) { return b->SingleDelete(key); }),
            DataOf([](WriteBatch* b) { return b->SingleDelete("key"); }));
  EXPECT_EQ(DataOf([&](WriteBatch* b) { return b->DeleteRange(key, value); }),
            DataOf([](WriteBatch* b) { return b->DeleteRange("key", "value"); }));
}

TEST(WriteBatchTest, PartsThatAreTooLongTogetherAreRefused) {
  const std::string half(40'000, 'k');
  const Slice parts[] = {half, half};
  WriteBatch batch;
  EXPECT_TRUE(batch.Delete(SliceParts(parts, 2)).IsInvalidArgument());
  EXPECT_TRUE(batch.status().IsInvalidArgument());
  EXPECT_EQ(batch.Count(), 0u);
}

TEST(WriteBatchTest, OperationBeyondTheLimitOfBytesIsLeftOut) {
  WriteBatch batch(0, 40);
  ASSERT_TRUE(batch.Put("a", "1").ok());
  const std::string before = batch.Data();
  EXPECT_TRUE(batch.Put("b", std::string(40, 'v')).IsAborted());
  EXPECT_EQ(batch.Data(), before);
  EXPECT_EQ(batch.Count(), 1u);
  EXPECT_TRUE(batch.status().ok());  // the rest can be written
  EXPECT_TRUE(batch.Put("c", "3").ok());
  testing::TestStore store;
  store.MustOpen();
  EXPECT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_EQ(store.Get("b"), "NotFound");
  EXPECT_EQ(store.Get("c"), "3");
}

TEST(WriteBatchTest, LimitOfBytesIsExact) {
  WriteBatch unlimited;
  ASSERT_TRUE(unlimited.Put("key", "value").ok());
  WriteBatch batch(0, unlimited.GetDataSize());
  EXPECT_TRUE(batch.Put("key", "value").ok());
  EXPECT_TRUE(batch.Delete("").IsAborted());
  batch.SetMaxBytes(0);
  EXPECT_TRUE(batch.Delete("").ok());
  batch.SetMaxBytes(1);
  batch.Clear();
  EXPECT_TRUE(batch.Delete("").IsAborted());  // Clear keeps the limit
}

TEST(WriteBatchTest, MovedOrCopiedBatchIsTheSame) {
  WriteBatch batch = Three();
  WriteBatch copy = batch;
  const WriteBatch moved = std::move(batch);
  EXPECT_EQ(moved.Data(), copy.Data());
  ASSERT_TRUE(copy.Put("d", "4").ok());
  EXPECT_EQ(moved.Count(), 3u);
}

TEST(WriteBatchTest, DataRoundTrips) {
  const WriteBatch batch = Three();
  WriteBatch again;
  ASSERT_TRUE(WriteBatch::FromData(batch.Data(), &again).ok());
  EXPECT_EQ(again.Data(), batch.Data());
  EXPECT_EQ(again.Count(), 3u);
}

// Any bytes are either the data of a valid batch, or leave *batch unchanged.
TEST(WriteBatchTest, MalformedDataIsCorruptionAndChangesNothing) {
  const std::uint64_t seed = testing::SeedFromEnvironment(51);
  Prng prng(seed);
  const std::string good = Three().Data();
  for (int round = 0; round < 20'000; ++round) {
    std::string data = good;
    switch (prng.Uniform(4)) {
      case 0: data.resize(prng.Uniform(data.size())); break;
      case 1: data += prng.Bytes(1 + prng.Uniform(4)); break;
      case 2: data = prng.Bytes(prng.Uniform(40)); break;
      default: break;
    }
    if (!data.empty()) data[prng.Uniform(data.size())] ^= static_cast<char>(1 << prng.Uniform(8));
    WriteBatch batch = Three();
    const Status s = WriteBatch::FromData(data, &batch);
    if (s.ok()) {
      ASSERT_EQ(batch.Data(), data);
    } else {
      ASSERT_TRUE(s.IsCorruption());
      ASSERT_EQ(batch.Data(), good);
    }
  }
}

}  // namespace
}  // namespace cambium
