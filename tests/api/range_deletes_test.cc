// DeleteRange as users see it: reads, batches, snapshots, iterators, flushes, recovery.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "io/file_header.h"
#include "testing/test_store.h"
#include "testing/mutant_scope.h"
#include "util/prng.h"
#include "vlog/record_format.h"

namespace cambium::testing {
namespace {

std::string Key(int n) {
  char text[16];
  std::snprintf(text, sizeof text, "k%05d", n);
  return text;
}

class ApiRangeDeletesTest : public ::testing::Test {
 protected:
  void SetUp() override { store_.MustOpen(); }
  void Fill(int from, int to, std::size_t size = 100) {
    for (int i = from; i < to; ++i) store_.Put(Key(i), std::string(size, 'v'));
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    const Status s = store_.db->DeleteRange({}, begin, end);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  bool Has(const std::string& key, const Snapshot* snapshot = nullptr) {
    ReadOptions read;
    read.snapshot = snapshot;
    return store_.Get(key, read) != "NotFound";
  }
  // The number of keys that an iterator shows; forward and backward must agree.
  int Count(const Snapshot* snapshot = nullptr) {
    ReadOptions read;
    read.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(store_.db->NewIterator(read));
    int forward = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++forward;
    EXPECT_TRUE(it->status().ok());
    int backward = 0;
    for (it->SeekToLast(); it->Valid(); it->Prev()) ++backward;
    EXPECT_TRUE(it->status().ok());
    EXPECT_EQ(forward, backward);
    return forward;
  }
  // The process dies; unsynced data is still in the page cache.
  void Kill() {
    Prng prng(3);
    ComeBackFrom(store_.fs->KillImage(prng));
  }
  void CutPower() {
    Prng prng(4);
    ComeBackFrom(store_.fs->DrawCrash(prng));
  }

  void ComeBackFrom(const SimImage& image) {
    store_.fs->PowerOff();
    store_.db.reset();
    store_.fs = std::make_shared<SimFileSystem>(image);
    store_.options.file_system = store_.fs;
    store_.MustOpen();
  }

  TestStore store_;
};

TEST_F(ApiRangeDeletesTest, BeginIsInclusiveAndEndExclusive) {
  Fill(0, 10);
  DeleteRange(Key(3), Key(6));
  EXPECT_TRUE(Has(Key(2)));
  EXPECT_FALSE(Has(Key(3)));
  EXPECT_FALSE(Has(Key(5)));
  EXPECT_TRUE(Has(Key(6)));
  EXPECT_EQ(Count(), 7);
  store_.Put(Key(4), "again");
  EXPECT_EQ(store_.Get(Key(4)), "again");
  EXPECT_EQ(Count(), 8);
}

TEST_F(ApiRangeDeletesTest, EmptyRangeDoesNothingAndInvertedRangeIsRejected) {
  Fill(0, 3);
  const SequenceNumber before = store_.db->GetLatestSequenceNumber();
  EXPECT_TRUE(store_.db->DeleteRange({}, Key(1), Key(1)).ok());
  EXPECT_EQ(store_.db->GetLatestSequenceNumber(), before);
  EXPECT_TRUE(store_.db->DeleteRange({}, Key(2), Key(1)).IsInvalidArgument());
  EXPECT_TRUE(store_.db->DeleteRange({}, "a", std::string(100'000, 'z')).IsInvalidArgument());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(Key(7), "v").ok());
  ASSERT_TRUE(batch.DeleteRange(Key(2), Key(1)).ok());
  EXPECT_TRUE(store_.db->Write({}, &batch).IsInvalidArgument());  // the whole batch
  EXPECT_FALSE(Has(Key(7)));
  EXPECT_EQ(Count(), 3);
}

TEST_F(ApiRangeDeletesTest, LaterOperationsOfABatchWin) {
  Fill(0, 5);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(Key(1), "before").ok());
  ASSERT_TRUE(batch.DeleteRange(Key(0), Key(4)).ok());
  ASSERT_TRUE(batch.Put(Key(2), "after").ok());
  ASSERT_TRUE(store_.db->Write({}, &batch).ok());
  EXPECT_FALSE(Has(Key(1)));
  EXPECT_EQ(store_.Get(Key(2)), "after");
  EXPECT_EQ(Count(), 2);
  for (int i = 0; i < 2; ++i) {
    Kill();
    EXPECT_FALSE(Has(Key(1)));
    EXPECT_EQ(store_.Get(Key(2)), "after");
    EXPECT_EQ(Count(), 2);
  }
}

TEST_F(ApiRangeDeletesTest, SnapshotSeesDeletedKeysAfterFlushAndCompaction) {
  Fill(0, 200);
  const Snapshot* before = store_.db->GetSnapshot();
  DeleteRange(Key(50), Key(150));
  const Snapshot* after = store_.db->GetSnapshot();
  Fill(60, 70);
  const auto check = [&] {
    EXPECT_EQ(Count(before), 200);
    EXPECT_EQ(Count(after), 100);
    EXPECT_EQ(Count(), 110);
    EXPECT_TRUE(Has(Key(100), before));
    EXPECT_FALSE(Has(Key(100), after));
    EXPECT_FALSE(Has(Key(65), after));
    EXPECT_TRUE(Has(Key(65)));
  };
  check();
  store_.Flush();
  check();
  store_.Compact();
  check();
  store_.db->ReleaseSnapshot(before);
  store_.db->ReleaseSnapshot(after);
  EXPECT_EQ(store_.Verify(), "");
}

// Above a budget, memtables that only a snapshot needs are moved to private runs, together with the range deletes that
// the snapshot sees.
TEST_F(ApiRangeDeletesTest, PrivateRunOfASnapshotKeepsRangeDeletes) {
  Fill(0, 100);
  store_.Flush();
  DeleteRange(Key(10), Key(20));
  const Snapshot* snapshot = store_.db->GetSnapshot();
  DeleteRange(Key(0), Key(100));
  std::vector<const Snapshot*> others;
  for (int round = 0; round < 12; ++round) {
    Fill(1000, 1200);
    others.push_back(store_.db->GetSnapshot());
    store_.Flush();
  }
  EXPECT_EQ(Count(snapshot), 90);
  EXPECT_FALSE(Has(Key(15), snapshot));
  EXPECT_TRUE(Has(Key(25), snapshot));
  EXPECT_FALSE(Has(Key(25)));
  for (const Snapshot* other : others) store_.db->ReleaseSnapshot(other);
  store_.db->ReleaseSnapshot(snapshot);
}

TEST_F(ApiRangeDeletesTest, NewIteratorSkipsDeletedRangeAndOldOneDoesNot) {
  Fill(0, 1000, 20);
  store_.Flush();
  const std::unique_ptr<Iterator> old(store_.db->NewIterator({}));
  DeleteRange(Key(1), Key(999));
  old->Seek(Key(500));
  ASSERT_TRUE(old->Valid());
  EXPECT_EQ(old->key(), Slice(Key(500)));
  const std::unique_ptr<Iterator> it(store_.db->NewIterator({}));
  it->Seek(Key(1));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(Key(999)));
  it->Prev();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(Key(0)));
  it->SeekForPrev(Key(998));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(Key(0)));
}

TEST_F(ApiRangeDeletesTest, DeletedRangeFreesItsSpace) {
  Fill(0, 2000, 300);
  store_.Compact();
  const std::uint64_t full = store_.BytesOnDisk();
  DeleteRange(Key(0), Key(2000));
  store_.Compact();
  store_.RunUntilIdle();
  EXPECT_EQ(Count(), 0);
  EXPECT_EQ(store_.Verify(), "");
  EXPECT_LT(store_.BytesOnDisk(), full / 4);
}

// Rule A7. After a kill, a range delete that was not flushed is only in the log.
TEST_F(ApiRangeDeletesTest, RecoveryReplaysRanges) {
  Fill(0, 100);
  store_.Flush();
  Fill(100, 120);
  DeleteRange(Key(50), Key(110));
  Kill();
  EXPECT_EQ(Count(), 60);
  EXPECT_EQ(store_.Verify(), "");
  DeleteRange(Key(0), Key(10));
  EXPECT_EQ(Count(), 50);
  const MutantScope mutant(Mutant::kReplayWithoutRanges);
  Kill();
  EXPECT_GT(Count(), 50);
}

TEST_F(ApiRangeDeletesTest, MemtableWithOnlyRangesIsFlushedAndRecovered) {
  Fill(0, 50);
  store_.Flush();
  DeleteRange(Key(10), Key(40));
  store_.Flush();
  EXPECT_EQ(Count(), 20);
  store_.Reopen();
  EXPECT_EQ(Count(), 20);
  store_.Compact();
  EXPECT_EQ(Count(), 20);
  EXPECT_EQ(store_.Verify(), "");
}

TEST_F(ApiRangeDeletesTest, MemtableWithManyRangesIsFrozen) {
  store_.options.write_buffer_size = 64u << 20;
  store_.Reopen();
  const std::uint64_t runs_before = store_.FilesOf(".run").size() + store_.FilesOf(".idx").size();
  Fill(0, 10);
  for (int i = 0; i < 3000; ++i) DeleteRange(Key(2 * i), Key(2 * i + 1));
  store_.RunUntilIdle();
  EXPECT_GT(store_.FilesOf(".run").size() + store_.FilesOf(".idx").size(), runs_before);
  EXPECT_EQ(Count(), 5);
  EXPECT_EQ(store_.Verify(), "");
}

// A record with valid checksums that this library never writes: an empty or inverted range.
TEST_F(ApiRangeDeletesTest, ForgedRangeInTheLogIsCorruption) {
  for (const char* end : {"m", "a", "z"}) {
    TestStore store;
    store.MustOpen();
    store.Put("key", "value");
    const SequenceNumber next = store.db->GetLatestSequenceNumber() + 1;
    Prng prng(5);
    const SimImage image = store.fs->KillImage(prng);
    store.fs->PowerOff();
    store.db.reset();
    store.fs = std::make_shared<SimFileSystem>(image);
    store.options.file_system = store.fs;

    const std::string log = store.FilesOf(".log").front();
    std::string bytes;
    ASSERT_TRUE(store.fs->probe().ReadContents(log, &bytes).ok());
    const Result<FileHeader> file = DecodeFileHeader(bytes, log);
    ASSERT_TRUE(file.ok());
    RecordHeader record;
    record.op = RecordOp::kDeleteRange;
    record.sequence = next;
    record.key_size = 1;
    record.value_size = 1;
    record.marks = kLastOfBatch;
    record.body_checksum = BodyChecksum("m", end);
    char header[kRecordHeaderSize];
    EncodeRecordHeader(record, file->Seed(), bytes.size(), header);
    std::string appended(header, sizeof header);
    appended += std::string("m") + end;
    appended.resize(record.RecordSize());
    ASSERT_TRUE(store.fs->tampering().WriteContents(log, bytes + appended).ok());
    const Status opened = store.Open();
    if (*end == 'z') {
      EXPECT_TRUE(opened.ok()) << opened.ToString();
      EXPECT_EQ(store.Get("key"), "value");
      EXPECT_EQ(store.db->GetLatestSequenceNumber(), next);
    } else {
      EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
    }
  }
}

// A sync covers range deletes like puts.
TEST_F(ApiRangeDeletesTest, SyncedRangeSurvivesPowerCut) {
  Fill(0, 20);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(store_.db->DeleteRange(sync, Key(5), Key(15)).ok());
  CutPower();
  EXPECT_EQ(Count(), 10);
}

}  // namespace
}  // namespace cambium::testing
