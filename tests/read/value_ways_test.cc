// How a database reads values: the cost of a hot value, and how many cold values are read at a time.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/test_store.h"
#include "vlog/segment_map.h"

namespace cambium::testing {
namespace {

std::string ValueOf(int i) { return NumberedKey(i) + std::string(1000, 'v'); }

// By default, a value in memory is copied out of the mapping, without any call of the file system except checks of the
// page cache. The first check comes after 512 copies, each further one after twice as many as before, up to 8192.
TEST(ValueWaysTest, HotGetMakesNoSystemCall) {
  constexpr int kKeys = 500;
  constexpr std::uint64_t kGets = 20'000;
  TestStore store;
  store.options.blob_file_size = 256u << 10;
  store.MustOpen();
  for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i));
  store.Compact();
  store.Reopen();
  SegmentMap::ResetThreadCounters();
  for (int i = 0; i < 4 * kKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i % kKeys)), ValueOf(i % kKeys));
  ASSERT_GE(store.fs->read_counts().maps, 2u);

  const std::uint64_t copies_before = store.fs->read_counts().mapped_copies;
  std::vector<std::uint64_t> before;
  for (int kind = 0; kind < kSimOpKinds; ++kind) before.push_back(store.fs->calls(static_cast<SimOpKind>(kind)));
  for (std::uint64_t n = 0; n < kGets; ++n) {
    const int i = static_cast<int>(n * 7 % kKeys);
    ASSERT_EQ(store.Get(NumberedKey(i)), ValueOf(i));
  }
  EXPECT_EQ(store.fs->read_counts().mapped_copies - copies_before, kGets);
  const auto calls = [&](SimOpKind kind) { return store.fs->calls(kind) - before[static_cast<std::size_t>(kind)]; };
  const std::uint64_t looks = calls(SimOpKind::kResidency);
  EXPECT_GT(looks, 0u);
  EXPECT_LE(looks, kGets / 8192 + 4);
  for (int kind = 0; kind < kSimOpKinds; ++kind) {
    const auto op = static_cast<SimOpKind>(kind);
    const std::uint64_t expected = op == SimOpKind::kRead                                      ? kGets  // the copies
                                   : op == SimOpKind::kResidency || op == SimOpKind::kGetInfo ? looks
                                                                                               : 0;
    EXPECT_EQ(calls(op), expected) << SimOpName(op);
  }
}

// Values in the order of their keys, not in memory, and too far apart for one read to cover two.
void FillScattered(TestStore* store, int count) {
  store->options.blob_file_size = 1u << 20;
  store->MustOpen();
  for (int i = 0; i < count; ++i) {
    store->Put(NumberedKey(i), ValueOf(i));
    for (const char* filler : {"x", "y", "z"}) store->Put(filler + NumberedKey(i), std::string(6000, 'f'));
  }
  store->Compact();
  store->fs->SetResident(false);
}

TEST(ValueWaysTest, MultiGetReadsScatteredColdValuesTogether) {
  constexpr int kCount = 100;
  TestStore store;
  FillScattered(&store, kCount);
  std::vector<std::string> keys;
  for (int i = 0; i < kCount; ++i) keys.push_back(NumberedKey(i * 7 % kCount));
  for (const bool async_io : {false, true}) {
    const SimReadCounts before = store.fs->read_counts();
    ReadOptions read;
    read.async_io = async_io;
    std::vector<std::string> values;
    const std::vector<Status> statuses = store.db->MultiGet(read, {keys.begin(), keys.end()}, &values);
    for (int i = 0; i < kCount; ++i) {
      ASSERT_TRUE(statuses[static_cast<std::size_t>(i)].ok());
      ASSERT_EQ(values[static_cast<std::size_t>(i)], ValueOf(i * 7 % kCount));
    }
    const SimReadCounts after = store.fs->read_counts();
    EXPECT_EQ(after.queued[async_io ? 1 : 0] - before.queued[async_io ? 1 : 0], std::uint64_t{kCount});
    EXPECT_LE(after.submits - before.submits, kCount / 8u);
    EXPECT_GE(after.together_max, 8u);
    EXPECT_LE(after.together_max, 32u);
  }
}

TEST(ValueWaysTest, ScanReadsScatteredColdValuesTogether) {
  constexpr int kCount = 300;
  for (const bool forward : {true, false}) {
    TestStore store;
    FillScattered(&store, kCount);
    const SimReadCounts before = store.fs->read_counts();
    ReadOptions read;
    read.async_io = forward;
    const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
    if (forward) {
      it->SeekToFirst();
    } else {
      it->SeekForPrev(NumberedKey(kCount - 1));
    }
    for (int i = 0; i < kCount; ++i, forward ? it->Next() : it->Prev()) {
      ASSERT_EQ(it->value(), Slice(ValueOf(forward ? i : kCount - 1 - i)));
    }
    const SimReadCounts after = store.fs->read_counts();
    EXPECT_GE(after.queued[forward ? 1 : 0] - before.queued[forward ? 1 : 0], kCount - 16u) << "nearly all";
    EXPECT_LE(after.submits - before.submits, kCount / 4u);
    EXPECT_GE(after.together_max, 8u) << (forward ? "forward" : "backward");
    EXPECT_LE(after.together_max, 32u);
  }
}

// New memory for large values costs several times as much as their copies.
TEST(ValueWaysTest, MultiGetIntoStringsUsesTheirMemoryAgain) {
  TestStore store;
  store.options.large_value_size = 1u << 20;
  store.options.blob_file_size = 4u << 20;
  store.MustOpen();
  const std::vector<std::string> keys = {"inline", "logged", "absent", "compressed"};
  store.Put(keys[0], "small");
  store.Put(keys[1], std::string(100'000, 'l'));
  ASSERT_TRUE(store.db->SetOptions({{"blob_compression_type", "kLZ4Compression"}}).ok());
  store.Put(keys[3], std::string(100'000, 'c'));
  const std::vector<std::string> expected = {"small", std::string(100'000, 'l'), "", std::string(100'000, 'c')};
  std::vector<std::string> values(7, "of an earlier call");
  values[1].reserve(500'000);
  const char* const memory = values[1].data();
  for (int call = 0; call < 3; ++call) {
    const std::vector<Status> statuses = store.db->MultiGet({}, {keys.begin(), keys.end()}, &values);
    EXPECT_EQ(values, expected);
    EXPECT_TRUE(statuses[2].IsNotFound());
    EXPECT_EQ(static_cast<const void*>(values[1].data()), memory) << "call " << call;
    EXPECT_GE(values[1].capacity(), 500'000u) << "call " << call;
  }
  EXPECT_EQ(store.db->MultiGet({}, std::vector<ColumnFamilyHandle*>(), {keys.begin(), keys.end()}, &values).size(), 4u);
  EXPECT_TRUE(values.empty());
}

}  // namespace
}  // namespace cambium::testing
