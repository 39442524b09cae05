// Whether a SegmentMap follows the state of the page cache, and how often it probes this state.
#include "vlog/segment_map.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/temp_directory.h"
#include "vlog/value_store.h"

namespace cambium::testing {
namespace {

// Returns how many calls of Find it takes until the answer is `is_mapped`; 2000 if it never is.
int CallsUntil(SegmentMap* map, bool is_mapped, std::uint64_t offset = 200, std::size_t size = 100) {
  int calls = 1;
  while (calls < 2000 && (map->Find(offset, size) != nullptr) != is_mapped) ++calls;
  return calls;
}

struct MappedStore : ValueStore {
  explicit MappedStore(SimOptions options = {}) : ValueStore(FileKind::kLog, options) {
    for (int i = 0; i < 30; ++i) Put("key" + std::to_string(i), std::string(100'000, 'v'));
  }
};

TEST(SegmentMapTest, FollowsThePageCache) {
  MappedStore store;
  SegmentMap map(store.segment->file(), 0);
  map.Complete(store.end);
  store.fs.SetResident(false);
  EXPECT_EQ(CallsUntil(&map, true), 2000);
  store.fs.SetResident(true);
  EXPECT_LE(CallsUntil(&map, true), 64);
  EXPECT_EQ(CallsUntil(&map, true), 1);
  store.fs.SetResident(false);
  EXPECT_LE(CallsUntil(&map, false), 512);
}

// A probe is a system call over many pages. After many right guesses a thread probes rarely; after a wrong guess it
// probes often again.
TEST(SegmentMapTest, ProbesRarelyWhileTheAnswerStaysTheSame) {
  MappedStore store;
  SegmentMap map(store.segment->file(), 0);
  map.Complete(store.end);
  std::thread([&] {  // a new thread has new counters
    store.fs.SetResident(true);
    EXPECT_LE(CallsUntil(&map, true), 8);
    for (int i = 0; i < 100'000; ++i) EXPECT_NE(map.Find(200, 100), nullptr);
    store.fs.SetResident(false);
    int calls = 0;
    while (map.Find(200, 100) != nullptr) ++calls;
    EXPECT_LE(calls, 8192);
    const std::uint64_t before = store.fs.calls(SimOpKind::kResidency);
    for (int i = 0; i < 6400; ++i) EXPECT_EQ(map.Find(200, 100), nullptr);
    EXPECT_LE(store.fs.calls(SimOpKind::kResidency) - before, 6400u / 64 + 4);
    store.fs.SetResident(true);
    EXPECT_LE(CallsUntil(&map, true), 64);
    store.fs.SetResident(false);
    EXPECT_LE(CallsUntil(&map, false), 512);
    store.fs.SetResident(true);
    EXPECT_LE(CallsUntil(&map, true), 8);
  }).join();
}

TEST(SegmentMapTest, GrowingSegmentIsMappedAsFarAsItIsWritten) {
  ValueStore store;
  SegmentMap map(store.segment->file(), 2u << 20);
  const ValueAddress first = store.Put("first", std::string(1'000'000, '1'));
  EXPECT_EQ(CallsUntil(&map, true), 2000) << "neither Grow nor Complete was called";
  map.Grow(store.end);
  EXPECT_LE(CallsUntil(&map, true), 8);
  EXPECT_EQ(CallsUntil(&map, true, store.end - 50, 100), 2000);
  const std::uint64_t begin = store.end;
  const ValueAddress second = store.Put("second", std::string(300'000, '2'));
  store.Put("after", std::string(100'000, 'b'));  // needed, since an address covers a little more than its record
  map.Grow(store.end);
  EXPECT_LE(CallsUntil(&map, true, begin, second.size()), 16);
  std::string copy(second.size(), '\0');
  const MappedRegion* const region = map.Find(begin, copy.size());
  ASSERT_NE(region, nullptr);
  ASSERT_TRUE(region->CopyOut(begin, copy.size(), copy.data()).ok());
  EXPECT_NE(copy.find(std::string(300'000, '2')), std::string::npos);
  EXPECT_GT(first.size(), 1'000'000u);
  // Beyond the expected size, values are read.
  const std::uint64_t beyond = store.end;
  store.Put("third", std::string(1'500'000, '3'));
  map.Complete(store.end);
  EXPECT_EQ(CallsUntil(&map, true, beyond, 1'500'000), 2000);
  EXPECT_EQ(CallsUntil(&map, true, store.end - 100, 101), 2000) << "beyond the end of the file";
  EXPECT_EQ(CallsUntil(&map, true, begin, second.size()), 1);
}

TEST(SegmentMapTest, EachChunkIsProbedByItself) {
  MappedStore store;
  SegmentMap map(store.segment->file(), 0);
  map.Complete(store.end);
  constexpr std::uint64_t kChunk = 1u << 20;
  EXPECT_LE(CallsUntil(&map, true, 0), 8);
  store.fs.SetResident(false);
  EXPECT_EQ(CallsUntil(&map, true, kChunk), 2000) << "its neighbour is resident, the chunk is not";
  EXPECT_EQ(CallsUntil(&map, true, kChunk - 50, 100), 2000) << "the second half of the range is not resident";
  store.fs.SetResident(true);
  EXPECT_LE(CallsUntil(&map, true, kChunk - 50, 100), 64 + 8);
}

TEST(SegmentMapTest, NothingIsMappedBeyondTheEndOrWithoutSystemSupport) {
  {
    MappedStore store;
    SegmentMap map(store.segment->file(), 0);
    map.Complete(store.end);
    EXPECT_EQ(CallsUntil(&map, true, store.end + 100), 2000);
    EXPECT_EQ(CallsUntil(&map, true, store.end - 10, 100), 2000);
    EXPECT_LE(CallsUntil(&map, true, store.end - 100, 100), 16);
    EXPECT_EQ(map.Find(std::uint64_t{1} << 30, 1), nullptr);
  }
  for (const bool has_maps : {false, true}) {
    SimOptions options;
    options.maps = has_maps;
    options.residency = !has_maps;
    MappedStore store(options);
    SegmentMap map(store.segment->file(), 0);
    map.Complete(store.end);
    EXPECT_EQ(CallsUntil(&map, true), 2000);
  }
}

TEST(SegmentMapTest, ManyThreadsShareOneMap) {
  MappedStore store;
  SegmentMap map(store.segment->file(), 0);
  map.Complete(store.end);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const MappedRegion* const region = map.Find(static_cast<std::uint64_t>(i) * 1000, 500);
        if (region == nullptr) continue;
        char out[500];
        EXPECT_TRUE(region->CopyOut(static_cast<std::size_t>(i) * 1000, 500, out).ok());
      }
    });
  }
  for (int i = 0; i < 100; ++i) store.fs.SetResident(i % 2 == 0);
  for (std::thread& thread : threads) thread.join();
}

// A value is the same, whether it is read or copied.
TEST(SegmentMapTest, CopiedValueEqualsTheReadValue) {
  ValueStore store;
  const ValueAddress address = store.Put("key", std::string(5000, 'v'));
  const ValueAddress last = store.Put("last", std::string(3, 'l'));
  store.segment->AllowMap(0);
  store.segment->map()->Complete(store.end);
  std::string value;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store.Read(address, "key", &value).ok());
    EXPECT_EQ(value, std::string(5000, 'v'));
    ASSERT_TRUE(store.Read(last, "last", &value).ok());
    EXPECT_EQ(value, "lll");
  }
  EXPECT_NE(store.segment->map()->Find(address.offset(), 100), nullptr);
  EXPECT_TRUE(store.Read(address, "other", &value).IsCorruption());
  ASSERT_TRUE(store.fs.tampering().FlipBit(PathOf(1), address.offset() + 2000, 1).ok());
  EXPECT_TRUE(store.Read(address, "key", &value).IsCorruption());
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  store.fs.AddFault(fault);
  EXPECT_TRUE(store.Read(last, "last", &value).IsIOError());
}

// Whether the value of a record may be borrowed with checksums, after it was read with or without them.
bool MayBorrowAfterRead(bool verified) {
  ValueStore store;
  const ValueAddress address = store.Put("key", std::string(5000, 'v'));
  store.segment->AllowMap(store.end);
  store.segment->map()->Complete(store.end);
  std::string copy;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(store.Read(address, "key", &copy).ok());  // maps the segment
  const ValueQuery query{address, kStoreFamily, "key", true, nullptr};
  Slice value;
  const Result<bool> before = BorrowValue(store.table, query, &value, nullptr);
  EXPECT_TRUE(before.ok() && !*before);
  ValueQuery read = query;
  read.verify_checksums = verified;
  NoteVerified(store.table, read);
  const Result<bool> after = BorrowValue(store.table, query, &value, nullptr);
  EXPECT_TRUE(after.ok());
  if (after.ok() && *after) {
    EXPECT_EQ(value, Slice(std::string(5000, 'v')));
    // The key is compared each time, a longer one too.
    EXPECT_TRUE(BorrowValue(store.table, {address, kStoreFamily, "other", true, nullptr}, &value, nullptr).status().IsCorruption());
    EXPECT_TRUE(BorrowValue(store.table, {address, kStoreFamily, "k", true, nullptr}, &value, nullptr).status().IsCorruption());
  }
  return after.ok() && *after;
}

TEST(SegmentMapTest, ValueIsBorrowedOnceItsChecksumWasCompared) {
  EXPECT_TRUE(MayBorrowAfterRead(true));
  EXPECT_FALSE(MayBorrowAfterRead(false));
  const MutantScope mutant(Mutant::kNoteUnverifiedReads);  // rule E7
  EXPECT_TRUE(MayBorrowAfterRead(false));
}

// Space allocated ahead of the log is never in the page cache. The written part is mapped regardless.
TEST(SegmentMapTest, SpaceAheadOfTheLogDoesNotPreventMapping) {
  const TempDirectory directory;
  std::unique_ptr<File> file;
  const std::string path = directory.File("000001.log");
  ASSERT_TRUE(FileSystem::Default()->Open(path, OpenMode::kCreateNew, {}, &file).ok());
  ASSERT_TRUE(file->Write(0, std::string(200'000, 'v')).ok());
  std::uint64_t resident = 0;
  if (!file->Residency(0, 200'000, &resident).ok()) GTEST_SKIP() << "SKIPPED: this kernel does not report what is cached";
  if (!file->Allocate(200'000, 500'000, true).ok()) GTEST_SKIP() << "SKIPPED: no space can be allocated on this file system";
  SegmentMap map(*file, 1u << 20);
  map.Grow(200'000);
  EXPECT_LE(CallsUntil(&map, true), 8);
}

}  // namespace
}  // namespace cambium::testing
