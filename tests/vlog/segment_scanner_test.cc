#include "vlog/segment_scanner.h"

#include <gtest/gtest.h>

#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "vlog/vlog_test_util.h"

namespace cambium::testing {
namespace {

// A segment written batch by batch, and the records that a scan must return.
struct Written {
  std::shared_ptr<Segment> segment;
  std::vector<OwnedRecord> records;
  std::uint64_t end = kFileHeaderSize;
  SequenceNumber last = 0;

  // `durable` is the sequence number that the batch's headers prove durable.
  void Append(const std::vector<std::pair<std::string, std::string>>& puts, SequenceNumber durable) {
    PreparedBatch batch({});
    for (const auto& [key, value] : puts) batch.Put(0, key, value);
    batch.Bind(last + 1, durable, segment->seed(), segment->slot(), end);
    EXPECT_TRUE(segment->file().WriteVectored(end, batch.pieces()).ok());
    for (std::size_t i = 0; i < puts.size(); ++i) {
      const auto& op = batch.ops()[i];
      records.push_back({op.header, puts[i].first, puts[i].second, end + op.offset});
    }
    end += batch.size();
    last += puts.size();
  }
};

void ExpectSame(const std::vector<OwnedRecord>& got, const std::vector<OwnedRecord>& want, std::size_t count) {
  ASSERT_EQ(got.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(got[i].offset, want[i].offset);
    ASSERT_EQ(got[i].header.sequence, want[i].header.sequence);
    ASSERT_TRUE(got[i].key == want[i].key && got[i].value == want[i].value) << "record " << i;
  }
}

// Values around the chunk size and far above it, so that records begin and end at many positions relative to a chunk.
TEST(SegmentScannerTest, RecordsOfEverySizeAreReadAcrossChunks) {
  const std::uint64_t seed = SeedFromEnvironment(21);
  Prng prng(seed);
  for (int round = 0; round < 4; ++round) {
    SimOptions options;
    options.seed = seed + static_cast<std::uint64_t>(round);
    options.shuffle_reads = true;
    SimFileSystem fs(options);
    Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
    const std::string large(16u << 20, 'x');
    for (int i = 0; i < 60; ++i) {
      std::vector<std::pair<std::string, std::string>> puts(1 + prng.Uniform(3));
      for (auto& [key, value] : puts) {
        key = prng.Bytes(prng.Skewed(7));
        if (i == 30 && &key == &puts[0].first) {
          value = large;
        } else if (prng.OneIn(8)) {
          // Ends the record within a few bytes of the end of a chunk.
          const std::uint64_t left = (1u << 20) - log.end % (1u << 20);
          value = std::string(left > 200 ? left - 100 - prng.Uniform(100) : 1, 'e');
        } else {
          value = prng.Bytes(prng.Skewed(17));
        }
      }
      log.Append(puts, log.last);
    }
    for (const bool queued : {false, true}) {
      ScanResult end = ScanResult::kRecord;
      ExpectSame(ScanAll(&fs, log.segment->path(), log.segment->seed(), log.end, &end, queued), log.records,
                 log.records.size());
      EXPECT_EQ(end, ScanResult::kEnd);
    }
  }
}

struct Found {
  std::vector<std::uint64_t> records;  // their offsets
  ScanResult end{};
  std::string reason;
  std::size_t longest = 0;
};

void ExpectSameEnd(const Found& a, const Found& b) {
  EXPECT_TRUE(a.records == b.records);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.reason, b.reason);
}

// If long values are left out, the same records are found, and the same damage, with the memory of a piece.
TEST(SegmentScannerTest, LongValuesAreCheckedPieceByPiece) {
  SimFileSystem fs;
  Prng prng(5);
  Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  for (const std::size_t size : {100u, 1u << 20, (1u << 20) + 1, 3'000'000u, 50u, 2'500'001u}) {
    log.Append({{"key" + std::to_string(size), prng.Bytes(size)}}, log.last);
  }
  const std::string path = log.segment->path();
  const auto scan = [&](bool leaves_out) {
    Found found;
    SegmentScanner scanner(log.segment->file(), log.segment->seed(), kFileHeaderSize, log.end, nullptr);
    if (leaves_out) scanner.LeaveOutLongValues();
    ScannedRecord record;
    while (true) {
      const Result<ScanResult> next = scanner.Next(&record);
      EXPECT_TRUE(next.ok());
      found.end = *next;
      if (found.end != ScanResult::kRecord) break;
      found.records.push_back(record.offset);
      EXPECT_EQ(record.key.ToString(), "key" + std::to_string(record.header.value_size));
      found.longest = std::max(found.longest, record.stored_value.size());
    }
    found.reason = found.end == ScanResult::kInvalid ? scanner.reason() : "";
    return found;
  };
  EXPECT_EQ(scan(true).records.size(), log.records.size());
  EXPECT_EQ(scan(true).longest, 1u << 20);
  EXPECT_EQ(scan(false).longest, 3'000'000u);
  {
    const MutantScope mutant(Mutant::kCheckHoldsValue);
    EXPECT_EQ(scan(true).longest, 3'000'000u);
  }
  for (const OwnedRecord& record : log.records) {
    for (const std::uint64_t at : {record.offset + kRecordHeaderSize, record.offset + record.header.RecordSize() - 1,
                                   record.offset + record.header.RecordSize() / 2}) {
      ASSERT_TRUE(fs.tampering().FlipBit(path, at, 1).ok());
      EXPECT_EQ(scan(true).end, ScanResult::kInvalid) << at;
      ExpectSameEnd(scan(true), scan(false));
      ASSERT_TRUE(fs.tampering().FlipBit(path, at, 1).ok());
    }
  }
  ASSERT_TRUE(fs.tampering().Truncate(path, log.end - 1'000'000).ok());
  ExpectSameEnd(scan(true), scan(false));
}

TEST(SegmentScannerTest, TornSegmentYieldsTheWholeRecordsBeforeTheCut) {
  SimFileSystem fs;
  Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  log.Append({{"a", "1"}}, 0);
  log.Append({{"bb", std::string(50, 'b')}, {"", ""}}, 1);
  log.Append({{"ccc", "3"}}, 3);
  for (std::uint64_t cut = kFileHeaderSize; cut <= log.end; ++cut) {
    SimFileSystem torn(fs.Snapshot());
    ASSERT_TRUE(torn.tampering().Truncate(log.segment->path(), cut).ok());
    std::size_t whole = 0;
    bool boundary = cut == kFileHeaderSize;
    for (const OwnedRecord& record : log.records) {
      const std::uint64_t record_end = record.offset + record.header.RecordSize();
      if (record_end <= cut) ++whole;
      boundary = boundary || record_end == cut;
    }
    ScanResult end = ScanResult::kRecord;
    ExpectSame(ScanAll(&torn, log.segment->path(), log.segment->seed(), log.end, &end), log.records, whole);
    EXPECT_EQ(end, boundary ? ScanResult::kEnd : ScanResult::kInvalid) << "cut at " << cut;
  }
}

std::size_t RecordsReadWithAFlippedBit(const Written& log, SimFileSystem* fs, std::uint64_t offset, int bit) {
  SimFileSystem rotten(fs->Snapshot());
  EXPECT_TRUE(rotten.tampering().FlipBit(log.segment->path(), offset, bit).ok());
  ScanResult end = ScanResult::kRecord;
  const std::size_t count = ScanAll(&rotten, log.segment->path(), log.segment->seed(), log.end, &end).size();
  EXPECT_EQ(end == ScanResult::kEnd, count == log.records.size());
  return count;
}

TEST(SegmentScannerTest, EveryFlippedBitIsDetected) {
  SimFileSystem fs;
  Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  log.Append({{"a", "1"}}, 0);
  log.Append({{"bb", std::string(50, 'b')}, {"c", "d"}}, 1);
  for (std::uint64_t offset = kFileHeaderSize; offset < log.end; ++offset) {
    std::size_t hit = 0;
    while (log.records[hit].offset + log.records[hit].header.RecordSize() <= offset) ++hit;
    ASSERT_EQ(RecordsReadWithAFlippedBit(log, &fs, offset, static_cast<int>(offset % 8)), hit) << offset;
  }
  const std::uint64_t in_value = log.records[1].offset + kRecordHeaderSize + 10;
  const MutantScope mutant(Mutant::kSkipValueChecksum);
  EXPECT_EQ(RecordsReadWithAFlippedBit(log, &fs, in_value, 0), log.records.size());  // only the checksum detects it
}

SequenceNumber Probe(SimFileSystem* fs, const Written& log) {
  std::unique_ptr<File> file;
  EXPECT_TRUE(fs->Open(log.segment->path(), OpenMode::kReadOnly, {}, &file).ok());
  SegmentScanner scanner(*file, log.segment->seed(), kFileHeaderSize, log.end, nullptr);
  ScannedRecord record;
  while (true) {
    const auto next = scanner.Next(&record);
    EXPECT_TRUE(next.ok());
    if (!next.ok() || *next == ScanResult::kEnd) return 0;
    if (*next == ScanResult::kInvalid) break;
  }
  const auto proven = scanner.ProbeForWitness();
  EXPECT_TRUE(proven.ok());
  return proven.ok() ? *proven : 0;
}

TEST(SegmentScannerTest, ProbeFindsTheHighestWitnessAfterDamage) {
  SimFileSystem fs;
  Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  log.Append({{"a", "1"}}, 0);
  log.Append({{"b", std::string(3000, 'b')}}, 1);
  log.Append({{"c", std::string(2u << 20, 'c')}}, 2);
  log.Append({{"d", "4"}}, 3);
  log.Append({{"e", "5"}}, 2);
  // The witness is found before and after the first damage, and with damage in a header or in a value.
  for (const std::size_t damaged : {0u, 1u, 2u}) {
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{30}, std::uint64_t{kRecordHeaderSize}}) {
      SimFileSystem rotten(fs.Snapshot());
      ASSERT_TRUE(rotten.tampering().FlipBit(log.segment->path(), log.records[damaged].offset + at, 1).ok());
      EXPECT_EQ(Probe(&rotten, log), 3u) << "record " << damaged << " at " << at;
    }
  }
  // For damage in the last record, only the header of this record can be the witness, and only if it is whole.
  SimFileSystem body(fs.Snapshot());
  ASSERT_TRUE(body.tampering().FlipBit(log.segment->path(), log.records[4].offset + kRecordHeaderSize, 0).ok());
  EXPECT_EQ(Probe(&body, log), 2u);
  SimFileSystem header(fs.Snapshot());
  ASSERT_TRUE(header.tampering().FlipBit(log.segment->path(), log.records[4].offset + 8, 0).ok());
  EXPECT_EQ(Probe(&header, log), 0u);
}

// A user's value may hold bytes that once were a record: of this file at another offset, or of another file at the same
// offset. Neither may count as a witness.
SequenceNumber ProvenByAForgedValue(bool of_another_file) {
  SimFileSystem fs;
  Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  log.Append({{"a", "1"}}, 0);
  const std::uint64_t image_at = log.end + kRecordHeaderSize + 8;  // a key of 8 bytes
  RecordHeader forged;
  forged.sequence = 1000;
  forged.durable_lag = 1;
  std::string value(kRecordHeaderSize + 64, 'v');
  EncodeRecordHeader(forged, of_another_file ? HeaderOf(2).Seed() : log.segment->seed(),
                     of_another_file ? image_at : image_at + 8, value.data());
  log.Append({{"12345678", value}}, 1);
  EXPECT_TRUE(fs.tampering().FlipBit(log.segment->path(), log.records[1].offset, 0).ok());
  return Probe(&fs, log);
}

TEST(SegmentScannerTest, ImagesOfRecordsInsideValuesProveNothing) {
  EXPECT_EQ(ProvenByAForgedValue(true), 0u);
  EXPECT_EQ(ProvenByAForgedValue(false), 0u);
  {
    const MutantScope mutant(Mutant::kSeedWithoutFileId);
    EXPECT_EQ(ProvenByAForgedValue(true), 999u);
  }
  const MutantScope mutant(Mutant::kSeedWithoutOffset);
  EXPECT_EQ(ProvenByAForgedValue(false), 999u);
}

// Hazard H33: blocks that were allocated and never written. Returns the outcome of scanning after the last record.
Result<ScanResult> ScanAfterTheLastRecord() {
  SimFileSystem fs;
  Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  log.Append({{"a", "1"}}, 0);
  EXPECT_TRUE(log.segment->file().Write(log.end, std::string(4096, '\0')).ok());
  SegmentScanner scanner(log.segment->file(), log.segment->seed(), kFileHeaderSize, log.end + 4096, nullptr);
  ScannedRecord record;
  EXPECT_TRUE(scanner.Next(&record).ok());
  return scanner.Next(&record);
}

TEST(SegmentScannerTest, ZerosAreTheEndOfTheLog) {
  const auto end = ScanAfterTheLastRecord();
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(*end, ScanResult::kInvalid);
  const MutantScope mutant(Mutant::kAcceptZerosAsRecord);
  EXPECT_FALSE(ScanAfterTheLastRecord().ok());  // unknown operation
}

// Hazards H7, H33: the blocks once held another segment, whose records have the right offsets and sequence numbers.
std::size_t RecordsInARecycledFile() {
  SimFileSystem fs;
  Written old{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  Written now{MakeSegment(&fs, 2, Slot{1}), {}, kFileHeaderSize, 0};
  old.Append({{"a", "1"}}, 0);
  now.Append({{"a", "2"}}, 0);
  const std::uint64_t start = old.end;
  old.Append({{"b", "1"}}, 1);
  old.Append({{"c", "1"}}, 2);
  std::string bytes;
  EXPECT_TRUE(fs.probe().ReadContents(old.segment->path(), &bytes).ok());
  EXPECT_TRUE(now.segment->file().Write(start, Slice(bytes).substr(start, bytes.size() - start)).ok());
  ScanResult end = ScanResult::kRecord;
  return ScanAll(&fs, now.segment->path(), now.segment->seed(), bytes.size(), &end).size();
}

TEST(SegmentScannerTest, StaleRecordsOfAnEarlierFileAreRejected) {
  EXPECT_EQ(RecordsInARecycledFile(), 1u);
  const MutantScope mutant(Mutant::kSeedWithoutFileId);
  EXPECT_EQ(RecordsInARecycledFile(), 3u);
}

// A length field may have any value; memory is allocated only for bytes that the file has.
TEST(SegmentScannerTest, RecordLongerThanItsFileIsInvalid) {
  SimFileSystem fs;
  Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
  log.Append({{"a", "1"}}, 0);
  RecordHeader huge;
  huge.sequence = 2;
  huge.value_size = std::uint64_t{1} << 40;
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(huge, log.segment->seed(), log.end, bytes);
  ASSERT_TRUE(log.segment->file().Write(log.end, {bytes, sizeof(bytes)}).ok());
  ScanResult end = ScanResult::kRecord;
  EXPECT_EQ(ScanAll(&fs, log.segment->path(), log.segment->seed(), ~std::uint64_t{0}, &end).size(), 1u);
  EXPECT_EQ(end, ScanResult::kInvalid);
}

TEST(SegmentScannerTest, OperationOfALaterVersionIsNotSupported) {
  SimFileSystem fs;
  const auto segment = MakeSegment(&fs, 1, Slot{0});
  RecordHeader merge;
  merge.op = RecordOp::kMerge;
  merge.sequence = 1;
  merge.body_checksum = BodyChecksum({}, {});
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(merge, segment->seed(), kFileHeaderSize, bytes);
  ASSERT_TRUE(segment->file().Write(kFileHeaderSize, {bytes, sizeof(bytes)}).ok());
  SegmentScanner scanner(segment->file(), segment->seed(), kFileHeaderSize, kFileHeaderSize + kRecordHeaderSize,
                         nullptr);
  ScannedRecord record;
  EXPECT_TRUE(scanner.Next(&record).status().IsNotSupported());
}

TEST(SegmentScannerTest, ReadErrorIsNotTheEndOfTheLog) {
  for (const bool queued : {false, true}) {
    SimFileSystem fs;
    Written log{MakeSegment(&fs, 1, Slot{0}), {}, kFileHeaderSize, 0};
    log.Append({{"a", "1"}}, 0);
    SimFault fault;
    fault.kind = SimOpKind::kRead;
    fs.AddFault(fault);
    const std::unique_ptr<ReadQueue> queue = queued ? fs.NewReadQueue(4, false) : nullptr;
    SegmentScanner scanner(log.segment->file(), log.segment->seed(), kFileHeaderSize, log.end, queue.get());
    ScannedRecord record;
    const auto failed = scanner.Next(&record);
    ASSERT_FALSE(failed.ok());
    EXPECT_TRUE(failed.status().IsIOError());
    const auto again = scanner.Next(&record);  // not sticky
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, ScanResult::kRecord);
  }
}

}  // namespace
}  // namespace cambium::testing
