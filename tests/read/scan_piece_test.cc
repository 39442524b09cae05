// Scans of values that are in memory and lie near each other in the log: how many calls they make, how many bytes they
// copy, and that each value is verified by itself.
#include "read/scan_piece.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "testing/mutant_scope.h"
#include "testing/test_store.h"
#include "vlog/segment_map.h"

namespace cambium::testing {
namespace {

constexpr int kPieceKeys = 1500;
constexpr std::uint64_t kPieceRecord = 1072;  // bytes of a record with such a value, rounded up

std::string PieceValue(int i) { return NumberedKey(i) + std::string(1000, static_cast<char>('a' + i % 26)); }

// The values of all keys, put in the order that `place_of` gives: key place_of(i) is the i-th put.
class PieceStore {
 public:
  template <typename PlaceOf>
  PieceStore(bool mapped, PlaceOf place_of) {
    store.options.blob_file_size = 1u << 20;
    store.options.allow_mmap_reads = mapped;
    store.MustOpen();
    for (int i = 0; i < kPieceKeys; ++i) store.Put(NumberedKey(place_of(i)), PieceValue(place_of(i)));
    store.Compact();
    store.Reopen();
    store.fs->SetResident(true);
    SegmentMap::ResetThreadCounters();
    if (!mapped) return;
    for (int i = 0; i < kPieceKeys; ++i) store.Get(NumberedKey(i));  // maps the segments
  }
  [[nodiscard]] std::unique_ptr<Iterator> NewIterator() const {
    return std::unique_ptr<Iterator>(store.db->NewIterator({}));
  }
  // Calls that copied values out of memory, and their bytes, since the last call.
  std::pair<std::uint64_t, std::uint64_t> Copied() {
    const SimReadCounts now = store.fs->read_counts();
    const std::uint64_t calls = now.cached + now.mapped_copies;
    return {calls - std::exchange(calls_, calls), now.copied_bytes - std::exchange(bytes_, now.copied_bytes)};
  }
  void ExpectScan(bool forward, Iterator* it) const {
    int at = forward ? 0 : kPieceKeys - 1;
    int found = 0;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forward ? it->Next() : it->Prev()) {
      ASSERT_EQ(it->key(), Slice(NumberedKey(at)));
      ASSERT_EQ(it->value(), Slice(PieceValue(at)));
      at += forward ? 1 : -1;
      ++found;
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(found, kPieceKeys);
  }

  TestStore store;

 private:
  std::uint64_t calls_ = 0;
  std::uint64_t bytes_ = 0;
};

TEST(ScanPieceTest, NeighboursAreReadInPieces) {
  for (const bool mapped : {false, true}) {
    PieceStore pieces(mapped, [](int i) { return i; });
    for (const bool forward : {true, false}) {
      SCOPED_TRACE(std::string(mapped ? "mapped" : "read") + (forward ? ", forward" : ", backward"));
      const std::unique_ptr<Iterator> it = pieces.NewIterator();
      pieces.Copied();
      pieces.ExpectScan(forward, it.get());
      const auto [calls, bytes] = pieces.Copied();
      EXPECT_LE(calls, kPieceKeys / 4) << "leaves of 512 bytes have few entries, and a piece ends with its leaf";
      EXPECT_LE(bytes, (kPieceKeys + 20) * kPieceRecord) << "nothing is copied twice";
    }
  }
}

// The first scan has no history: it reads at most twice as many values as it is asked for. After more scans of the same
// length, it reads at most one value more than it needs.
TEST(ScanPieceTest, ShortScansReadLittleMoreThanTheyNeed) {
  constexpr int kLength = 10;
  PieceStore pieces(false, [](int i) { return i; });
  for (int scan = 0; scan < 50; ++scan) {
    const int first = scan * 29;
    const std::unique_ptr<Iterator> it = pieces.NewIterator();
    pieces.Copied();
    it->Seek(NumberedKey(first));
    for (int i = 0; i < kLength; ++i) {
      ASSERT_EQ(it->value(), Slice(PieceValue(first + i)));
      if (i + 1 < kLength) it->Next();
    }
    const auto [calls, bytes] = pieces.Copied();
    EXPECT_LE(bytes, (scan > 40 ? kLength + 1 : 2 * kLength) * kPieceRecord) << "scan " << scan;
  }
}

TEST(ScanPieceTest, ScatteredValuesAreReadOneByOne) {
  PieceStore pieces(false, [](int i) { return i * 703 % kPieceKeys; });
  const std::unique_ptr<Iterator> it = pieces.NewIterator();
  pieces.Copied();
  pieces.ExpectScan(true, it.get());
  const auto [calls, bytes] = pieces.Copied();
  EXPECT_EQ(calls, std::uint64_t{kPieceKeys});
  EXPECT_LE(bytes, kPieceKeys * kPieceRecord);
}

// Returns the bytes that a scan of two layers copies. The values of each layer are neighbours, but the scan takes one
// from each in turn.
std::uint64_t BytesOfScanOverTwoLayers() {
  TestStore store;
  store.options.blob_file_size = 1u << 20;
  store.options.allow_mmap_reads = false;
  store.options.write_buffer_size = 1u << 20;
  store.options.page_size = 4096;
  store.MustOpen();
  for (int i = 0; i < kPieceKeys; i += 2) store.Put(NumberedKey(i), PieceValue(i));
  store.Compact();
  for (int i = 1; i < kPieceKeys; i += 2) store.Put(NumberedKey(i), PieceValue(i));
  store.Flush();
  store.fs->SetResident(true);
  const std::uint64_t before = store.fs->read_counts().copied_bytes;
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  int found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    EXPECT_EQ(it->value(), Slice(PieceValue(found)));
    ++found;
  }
  EXPECT_EQ(found, kPieceKeys);
  return store.fs->read_counts().copied_bytes - before;
}

TEST(ScanPieceTest, AlternatingLayersCostLittleMore) {
  EXPECT_LE(BytesOfScanOverTwoLayers(), 2 * kPieceKeys * kPieceRecord);
}

// Scans of all values lead to large pieces; this scan wants each 20th value. Returns the bytes that it copies.
std::uint64_t BytesOfSparseScan() {
  PieceStore pieces(false, [](int i) { return i; });
  pieces.ExpectScan(true, pieces.NewIterator().get());
  pieces.Copied();
  ReadOptions read;
  read.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(pieces.store.db->NewIterator(read));
  int at = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++at) {
    if (at % 20 != 0) continue;
    EXPECT_TRUE(it->PrepareValue());
    EXPECT_EQ(it->value(), Slice(PieceValue(at)));
  }
  EXPECT_EQ(at, kPieceKeys);
  return pieces.Copied().second;
}

TEST(ScanPieceTest, UnusedPiecesAreNoLongerRead) {
  EXPECT_LE(BytesOfSparseScan(), (kPieceKeys / 20 + 2 * 16) * kPieceRecord);
}

TEST(ScanPieceTest, MutantThatKeepsReadingUnusedPiecesIsCaught) {
  const MutantScope mutant(Mutant::kUnusedPiecesGoOn);  // rule C13
  EXPECT_GT(BytesOfSparseScan(), 3 * (kPieceKeys / 20 + 2 * 16) * kPieceRecord);
}

// Groups of neighbours lie by turns in two segments, at the same offsets.
std::string ScanOfTwoSegments() {
  TestStore store;
  store.options.blob_file_size = 1u << 20;
  store.options.allow_mmap_reads = false;
  store.options.enable_blob_garbage_collection = false;
  store.options.page_size = 4096;
  store.options.write_buffer_size = 1u << 20;
  store.MustOpen();
  for (const int segment : {0, 1}) {
    for (int i = 0; i < 200; ++i) {
      if (i / 20 % 2 == segment) store.Put(NumberedKey(i), PieceValue(i));
    }
    store.MustClose();  // the next Open begins a segment
    store.MustOpen();
  }
  store.Compact();
  store.fs->SetResident(true);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  int found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    EXPECT_EQ(it->value(), Slice(PieceValue(found)));
    ++found;
  }
  EXPECT_TRUE(found == 200 || !it->status().ok());
  return it->status().ToString();
}

TEST(ScanPieceTest, PieceBelongsToOneSegment) { EXPECT_EQ(ScanOfTwoSegments(), "OK"); }

TEST(ScanPieceTest, MutantThatMixesSegmentsIsCaught) {
  const MutantScope mutant(Mutant::kPieceOfAnySegment);  // rule E4
  EXPECT_NE(ScanOfTwoSegments(), "OK");
}

// A piece that cannot be read does not end the scan: its values may be readable.
TEST(ScanPieceTest, ValuesOfAnUnreadablePieceAreReadOneByOne) {
  PieceStore pieces(false, [](int i) { return i; });
  const std::unique_ptr<Iterator> it = pieces.NewIterator();
  it->SeekToFirst();
  for (int i = 0; i < 20; ++i) it->Next();
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
  pieces.store.fs->AddFault(fault);
  int at = 20;
  for (; it->Valid(); it->Next()) ASSERT_EQ(it->value(), Slice(PieceValue(at++)));
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(at, kPieceKeys);
}

// Damage inside a piece is reported at the damaged value, and the values before it are returned.
TEST(ScanPieceTest, DamageInAPieceIsReportedAtItsValue) {
  constexpr int kDamaged = 700;
  PieceStore pieces(false, [](int i) { return i; });
  for (const auto& [path, bytes] : pieces.store.Files()) {
    const std::size_t at = bytes.find(PieceValue(kDamaged));
    if (at == std::string::npos) continue;
    ASSERT_TRUE(pieces.store.fs->tampering().FlipBit(path, at + 500, 1).ok());
  }
  pieces.store.fs->SetResident(true);
  const std::unique_ptr<Iterator> it = pieces.NewIterator();
  int next = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_EQ(it->value(), Slice(PieceValue(next++)));
  EXPECT_EQ(next, kDamaged);
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
  int last = kPieceKeys - 1;
  for (it->SeekToLast(); it->Valid(); it->Prev()) ASSERT_EQ(it->value(), Slice(PieceValue(last--)));
  EXPECT_EQ(last, kDamaged);
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
}

}  // namespace
}  // namespace cambium::testing
