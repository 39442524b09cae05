// Reads with pin_mapped_values: which values are not copied, how long they last, and what they keep.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/async.h"
#include "testing/mutant_scope.h"
#include "testing/test_store.h"
#include "vlog/record_format.h"
#include "vlog/segment_map.h"

namespace cambium::testing {
namespace {

constexpr int kPinnedKeys = 200;
constexpr std::size_t kPinnedBytes = 15'000;  // a value is its key, followed by this many bytes
// The header and the key of a record are copied at each read.
constexpr std::size_t kFrontBytes = kRecordHeaderSize + 5;

std::string PinnedValue(int i) { return NumberedKey(i) + std::string(kPinnedBytes, static_cast<char>('a' + i % 26)); }

ReadOptions Pinning() {
  ReadOptions options;
  options.pin_mapped_values = true;
  return options;
}

// Values in mapped segments, all in the page cache.
class PinnedStore : public TestStore {
 public:
  explicit PinnedStore(CompressionType compression = CompressionType::kNoCompression) {
    options.blob_file_size = 1u << 20;
    options.large_value_size = 1u << 20;
    options.allow_mmap_reads = true;
    options.enable_blob_garbage_collection = false;
    options.blob_compression_type = compression;
    MustOpen();
    for (int i = 0; i < kPinnedKeys; ++i) Put(NumberedKey(i), PinnedValue(i));
    Compact();
    Reopen();
    fs->SetResident(true);
    SegmentMap::ResetThreadCounters();
    for (int i = 0; i < kPinnedKeys; ++i) ReadUntilMapped(i);
  }
  // Bytes that reads have copied, from files or mappings, since the last call.
  std::uint64_t Copied() {
    const std::uint64_t now = fs->read_counts().copied_bytes;
    return now - std::exchange(copied_, now);
  }

 private:
  // A read asks only now and then whether the value's chunk is in memory.
  void ReadUntilMapped(int i) {
    const std::uint64_t before = fs->read_counts().mapped_copies;
    for (int reads = 0; reads < 200 && fs->read_counts().mapped_copies == before; ++reads) Get(NumberedKey(i));
  }
  std::uint64_t copied_ = 0;
};

// The first read compares the checksum of a copy; later ones lend the bytes of the mapping.
TEST(PinnedValuesTest, SecondGetCopiesNothing) {
  PinnedStore store;
  for (const bool is_first : {true, false}) {
    store.Copied();
    for (int i = 0; i < kPinnedKeys; ++i) {
      PinnableSlice value;
      ASSERT_TRUE(store.db->Get(Pinning(), NumberedKey(i), &value).ok());
      ASSERT_EQ(value, Slice(PinnedValue(i)));
      ASSERT_EQ(value.IsPinned(), !is_first);
    }
    const std::uint64_t copied = store.Copied();
    EXPECT_EQ(copied >= kPinnedKeys * kPinnedBytes, is_first) << copied;
    EXPECT_EQ(copied == kPinnedKeys * kFrontBytes, !is_first) << copied;
  }
}

TEST(PinnedValuesTest, ReadsWithoutTheOptionCopy) {
  PinnedStore store;
  for (int round = 0; round < 3; ++round) {
    PinnableSlice value;
    ASSERT_TRUE(store.db->Get({}, NumberedKey(3), &value).ok());
    EXPECT_FALSE(value.IsPinned());
    EXPECT_EQ(value, Slice(PinnedValue(3)));
    std::string copy;
    ASSERT_TRUE(store.db->Get(Pinning(), NumberedKey(3), &copy).ok());
    EXPECT_EQ(copy, PinnedValue(3));
  }
}

TEST(PinnedValuesTest, WithoutChecksumsTheFirstGetCopiesNothing) {
  PinnedStore store;
  ReadOptions options = Pinning();
  options.verify_checksums = false;
  PinnableSlice value;
  ASSERT_TRUE(store.db->Get(options, NumberedKey(5), &value).ok());
  EXPECT_TRUE(value.IsPinned());
  EXPECT_EQ(value, Slice(PinnedValue(5)));
}

TEST(PinnedValuesTest, MultiGetSnapshotAndAsyncReadsCopyNothingEither) {
  PinnedStore store;
  std::array<std::string, 3> keys = {NumberedKey(1), NumberedKey(70), NumberedKey(199)};
  const std::array<Slice, 3> slices = {keys[0], keys[1], keys[2]};
  std::array<PinnableSlice, 3> values;
  std::array<Status, 3> statuses;
  for (int round = 0; round < 2; ++round) {
    store.Copied();
    store.db->MultiGet(Pinning(), slices.size(), slices.data(), values.data(), statuses.data());
  }
  EXPECT_EQ(store.Copied(), 3 * kFrontBytes);
  const std::array<int, 3> numbers = {1, 70, 199};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(statuses[i].ok());
    EXPECT_TRUE(values[i].IsPinned());
    EXPECT_EQ(values[i], Slice(PinnedValue(numbers[i])));
  }
  // MultiGet into strings copies the values, and pins nothing.
  std::vector<std::string> copies;
  EXPECT_TRUE(store.db->MultiGet(Pinning(), {slices[0]}, &copies)[0].ok());
  EXPECT_EQ(copies[0], PinnedValue(1));

  const Snapshot* const snapshot = store.db->GetSnapshot();
  ReadOptions at_snapshot = Pinning();
  at_snapshot.snapshot = snapshot;
  store.Copied();
  PinnableSlice value;
  ASSERT_TRUE(store.db->Get(at_snapshot, slices[1], &value).ok());
  EXPECT_TRUE(value.IsPinned());
  store.db->ReleaseSnapshot(snapshot);

  std::unique_ptr<AsyncReader> reader;
  ASSERT_TRUE(store.db->NewAsyncReader({}, &reader).ok());
  PinnableSlice moved;
  ASSERT_TRUE(reader->Get(Pinning(), slices[2], [&moved](const Status& s, PinnableSlice&& found) {
    EXPECT_TRUE(s.ok());
    moved = std::move(found);
  }).ok());
  reader->Poll(1);
  EXPECT_TRUE(moved.IsPinned());
  EXPECT_EQ(moved, Slice(PinnedValue(199)));
  EXPECT_EQ(store.Copied(), 2 * kFrontBytes);
}

TEST(PinnedValuesTest, SecondScanCopiesNothing) {
  PinnedStore store;
  const std::unique_ptr<Iterator> it(store.db->NewIterator(Pinning()));
  for (int round = 0; round < 2; ++round) {
    store.Copied();
    int next = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_EQ(it->value(), Slice(PinnedValue(next++)));
    EXPECT_TRUE(it->status().ok());
    EXPECT_EQ(next, kPinnedKeys);
    for (it->SeekToLast(); it->Valid(); it->Prev()) ASSERT_EQ(it->value(), Slice(PinnedValue(--next)));
    EXPECT_EQ(next, 0);
  }
  EXPECT_EQ(store.Copied(), 2 * kPinnedKeys * kFrontBytes);
}

// A value whose record has `bytes` bytes.
std::string ValueOfRecord(std::size_t bytes, Slice key, char fill) {
  return std::string(bytes - kRecordHeaderSize - key.size(), fill);
}

// Records of 1 KiB that follow each other. One is verified; the next is damaged.
TEST(PinnedValuesTest, NeighbouringRecordsAreVerifiedEachByItself) {
  PinnedStore store;
  for (int i = 0; i < 64; ++i) store.Put("n" + NumberedKey(i), ValueOfRecord(1024, "n" + NumberedKey(i), 'n'));
  store.Flush();
  store.Reopen();
  store.fs->SetResident(true);
  const auto read = [&store](int i, PinnableSlice* value) {
    return store.db->Get(Pinning(), "n" + NumberedKey(i), value);
  };
  PinnableSlice value;
  for (int i = 0; i < 64; i += 2) {
    for (int reads = 0; reads < 200 && !value.IsPinned(); ++reads) ASSERT_TRUE(read(i, &value).ok());
    ASSERT_TRUE(value.IsPinned()) << i;
    value.Reset();
  }
  for (const auto& [path, bytes] : store.Files()) {
    for (int i = 1; i < 64; i += 2) {
      const std::size_t at = bytes.find("n" + NumberedKey(i) + "nnnn");
      if (at == std::string::npos || !path.ends_with(".log")) continue;
      ASSERT_TRUE(store.fs->tampering().FlipBit(path, at + 500, 1).ok());
    }
  }
  store.fs->SetResident(true);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(read(i, &value).IsCorruption(), i % 2 == 1) << i;
}

TEST(PinnedValuesTest, SmallInlineCompressedAndUnmappedValuesAreCopied) {
  const auto expect_copies = [](PinnedStore* store, const std::string& key, const std::string& expected) {
    for (int round = 0; round < 300; ++round) {
      PinnableSlice value;
      ASSERT_TRUE(store->db->Get(Pinning(), key, &value).ok());
      EXPECT_EQ(value, Slice(expected));
      ASSERT_FALSE(value.IsPinned()) << key;
    }
  };
  {
    PinnedStore compressed(CompressionType::kLZ4Compression);
    expect_copies(&compressed, NumberedKey(8), PinnedValue(8));
  }
  PinnedStore store;
  store.Put("inline", "short");
  store.Put("small", ValueOfRecord(1016, "small", 's'));
  store.Put("large", std::string((1u << 20) + 1, 'l'));  // in a file of its own
  store.Flush();
  store.Reopen();
  store.fs->SetResident(true);
  expect_copies(&store, "inline", "short");
  expect_copies(&store, "small", ValueOfRecord(1016, "small", 's'));
  expect_copies(&store, "large", std::string((1u << 20) + 1, 'l'));
  store.options.allow_mmap_reads = false;
  store.Reopen();
  expect_copies(&store, NumberedKey(8), PinnedValue(8));
}

// A fault at the record's header is an error of the read, not a signal.
TEST(PinnedValuesTest, UnreadableHeaderIsAnError) {
  PinnedStore store;
  PinnableSlice value;
  for (int round = 0; round < 2; ++round) ASSERT_TRUE(store.db->Get(Pinning(), NumberedKey(9), &value).ok());
  ASSERT_TRUE(value.IsPinned());
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
  store.fs->AddFault(fault);
  EXPECT_TRUE(store.db->Get(Pinning(), NumberedKey(9), &value).IsIOError());
  EXPECT_FALSE(value.IsPinned());
}

// Log GC empties all segments.
void ForceLogGc(PinnedStore* store) {
  CompactRangeOptions compact;
  compact.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  compact.blob_garbage_collection_age_cutoff = 1;
  store->Compact(compact);
  store->RunUntilIdle();
}

// Flips a bit of the value, in memory and on disk.
void Damage(PinnedStore* store, int i) {
  for (const auto& [path, bytes] : store->Files()) {
    const std::size_t at = bytes.find(PinnedValue(i));
    if (at == std::string::npos) continue;
    ASSERT_TRUE(store->fs->tampering().FlipBit(path, at + 500, 1).ok());
  }
  store->fs->SetResident(true);
}

// Returns the status of the first read of a damaged value.
Status FirstReadOfDamage() {
  PinnedStore store;
  Damage(&store, 9);
  PinnableSlice value;
  return store.db->Get(Pinning(), NumberedKey(9), &value);
}

TEST(PinnedValuesTest, FirstReadComparesTheChecksum) { EXPECT_TRUE(FirstReadOfDamage().IsCorruption()); }

TEST(PinnedValuesTest, MutantThatPinsUnverifiedValuesIsCaught) {
  const MutantScope mutant(Mutant::kPinUnverifiedValues);  // rule E7
  EXPECT_FALSE(FirstReadOfDamage().IsCorruption());
}

// A value that is not the key's own is never lent, however often its record was verified.
TEST(PinnedValuesTest, EveryReadDetectsADamagedHeader) {
  PinnedStore store;
  PinnableSlice value;
  for (int round = 0; round < 2; ++round) ASSERT_TRUE(store.db->Get(Pinning(), NumberedKey(9), &value).ok());
  ASSERT_TRUE(value.IsPinned());
  for (const auto& [path, bytes] : store.Files()) {
    const std::size_t at = bytes.find(PinnedValue(9));
    if (at == std::string::npos) continue;
    ASSERT_TRUE(store.fs->tampering().FlipBit(path, at - 1, 1).ok());  // the last byte of the key
  }
  store.fs->SetResident(true);
  EXPECT_TRUE(store.db->Get(Pinning(), NumberedKey(9), &value).IsCorruption());
  EXPECT_FALSE(value.IsPinned());
  EXPECT_TRUE(value.empty());
}

// Overwrites the value that is pinned, among others, and lets log GC drop or punch it. Returns true if it is unchanged
// after that.
bool PinnedValueOutlastsGc(bool punches) {
  PinnedStore store;
  EXPECT_TRUE(store.db->SetDBOptions({{"min_punch_size", punches ? "4096" : "0"}}).ok());
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  PinnableSlice value;
  for (int round = 0; round < 2; ++round) EXPECT_TRUE(store.db->Get(Pinning(), NumberedKey(50), &value).ok());
  EXPECT_TRUE(value.IsPinned());
  EXPECT_EQ(value, Slice(PinnedValue(50)));
  for (int i = 0; i < kPinnedKeys; i += punches ? 2 : 1) store.Put(NumberedKey(i), "new");
  store.Flush();
  if (punches) {
    CompactRangeOptions compact;
    compact.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kDisable;
    store.Compact(compact);
    store.RunUntilIdle();
  } else {
    ForceLogGc(&store);
  }
  const bool is_unchanged = value == Slice(PinnedValue(50));
  value.Reset();
  store.RunUntilIdle();
  for (const auto& [path, bytes] : store.Files()) EXPECT_EQ(bytes.find(PinnedValue(50)), std::string::npos) << path;
  EXPECT_TRUE(store.db->Close().ok());
  return is_unchanged;
}

TEST(PinnedValuesTest, PinnedValueOutlastsLogGc) {
  EXPECT_TRUE(PinnedValueOutlastsGc(false));
  EXPECT_TRUE(PinnedValueOutlastsGc(true));
  const MutantScope mutant(Mutant::kPunchWhilePinned);  // rule E1
  EXPECT_FALSE(PinnedValueOutlastsGc(true));
}

// The file of a value that a user holds stays until the value is released.
std::size_t FilesWhilePinned() {
  PinnedStore store;
  PinnableSlice value;
  for (int round = 0; round < 2; ++round) EXPECT_TRUE(store.db->Get(Pinning(), NumberedKey(0), &value).ok());
  for (int i = 0; i < kPinnedKeys; ++i) store.Put(NumberedKey(i), "new");
  store.Flush();
  ForceLogGc(&store);
  std::size_t with_values = 0;
  for (const auto& [path, bytes] : store.Files()) with_values += bytes.find(PinnedValue(0)) != std::string::npos ? 1 : 0;
  value.Reset();
  store.RunUntilIdle();
  for (const auto& [path, bytes] : store.Files()) EXPECT_EQ(bytes.find(PinnedValue(0)), std::string::npos) << path;
  return with_values;
}

TEST(PinnedValuesTest, PinnedValueKeepsItsFile) { EXPECT_EQ(FilesWhilePinned(), 1u); }

TEST(PinnedValuesTest, MutantThatReleasesPinnedFilesIsCaught) {
  const MutantScope mutant(Mutant::kPinnedValueKeepsNothing);  // rule E7
  EXPECT_EQ(FilesWhilePinned(), 0u);
}

// Overwrites everything under a pinned value. Returns the bytes of the log that count as on disk then and do not after
// the value is released.
std::uint64_t CountedForPin() {
  PinnedStore store;
  PinnableSlice value;
  for (int round = 0; round < 2; ++round) EXPECT_TRUE(store.db->Get(Pinning(), NumberedKey(0), &value).ok());
  EXPECT_EQ(store.Property("num-pinned-values"), 1u);
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  for (int i = 0; i < kPinnedKeys; ++i) store.Put(NumberedKey(i), PinnedValue(i));
  store.Flush();
  ForceLogGc(&store);
  const auto log_bytes = [&store] {
    std::map<std::string, std::string> figures;
    EXPECT_TRUE(store.db->GetMapProperty("cambium.space", &figures));
    return std::stoull(figures["log"]);
  };
  const std::uint64_t pinned = log_bytes();
  value.Reset();
  EXPECT_EQ(store.Property("num-pinned-values"), 0u);
  store.RunUntilIdle();
  return pinned - log_bytes();
}

// As with iterators: writers do not wait for files that only the user can release.
TEST(PinnedValuesTest, CeilingIgnoresBytesHeldByPinnedValues) {
  EXPECT_EQ(CountedForPin(), 0u);
  const MutantScope mutant(Mutant::kCeilingIgnoresPins);  // rule E7
  EXPECT_GT(CountedForPin(), 0u);
}

Status CloseWithPinnedValue() {
  PinnedStore store;
  PinnableSlice value;
  for (int round = 0; round < 2; ++round) EXPECT_TRUE(store.db->Get(Pinning(), NumberedKey(0), &value).ok());
  PinnableSlice other = std::move(value);  // still one pin
  const Status closed = store.db->Close();
  other.Reset();
  return closed;
}

TEST(PinnedValuesTest, CloseIsRefusedWhileAValueIsPinned) {
  const Status closed = CloseWithPinnedValue();
  EXPECT_TRUE(closed.IsAborted()) << closed.ToString();
  EXPECT_NE(closed.ToString().find("1 values pinned"), std::string::npos) << closed.ToString();
  const MutantScope mutant(Mutant::kCloseUnderPinnedValue);  // rule E7
  EXPECT_FALSE(CloseWithPinnedValue().IsAborted());
}

}  // namespace
}  // namespace cambium::testing
