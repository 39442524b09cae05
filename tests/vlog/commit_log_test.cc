#include "vlog/commit_log.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <new>
#include <thread>

#include "testing/mutant_scope.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"
#include "util/fault_point.h"
#include "vlog/vlog_test_util.h"

namespace cambium::testing {
namespace {

// Makes segments as WriteHead does, but without a MANIFEST: the object keeps what a MANIFEST would record.
class FakeSource final : public SegmentSource {
 public:
  explicit FakeSource(SimFileSystem* fs) : fs_(fs) {}

  Result<std::shared_ptr<Segment>> NextSegment(const SegmentEnd* failed) override {
    if (!refuse.ok()) return refuse;
    if (failed != nullptr) ends[failed->segment->number()] = failed->length;
    if (ready_ == nullptr) MakeReady();
    return std::move(ready_);
  }
  // Makes the next segment ahead, so that NextSegment allocates nothing.
  void MakeReady() {
    making = true;
    ready_ = MakeSegment(fs_, next_, static_cast<Slot>(next_));
    making = false;
    numbers.push_back(next_++);
  }

  Status refuse;
  bool making = false;  // true while the header of a new segment is written
  std::map<std::uint64_t, std::uint64_t> ends;  // of segments whose write failed
  std::vector<std::uint64_t> numbers;

 private:
  SimFileSystem* fs_;
  std::shared_ptr<Segment> ready_;
  std::uint64_t next_ = 1;
};

// A log with all that it needs. One thread.
struct Log {
  explicit Log(std::uint64_t segment_bytes, SimOptions options = {})
      : fs(options), source(&fs), log(&source, segment_bytes, {}, 0, &published) {}

  Status Put(const std::string& key, const std::string& value) {
    PreparedBatch batch({.separate_from = 64});
    batch.Put(0, key, value);
    CommitLog::Position position;
    const SequenceNumber first = published.load() + 1;
    const Status s = log.Append(&batch, first, &position);
    if (s.ok()) published.store(first);
    return s;
  }

  SimFileSystem fs;
  FakeSource source;
  std::atomic<SequenceNumber> published{0};
  CommitLog log;
};

// Returns the sequence number up to which the log in `image` is whole. Reads it as recovery does: along the links, up
// to the first missing record.
SequenceNumber Recovered(const SimImage& image, const FakeSource& source) {
  SimFileSystem fs(image);
  SequenceNumber last = 0;
  SegmentLink expected;
  for (std::size_t i = 0; i < source.numbers.size(); ++i) {
    const std::uint64_t number = source.numbers[i];
    if (fs.probe().InodeOf(PathOf(number)) == 0) return last;
    std::uint64_t limit = ~std::uint64_t{0};
    if (const auto end = source.ends.find(number); end != source.ends.end()) limit = end->second;
    if (limit <= kFileHeaderSize) continue;  // its first write failed
    ScanResult end = ScanResult::kEnd;
    const auto records = ScanAll(&fs, PathOf(number), HeaderOf(number).Seed(), limit, &end);
    if (records.empty()) return last;
    SegmentLink link;
    EXPECT_TRUE(records[0].header.op == RecordOp::kLink && DecodeSegmentLink(records[0].value, &link));
    if (link.number != expected.number || link.last_sequence != last) return last;
    if (link.number != 0 && link.length != expected.length) return last;
    for (std::size_t r = 1; r < records.size(); ++r) {
      if (records[r].header.sequence != last + 1) return last;
      ++last;
    }
    expected = {number, records.back().offset + records.back().header.RecordSize(), last};
  }
  return last;
}

SimImage CutLosingAll(const SimFileSystem& fs) {
  Prng prng(1);
  return fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost));
}

TEST(CommitLogTest, BatchesAreRecoveredInOrderAcrossRotations) {
  Prng prng(SeedFromEnvironment(41));
  Log log(16 << 10);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(log.Put(std::to_string(i), prng.Bytes(prng.Skewed(11))).ok());
  EXPECT_GT(log.source.numbers.size(), 3u);
  ASSERT_TRUE(log.log.Sync().ok());
  EXPECT_EQ(log.log.durable_sequence(), 400u);
  EXPECT_EQ(Recovered(CutLosingAll(log.fs), log.source), 400u);
}

TEST(CommitLogTest, RotatedSegmentHasItsEndAndAMatchingFooter) {
  Log log(16 << 10);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(log.Put(std::to_string(i), std::string(i % 2 == 0 ? 10 : 1000, 'v')).ok());
  SequenceNumber before = 0;
  std::size_t listed = 0;
  for (const RotatedSegment& rotated : log.log.TakeRotated()) {
    const Segment& segment = *rotated.end.segment;
    EXPECT_GE(rotated.end.length, 16u << 10);
    EXPECT_GT(rotated.end.last_sequence, before);
    before = rotated.end.last_sequence;
    ASSERT_TRUE(segment.file().Write(rotated.end.length, rotated.footer).ok());
    const Status read = ReadSegmentFooter(segment.file(), segment.seed(), kFileHeaderSize, rotated.end.length,
                                          rotated.end.length + rotated.footer.size(), [&](const FooterEntry& entry) {
                                            ++listed;
                                            EXPECT_GE(entry.size, 1000u);
                                            return Status::OK();
                                          });
    EXPECT_TRUE(read.ok()) << read.ToString();
  }
  EXPECT_GT(listed, 30u);
  EXPECT_TRUE(log.log.TakeRotated().empty());
}

// Calls Sync, runs `during` inside its first fdatasync of a segment, and returns the status of Sync.
Status SyncWith(Log* log, const std::function<void()>& during) {
  bool done = false;
  const int hook = log->fs.AddHook([&](const SimOp& op) {
    if (op.kind != SimOpKind::kSync || op.phase != SimPhase::kInside || done) return;
    done = true;
    during();
  });
  const Status s = log->log.Sync();
  log->fs.RemoveHook(hook);
  EXPECT_TRUE(done);
  return s;
}

// Rule D1: a sync does not cover what is published while it runs.
bool SyncPromisesTooMuch() {
  Log log(1 << 20);
  EXPECT_TRUE(log.Put("a", "1").ok());
  EXPECT_TRUE(SyncWith(&log, [&] { EXPECT_TRUE(log.Put("b", "2").ok()); }).ok());
  return Recovered(CutLosingAll(log.fs), log.source) < log.log.durable_sequence();
}

TEST(CommitLogTest, SyncCoversOnlyEarlierPublishedOperations) {
  EXPECT_FALSE(SyncPromisesTooMuch());
  const MutantScope mutant(Mutant::kSyncClaimsLaterWrites);
  EXPECT_TRUE(SyncPromisesTooMuch());
}

// Rule D2: a put and a rotation happen inside the fdatasync of the segment; then a put in the next segment is synced.
bool RotationInsideASyncLosesSomething() {
  Log log(16 << 10);
  EXPECT_TRUE(log.Put("0", std::string(100, 'v')).ok());
  EXPECT_TRUE(SyncWith(&log, [&] {
                EXPECT_TRUE(log.Put("1", std::string(20 << 10, 'v')).ok());
                EXPECT_TRUE(log.Put("2", "v").ok());  // in the next segment
              }).ok());
  EXPECT_EQ(log.source.numbers.size(), 2u);
  EXPECT_TRUE(log.log.Sync().ok());
  EXPECT_EQ(log.log.durable_sequence(), 3u);
  return Recovered(CutLosingAll(log.fs), log.source) < 3;
}

TEST(CommitLogTest, RotationInsideAnFdatasyncLosesNothing) {
  EXPECT_FALSE(RotationInsideASyncLosesSomething());
  const MutantScope mutant(Mutant::kEarlierSyncMarksSegmentClean);
  EXPECT_TRUE(RotationInsideASyncLosesSomething());
}

// Hazard H4: an unsynced write in segment A, a rotation, a synced write in B.
bool SyncForgetsTheSegmentBefore() {
  Log log(16 << 10);
  EXPECT_TRUE(log.Put("a", std::string(20 << 10, 'v')).ok());
  EXPECT_TRUE(log.Put("b", "v").ok());
  EXPECT_EQ(log.source.numbers.size(), 2u);
  EXPECT_TRUE(log.log.SyncUpTo(2).ok());
  return Recovered(CutLosingAll(log.fs), log.source) < 2;
}

TEST(CommitLogTest, SyncCoversRotatedSegments) {
  EXPECT_FALSE(SyncForgetsTheSegmentBefore());
  const MutantScope mutant(Mutant::kForgetRotatedSegment);
  EXPECT_TRUE(SyncForgetsTheSegmentBefore());
}

// Hazard H62: one Sync() covers several segments, and the power is cut after each fdatasync in it. Each fdatasync must
// extend the prefix that recovery finds: newer bytes without the older ones are a hole. Returns how many fdatasyncs do
// not extend the prefix.
int SyncsThatLeaveAHole(std::vector<std::string>* synced) {
  Log log(16 << 10);
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(log.Put("k", std::string(1000, 'v')).ok());
  EXPECT_GT(log.source.numbers.size(), 2u);
  int holes = 0;
  SequenceNumber before = 0;
  log.fs.AddHook([&](const SimOp& op) {
    if (op.kind != SimOpKind::kSync || op.phase != SimPhase::kAfter) return;
    synced->emplace_back(op.path);
    const SequenceNumber whole = Recovered(CutLosingAll(log.fs), log.source);
    if (whole <= before) ++holes;
    before = whole;
  });
  EXPECT_TRUE(log.log.Sync().ok());
  EXPECT_EQ(synced->size(), log.source.numbers.size());
  EXPECT_TRUE(log.log.Sync().ok());  // nothing is dirty
  EXPECT_EQ(synced->size(), log.source.numbers.size());
  return holes;
}

TEST(CommitLogTest, SegmentsAreSyncedInTheOrderOfTheLog) {
  std::vector<std::string> synced;
  EXPECT_EQ(SyncsThatLeaveAHole(&synced), 0);
  for (std::size_t i = 0; i < synced.size(); ++i) EXPECT_EQ(synced[i], PathOf(i + 1));
  synced.clear();
  const MutantScope mutant(Mutant::kSyncNewestFirst);
  EXPECT_GT(SyncsThatLeaveAHole(&synced), 0);
}

// Rule F5: after a failed fdatasync the page cache cannot be trusted. A second one would return OK, but the data is
// lost.
bool AFailedSyncIsForgotten() {
  Log log(1 << 20);
  EXPECT_TRUE(log.Put("a", "1").ok());
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  log.fs.AddFault(fault);
  const Status first = log.log.Sync();
  const Status second = log.log.Sync();
  if (first.ok() || second.ok()) return Recovered(CutLosingAll(log.fs), log.source) < 1;
  EXPECT_EQ(first.severity(), Status::Severity::kFatal);
  EXPECT_EQ(second.ToString(), first.ToString());
  EXPECT_EQ(log.Put("b", "2").ToString(), first.ToString());
  EXPECT_EQ(log.log.failure().ToString(), first.ToString());
  EXPECT_EQ(log.log.sync_count(), 1u);
  return false;
}

TEST(CommitLogTest, FailedSyncIsStickyAndNeverRetried) {
  EXPECT_FALSE(AFailedSyncIsForgotten());
  const MutantScope mutant(Mutant::kRetryFailedSync);
  EXPECT_TRUE(AFailedSyncIsForgotten());
}

// Hazard H13: if two fdatasyncs of one file overlap, the kernel reports a failed write-back to only one of them. Here
// the seal of a segment gets the error; a Sync that began meanwhile, and needs the same segment, must not return OK.
bool ASyncOverlapsAFailedOne() {
  Log log(16 << 10);
  EXPECT_TRUE(log.Put("a", std::string(20 << 10, 'v')).ok());
  EXPECT_TRUE(log.Put("b", "v").ok());  // in the next segment
  const std::vector<RotatedSegment> rotated = log.log.TakeRotated();
  EXPECT_EQ(rotated.size(), 1u);
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  log.fs.AddFault(fault);

  std::atomic<bool> waits{false};
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) == "CommitLog:wait") waits.store(true);
  });
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  Status answer;
  std::thread other;
  log.fs.AddHook([&](const SimOp& op) {
    if (op.kind != SimOpKind::kSync || op.phase != SimPhase::kInside || begun.exchange(true)) return;
    other = std::thread([&] {
      answer = log.log.Sync();
      ended.store(true);
    });
    while (!waits.load() && !ended.load()) std::this_thread::yield();
  });
  EXPECT_FALSE(log.log.SyncRotated(rotated[0].end.segment).ok());
  other.join();
  FaultPoints::Instance().Set(nullptr);
  return answer.ok();
}

TEST(CommitLogTest, TwoSyncsOfOneFileNeverOverlap) {
  EXPECT_FALSE(ASyncOverlapsAFailedOne());
  const MutantScope mutant(Mutant::kSyncsOverlap);
  EXPECT_TRUE(ASyncOverlapsAFailedOne());
}

// No database writes so many operations, but a forged MANIFEST may claim that it has.
TEST(CommitLogTest, AppendFailsWhenSequenceNumbersRunOut) {
  SimFileSystem fs;
  FakeSource source(&fs);
  EXPECT_EQ(kMaxSequenceNumber, (std::uint64_t{1} << 56) - 1);  // the figure in docs/LIMITS.md
  SegmentEnd end;
  end.last_sequence = kMaxSequenceNumber - 1;
  std::atomic<SequenceNumber> published{end.last_sequence};
  CommitLog log(&source, 1 << 20, end, end.last_sequence, &published);
  CommitLog::Position position;
  PreparedBatch two({.separate_from = 64});
  two.Put(0, "a", "1");
  two.Put(0, "b", "2");
  EXPECT_TRUE(log.Append(&two, kMaxSequenceNumber, &position).IsNotSupported());
  PreparedBatch one({.separate_from = 64});
  one.Put(0, "c", "3");
  EXPECT_TRUE(log.Append(&one, kMaxSequenceNumber, &position).ok());
  EXPECT_TRUE(log.Append(&one, kMaxSequenceNumber + 1, &position).IsNotSupported());
}

// Hazard H14: with delayed allocation it is the sync that reports a full disk, and the pages are lost then, too.
bool SyncWithoutSpaceLosesSomething() {
  Log log(1 << 20);
  EXPECT_TRUE(log.Put("a", "1").ok());
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  fault.status = Status::NoSpace("injected");
  log.fs.AddFault(fault);
  const Status first = log.log.Sync();
  EXPECT_FALSE(first.ok());
  if (first.severity() == Status::Severity::kFatal && !log.Put("b", "2").ok()) return false;
  // There is space again: the second sync returns OK.
  return log.log.Sync().ok() && Recovered(CutLosingAll(log.fs), log.source) < log.log.durable_sequence();
}

TEST(CommitLogTest, NoSpaceFromASyncIsFatal) {
  EXPECT_FALSE(SyncWithoutSpaceLosesSomething());
  const MutantScope mutant(Mutant::kNoSpaceSyncIsNotFatal);
  EXPECT_TRUE(SyncWithoutSpaceLosesSomething());
}

// Hazard H15: a write fails half-way, then writes succeed, then a sync. All successful writes must be recovered.
bool HalfRecordLosesWritesAfterIt(std::uint64_t short_bytes, int writes_before) {
  Log log(1 << 20);
  for (int i = 0; i < writes_before; ++i) EXPECT_TRUE(log.Put("before", std::string(100, 'b')).ok());
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [&](SimOpKind, const std::string&) { return !log.source.making; };
  fault.short_bytes = short_bytes;
  log.fs.AddFault(fault);
  EXPECT_TRUE(log.Put("failed", std::string(200, 'f')).IsIOError());
  EXPECT_EQ(log.log.failure().code(), Status::Code::kOk);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(log.Put("after", std::string(100, 'a')).ok());
  EXPECT_TRUE(log.log.Sync().ok());
  return Recovered(CutLosingAll(log.fs), log.source) != static_cast<SequenceNumber>(writes_before) + 3;
}

TEST(CommitLogTest, NothingIsAppendedAfterAHalfRecord) {
  for (const int before : {0, 1, 4}) {
    for (std::uint64_t bytes = 0; bytes < 340; bytes += 20) {
      EXPECT_FALSE(HalfRecordLosesWritesAfterIt(bytes, before)) << bytes << " landed, " << before << " before";
    }
  }
  const MutantScope mutant(Mutant::kAppendAfterHalfRecord);
  EXPECT_TRUE(HalfRecordLosesWritesAfterIt(100, 1));
}

std::uint64_t BytesOf(const SimFileSystem& fs, std::uint64_t segment) {
  for (const auto& file : fs.probe().ListFiles()) {
    if (file.path == PathOf(segment)) return file.size;
  }
  return 0;
}

// The bytes of a failed write may have filled the disk. They are cut off, and the log continues in another segment.
TEST(CommitLogTest, FailedWriteKeepsNoSpace) {
  const auto keeps_space = [](std::size_t bytes) {
    Log log(64 << 20);
    EXPECT_TRUE(log.Put("a", "1").ok());
    const std::uint64_t before = BytesOf(log.fs, 1);
    SimFault fault;
    fault.kind = SimOpKind::kWrite;
    fault.short_bytes = bytes / 2;
    log.fs.AddFault(fault);
    EXPECT_FALSE(log.Put("b", std::string(bytes, 'b')).ok());
    const bool has_more = BytesOf(log.fs, 1) > before;
    EXPECT_TRUE(log.Put("c", "3").ok());
    EXPECT_TRUE(log.log.Sync().ok());
    EXPECT_EQ(Recovered(CutLosingAll(log.fs), log.source), 2u);
    return has_more;
  };
  EXPECT_FALSE(keeps_space(10'000));
  EXPECT_FALSE(keeps_space(4 << 20));
  const MutantScope mutant(Mutant::kKeepFailedBatch);
  EXPECT_TRUE(keeps_space(10'000));
}

// A large batch takes its space before its first byte. Without space nothing is written, and the segment takes further
// appends.
TEST(CommitLogTest, LargeBatchWithoutSpaceWritesNothing) {
  Log log(64 << 20);
  ASSERT_TRUE(log.Put("a", "1").ok());
  const std::uint64_t before = BytesOf(log.fs, 1);
  log.fs.SetQuota(log.fs.probe().allocated_bytes() + (3 << 20));
  EXPECT_TRUE(log.Put("b", std::string(4 << 20, 'b')).IsNoSpace());
  EXPECT_EQ(BytesOf(log.fs, 1), before);
  EXPECT_LE(log.fs.probe().allocated_bytes(), before + kFileHeaderSize + 8192);
  EXPECT_TRUE(log.Put("c", std::string(2 << 20, 'c')).ok());
  EXPECT_EQ(log.source.numbers.size(), 1u);
  EXPECT_TRUE(log.log.Sync().ok());
  EXPECT_EQ(Recovered(CutLosingAll(log.fs), log.source), 2u);
}

TEST(CommitLogTest, NextSegmentSealsSegmentWithFailedWrite) {
  Log log(1 << 20);
  ASSERT_TRUE(log.Put("a", "1").ok());
  const std::uint64_t tail = log.log.tail().offset;
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.short_bytes = 30;
  log.fs.AddFault(fault);
  ASSERT_FALSE(log.Put("b", "2").ok());
  ASSERT_TRUE(log.Put("c", "3").ok());
  EXPECT_EQ(log.source.ends, (std::map<std::uint64_t, std::uint64_t>{{1, tail}}));
  EXPECT_TRUE(log.log.TakeRotated().empty());  // already sealed
}

// As long as no next segment is available, nothing is appended. Once there is one, the log continues.
TEST(CommitLogTest, BrokenSegmentIsUnchangedUntilANextSegmentIsAvailable) {
  Log log(1 << 20);
  ASSERT_TRUE(log.Put("a", "1").ok());
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.short_bytes = 30;
  log.fs.AddFault(fault);
  ASSERT_FALSE(log.Put("b", "2").ok());
  log.source.refuse = Status::NoSpace("full");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(log.Put("c", "3").IsNoSpace());
  EXPECT_TRUE(log.log.Sync().ok());
  log.source.refuse = Status::OK();
  EXPECT_TRUE(log.Put("d", "4").ok());
  EXPECT_TRUE(log.log.Sync().ok());
  EXPECT_EQ(Recovered(CutLosingAll(log.fs), log.source), 2u);
}

// After any power cut, recovery finds at least what a sync acknowledged.
TEST(CommitLogTest, EveryPowerCutKeepsSyncedOperations) {
  const std::uint64_t seed = SeedFromEnvironment(43);
  for (std::uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Prng prng(seed + round);
    Log log(16 << 10);
    for (int i = 0; i < 120; ++i) {
      if (prng.OneIn(12)) {
        SimFault fault;
        fault.kind = SimOpKind::kWrite;
        fault.matches = [&](SimOpKind, const std::string&) { return !log.source.making; };
        fault.short_bytes = prng.Uniform(200);
        log.fs.AddFault(fault);
      }
      static_cast<void>(log.Put(std::to_string(i), prng.Bytes(prng.Skewed(12))));
      if (prng.OneIn(6)) {
        log.fs.ClearFaults();
        ASSERT_TRUE(log.log.Sync().ok());
      }
      if (!prng.OneIn(4)) continue;
      const SequenceNumber found = Recovered(log.fs.DrawCrash(prng), log.source);
      ASSERT_GE(found, log.log.durable_sequence());
      ASSERT_LE(found, log.published.load() + 1);  // a failed write may still be whole
    }
  }
}

std::uint64_t SizeOf(Log& log) {
  FileInfo info;
  EXPECT_TRUE(log.fs.GetInfo(PathOf(log.source.numbers.back()), &info).ok());
  return info.size;
}

// Counts the pieces by which the log's file has grown ahead: writes that are longer than a record of these tests.
struct GrowthCounter {
  explicit GrowthCounter(SimFileSystem* fs) {
    fs->AddHook([this](const SimOp& op) {
      if (op.kind != SimOpKind::kWrite || op.length <= 8192) return;
      if (op.phase == SimPhase::kBefore) ++begun;
      if (op.phase == SimPhase::kAfter && op.status->ok()) ++grown;
    });
  }
  int begun = 0;
  int grown = 0;
};

// A sync of a file that has grown also writes metadata. So the file grows ahead, once for many syncs: by little while
// the log is small, and not at all if syncs are rare.
TEST(CommitLogTest, FileGrowsAheadOfFrequentSyncs) {
  Log log(std::uint64_t{64} << 20);
  GrowthCounter growth(&log.fs);
  const std::string value(1000, 'v');
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(log.Put("k", value).ok());
    ASSERT_TRUE(log.log.Sync().ok());
  }
  EXPECT_EQ(SizeOf(log), log.log.tail().offset) << "40 KB, and no space ahead";
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(log.Put("k", value).ok());
    ASSERT_TRUE(log.log.Sync().ok());
  }
  EXPECT_GT(growth.grown, 2);
  EXPECT_LT(growth.grown, 15);
  EXPECT_GT(SizeOf(log), log.log.tail().offset);
  EXPECT_LE(SizeOf(log), log.log.tail().offset + (1u << 20));
  EXPECT_EQ(SizeOf(log) % 4096, 0u) << "no page is zeroed in two parts";
  // The space ahead is not part of the log.
  EXPECT_EQ(Recovered(log.fs.Snapshot(), log.source), 2040u);
  EXPECT_EQ(Recovered(CutLosingAll(log.fs), log.source), 2040u);
  log.log.TrimTail();
  EXPECT_EQ(SizeOf(log), log.log.tail().offset);
  // Unsynced records do not make the file grow ahead, except once: by the growth that the earlier syncs caused.
  const int before = growth.grown;
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(log.Put("k", value).ok());
  EXPECT_LE(growth.grown, before + 1);
  EXPECT_EQ(SizeOf(log), log.log.tail().offset);
}

// Where each sync has much to write, zeros ahead of it would double the bytes, and save little.
TEST(CommitLogTest, FileDoesNotGrowAheadOfLongBatches) {
  Log log(std::uint64_t{64} << 20);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(log.Put("k", std::string(256u << 10, 'v')).ok());
    ASSERT_TRUE(log.log.Sync().ok());
    ASSERT_EQ(SizeOf(log), log.log.tail().offset) << i;
  }
}

// A batch that takes its space before it is written is not written as zeros first, however many syncs there were.
TEST(CommitLogTest, LargeBatchIsWrittenOnce) {
  Log log(std::uint64_t{64} << 20);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(log.Put("k", std::string(1000, 'v')).ok());
    ASSERT_TRUE(log.log.Sync().ok());
  }
  std::uint64_t written = 0;
  log.fs.AddHook([&](const SimOp& op) {
    if (op.kind == SimOpKind::kWrite && op.phase == SimPhase::kBefore) written += op.length;
  });
  constexpr std::size_t kSize = 4u << 20;
  ASSERT_TRUE(log.Put("k", std::string(kSize, 'v')).ok());
  EXPECT_LT(written, kSize + 4096);
}

// The last piece ends with the segment, so the records at the end of a small segment have space ahead too.
TEST(CommitLogTest, FileGrowsAheadUpToTheEndOfTheSegment) {
  constexpr std::uint64_t kSegmentBytes = 1u << 20;
  Log log(kSegmentBytes);
  std::uint64_t longest = 0;
  while (log.source.numbers.size() < 3) {
    ASSERT_TRUE(log.Put("k", std::string(1000, 'v')).ok());
    ASSERT_TRUE(log.log.Sync().ok());
    longest = std::max(longest, SizeOf(log));
    if (log.log.tail().offset < kSegmentBytes) {
      ASSERT_LE(SizeOf(log), kSegmentBytes);
    }
    if (log.log.tail().offset > kSegmentBytes - 8192) {
      ASSERT_GE(SizeOf(log), kSegmentBytes);
    }
  }
  EXPECT_GE(longest, kSegmentBytes);
}

// There may be no space to grow ahead, but still some for the record.
TEST(CommitLogTest, FileThatCannotGrowAheadIsStillWritten) {
  Log log(std::uint64_t{64} << 20);
  GrowthCounter growth(&log.fs);
  for (int i = 0; i < 100; ++i) {
    if (i == 60) log.fs.SetQuota(SizeOf(log) + (50u << 10));
    ASSERT_TRUE(log.Put("k", std::string(1000, 'v')).ok()) << i;
    ASSERT_TRUE(log.log.Sync().ok());
  }
  EXPECT_GT(growth.begun, 0);
  EXPECT_EQ(growth.grown, 0);
  EXPECT_EQ(SizeOf(log), log.log.tail().offset);
}

// The n-th allocation of a put fails, for every n, in the middle of a segment and where the next one begins. The log
// still takes puts. The record of the failed put is in the log or not; if it is, no later record overwrites it.
// (Regression: an exception after the write left the tail where it was.)
TEST(CommitLogTest, AppendWithoutMemoryLeavesTheLogWhole) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  for (const bool rotates : {false, true}) {
    std::uint64_t met = 1;
    for (std::uint64_t n = 0; met != 0; ++n) {
      SCOPED_TRACE("allocation " + std::to_string(n) + (rotates ? ", in a new segment" : ""));
      Log log(16 << 10);
      ASSERT_TRUE(log.Put("before", std::string(rotates ? 20 << 10 : 1000, 'b')).ok());
      if (rotates) log.source.MakeReady();
      const std::string key(300, 'k');  // more than the footer has room for
      const std::string value(1000, 'v');
      PreparedBatch batch({.separate_from = 64});
      for (int i = 0; i < 3; ++i) batch.Put(0, key, value);
      CommitLog::Position position;
      bool is_in = false;
      {
        ScarceMemory scarce(n);
        try {
          is_in = log.log.Append(&batch, 2, &position).ok();
        } catch (const std::bad_alloc&) {
        }
        met = scarce.End();
      }
      if (is_in) log.published.store(4);
      EXPECT_TRUE(is_in || met != 0);
      for (int i = 0; i < 20; ++i) ASSERT_TRUE(log.Put("after", std::string(1000, 'a')).ok());
      ASSERT_TRUE(log.log.Sync().ok());
      ASSERT_EQ(Recovered(CutLosingAll(log.fs), log.source), log.published.load());
      for (const RotatedSegment& rotated : log.log.TakeRotated()) {
        const Segment& segment = *rotated.end.segment;
        ASSERT_TRUE(segment.file().Write(rotated.end.length, rotated.footer).ok());
        const Status read = ReadSegmentFooter(segment.file(), segment.seed(), kFileHeaderSize, rotated.end.length,
                                              rotated.end.length + rotated.footer.size(),
                                              [](const FooterEntry&) { return Status::OK(); });
        ASSERT_TRUE(read.ok()) << read.ToString();
      }
    }
  }
}

// The n-th allocation of a sync fails, or the sync itself fails and there is no memory for the message. The next sync
// must not wait for the first for ever, and must not return OK.
TEST(CommitLogTest, SyncWithoutMemoryReturnsAndFailsTheNextSync) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  for (const bool of_rotated : {false, true}) {
    for (const bool fails : {false, true}) {
      std::uint64_t met = 1;
      for (std::uint64_t n = 0; met != 0; ++n) {
        SCOPED_TRACE("allocation " + std::to_string(n));
        Log log(16 << 10);
        for (int i = 0; i < 2; ++i) ASSERT_TRUE(log.Put("a", std::string(20 << 10, 'v')).ok());
        const std::vector<RotatedSegment> rotated = log.log.TakeRotated();
        ASSERT_EQ(rotated.size(), 1u);
        SimFault fault;
        fault.kind = SimOpKind::kSync;
        if (fails) log.fs.AddFault(fault);
        bool is_synced = false;
        {
          ScarceMemory scarce(n);
          try {
            is_synced = (of_rotated ? log.log.SyncRotated(rotated[0].end.segment) : log.log.Sync()).ok();
          } catch (const std::bad_alloc&) {
          }
          met = scarce.End();
        }
        const bool was_asked = log.log.sync_count() > 0;
        const Status then = log.log.Sync();
        EXPECT_FALSE(is_synced && fails);
        EXPECT_TRUE(!fails || !was_asked || then.severity() == Status::Severity::kFatal) << then.ToString();
        EXPECT_TRUE(!then.ok() || Recovered(CutLosingAll(log.fs), log.source) == 2u);
      }
    }
  }
}

// The file's sync may throw for lack of memory: that of PosixFile opens another file.
TEST(CommitLogTest, SyncOfAFileThatRunsOutOfMemoryIsFatal) {
  for (const bool of_rotated : {false, true}) {
    Log log(16 << 10);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(log.Put("a", std::string(20 << 10, 'v')).ok());
    const std::vector<RotatedSegment> rotated = log.log.TakeRotated();
    log.fs.AddHook([&](const SimOp& op) {
      if (op.kind == SimOpKind::kSync && op.phase == SimPhase::kInside) throw std::bad_alloc();
    });
    const Status first = of_rotated ? log.log.SyncRotated(rotated[0].end.segment) : log.log.Sync();
    EXPECT_EQ(first.severity(), Status::Severity::kFatal) << first.ToString();
    EXPECT_EQ(log.log.Sync().ToString(), first.ToString());
    EXPECT_EQ(log.log.SyncRotated(rotated[0].end.segment).ToString(), first.ToString());
    EXPECT_EQ(log.Put("b", "2").ToString(), first.ToString());
    EXPECT_EQ(log.log.sync_count(), 1u);
  }
}

TEST(CommitLogTest, BatchLargerThanASegmentIsRejected) {
  constexpr std::size_t kSize = std::size_t{1} << 30;
  void* const zeros = ::mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  SimOptions options;
  options.quota_bytes = 1 << 20;
  Log log(1 << 20, options);
  // A batch of 16 values, which have this size together.
  const auto append = [&](std::size_t size) {
    PreparedBatch batch({});
    for (int i = 0; i < 16; ++i) batch.Put(0, "k", Slice(static_cast<const char*>(zeros), size / 16));
    CommitLog::Position position;
    return log.log.Append(&batch, log.published.load() + 1, &position);
  };
  EXPECT_TRUE(append(kSize - 200).IsInvalidArgument());
  EXPECT_TRUE(append(kSize - 2000).IsNoSpace()) << "a segment could take it, but the disk has no space";
  EXPECT_TRUE(log.Put("k", "v").ok());
  ::munmap(zeros, kSize);
}

}  // namespace
}  // namespace cambium::testing
