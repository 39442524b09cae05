// Tests what a trace records, what ends it, and how a reader handles a damaged trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "testing/test_store.h"
#include "trace/trace_format.h"
#include "cambium/trace.h"
#include "util/coding.h"

namespace cambium::testing {
namespace {

constexpr const char* kTracePath = "/trace";

// Returns a record as text, for example "12 write [put a 3]".
std::string TextOf(const TraceRecord& record) {
  static const std::vector<std::string> kOps = {"", "put", "delete", "single_delete", "delete_range", "lookup", "seek"};
  std::string text = std::to_string(record.time_micros);
  switch (record.type) {
    case kTraceWrite: text += record.sync ? " write sync" : " write"; break;
    case kTraceGet: text += " get"; break;
    case kTraceMultiGet: text += " multiget"; break;
    case kTraceIteratorSeek: text += " seek#" + std::to_string(record.scan); break;
    case kTraceIteratorSeekForPrev: text += " for_prev#" + std::to_string(record.scan); break;
    case kTraceIteratorSeekToFirst: text += " to_first#" + std::to_string(record.scan); break;
    case kTraceIteratorSeekToLast: text += " to_last#" + std::to_string(record.scan); break;
    case kTraceIteratorDone:
      text += " done#" + std::to_string(record.scan) + " moves=" + std::to_string(record.moves);
      break;
    case kTraceEnd:
      text += " end records=" + std::to_string(record.records) + " left_out=" + std::to_string(record.left_out) +
              (record.is_full ? " full" : "");
      break;
  }
  for (const TraceOp& op : record.ops) {
    text += " [" + kOps[static_cast<std::size_t>(op.type)];
    if (op.family != 0) text += " cf" + std::to_string(op.family);
    text += " " + op.key.ToString();
    if (op.type == TraceOpType::kDeleteRange) text += ".." + op.end_key.ToString();
    if (op.type == TraceOpType::kPut || op.found) text += " " + std::to_string(op.value_size);
    if (!op.value.empty()) text += "=" + op.value.ToString();
    if (op.type == TraceOpType::kLookup && !op.found) text += " missing";
    text += "]";
  }
  return text;
}

struct ReadTrace {
  std::vector<std::string> records;
  TraceHeader header;
  bool is_whole = false;
  std::uint64_t end = 0;
  Status status;  // OK if the trace ended, for which Read returns Incomplete
};

ReadTrace ReadAll(const std::shared_ptr<FileSystem>& fs, const std::string& path = kTracePath) {
  ReadTrace all;
  std::unique_ptr<TraceReader> reader;
  all.status = NewFileTraceReader(fs, path, &reader);
  if (!all.status.ok()) return all;
  all.header = reader->header();
  TraceRecord record;
  while ((all.status = reader->Read(&record)).ok()) all.records.push_back(TextOf(record));
  if (all.status.IsIncomplete()) all.status = Status();
  all.is_whole = reader->IsWhole();
  all.end = reader->Offset();
  return all;
}

class TraceTest : public ::testing::Test {
 protected:
  void Start(const TraceOptions& options = {}, const std::string& path = kTracePath) {
    const Status s = store_.db->StartTrace(options, path);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::vector<std::string> End() {
    const Status s = store_.db->EndTrace();
    EXPECT_TRUE(s.ok()) << s.ToString();
    ReadTrace all = ReadAll(store_.fs);
    EXPECT_TRUE(all.status.ok()) << all.status.ToString();
    EXPECT_TRUE(all.is_whole);
    return all.records;
  }
  std::string Bytes() {
    std::string bytes;
    EXPECT_TRUE(store_.fs->probe().ReadContents(kTracePath, &bytes).ok());
    return bytes;
  }

  TestStore store_;
};

using Records = std::vector<std::string>;

TEST_F(TraceTest, RecordsWholeWrites) {
  store_.MustOpen();
  store_.Put("before", "x");
  store_.clock->Advance(5000);
  Start();
  store_.clock->Advance(10);
  store_.Put("a", "123", true);
  store_.clock->Advance(10);
  ASSERT_TRUE(store_.db->Delete({}, "a").ok());
  ASSERT_TRUE(store_.db->SingleDelete({}, "b").ok());
  ASSERT_TRUE(store_.db->DeleteRange({}, "c", "f").ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", std::string(700, 'v')).ok());
  ASSERT_TRUE(batch.Delete("l").ok());
  ASSERT_TRUE(batch.SingleDelete("m").ok());
  ASSERT_TRUE(batch.DeleteRange("n", "o").ok());
  ASSERT_TRUE(batch.Put("", "").ok());
  ASSERT_TRUE(store_.db->Write({}, &batch).ok());
  EXPECT_EQ(End(), (Records{"10 write sync [put a 3]", "20 write [delete a]", "20 write [single_delete b]",
                            "20 write [delete_range c..f]",
                            "20 write [put k 700] [delete l] [single_delete m] [delete_range n..o] [put  0]",
                            "20 end records=5 left_out=0"}));
}

TEST_F(TraceTest, RecordsReadsOfPresentAndMissingKeys) {
  store_.MustOpen();
  store_.Put("a", "123");
  store_.Put("big", std::string(5000, 'v'));
  const Snapshot* const snapshot = store_.db->GetSnapshot();
  store_.Put("a", "12345");
  Start();
  EXPECT_EQ(store_.Get("a"), "12345");
  ReadOptions then;
  then.snapshot = snapshot;
  EXPECT_EQ(store_.Get("a", then), "123");
  PinnableSlice pinned;
  ASSERT_TRUE(store_.db->Get({}, "big", &pinned).ok());
  EXPECT_EQ(store_.Get("nothing"), "NotFound");
  std::vector<std::string> values;
  store_.db->MultiGet({}, {"big", "nothing", "a"}, &values);
  // Calls that fail are not recorded, and the trace continues.
  then.durable_only = true;
  EXPECT_NE(store_.Get("a", then), "123");
  EXPECT_TRUE(store_.db->Get({}, nullptr, "a", &pinned).IsInvalidArgument());
  EXPECT_TRUE(store_.db->Put({}, std::string(kMaxKeyBytes + 1, 'k'), "").IsInvalidArgument());
  store_.db->ReleaseSnapshot(snapshot);
  EXPECT_EQ(End(), (Records{"0 get [lookup a 5]", "0 get [lookup a 3]", "0 get [lookup big 5000]",
                            "0 get [lookup nothing missing]",
                            "0 multiget [lookup big 5000] [lookup nothing missing] [lookup a 5]",
                            "0 end records=5 left_out=0"}));
}

TEST_F(TraceTest, RecordsScansWithTheirLengths) {
  store_.MustOpen();
  for (int i = 0; i < 20; ++i) store_.Put(NumberedKey(i), std::string(static_cast<std::size_t>(i) * 40, 'v'));
  Start();
  std::unique_ptr<Iterator> it(store_.db->NewIterator({}));
  it->Seek("k0003");
  for (int i = 0; i < 7; ++i) {
    EXPECT_TRUE(it->Valid());
    EXPECT_EQ(it->value().size(), static_cast<std::size_t>(i + 3) * 40);  // reads ahead, which is not counted as a move
    it->Next();
  }
  it->Prev();  // changes the direction
  store_.clock->Advance(3);
  it->SeekForPrev("k0010x");
  it->Prev();
  it->SeekToFirst();
  it->SeekToLast();
  store_.clock->Advance(2);
  it.reset();
  it.reset(store_.db->NewIterator({}));  // never moved
  it.reset();
  EXPECT_EQ(End(), (Records{"0 seek#1 [seek k0003]", "3 done#1 moves=8", "3 for_prev#2 [seek k0010x]", "3 done#2 moves=1",
                            "3 to_first#3 [seek ]", "3 done#3 moves=0", "3 to_last#4 [seek ]", "5 done#4 moves=0",
                            "5 end records=8 left_out=0"}));
}

TEST_F(TraceTest, ScanThatOutlivesItsTraceHasNoDoneRecord) {
  store_.MustOpen();
  store_.Put("a", "1");
  store_.Put("b", "1");
  Start();
  std::unique_ptr<Iterator> it(store_.db->NewIterator({}));
  it->Seek("a");
  EXPECT_EQ(End(), (Records{"0 seek#1 [seek a]", "0 end records=1 left_out=0"}));
  it->Next();
  Start({}, "/second");
  it->SeekToFirst();
  it->Next();
  it.reset();
  ASSERT_TRUE(store_.db->EndTrace().ok());
  EXPECT_EQ(ReadAll(store_.fs, "/second").records,
            (Records{"0 to_first#1 [seek ]", "0 done#1 moves=1", "0 end records=2 left_out=0"}));
}

TEST_F(TraceTest, RecordsTheColumnFamily) {
  store_.MustOpen();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store_.db->CreateColumnFamily(store_.options, "other", &other).ok());
  Start();
  ASSERT_TRUE(store_.db->Put({}, other, "a", "22").ok());
  ASSERT_TRUE(store_.db->DeleteRange({}, other, "b", "c").ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("d", "1").ok());
  ASSERT_TRUE(batch.Put(other, "d", "333").ok());
  ASSERT_TRUE(store_.db->Write({}, &batch).ok());
  std::string value;
  ASSERT_TRUE(store_.db->Get({}, other, "d", &value).ok());
  std::vector<std::string> values;
  store_.db->MultiGet({}, {store_.db->DefaultColumnFamily(), other}, {"d", "a"}, &values);
  std::unique_ptr<Iterator> it(store_.db->NewIterator({}, other));
  it->Seek("d");
  it->SeekToLast();
  it.reset();
  EXPECT_EQ(End(), (Records{"0 write [put cf1 a 2]", "0 write [delete_range cf1 b..c]", "0 write [put d 1] [put cf1 d 3]",
                            "0 get [lookup cf1 d 3]", "0 multiget [lookup d 1] [lookup cf1 a 2]",
                            "0 seek#1 [seek cf1 d]", "0 done#1 moves=0", "0 to_last#2 [seek cf1 ]", "0 done#2 moves=0",
                            "0 end records=9 left_out=0"}));
  ASSERT_TRUE(store_.db->DestroyColumnFamilyHandle(other).ok());
}

TEST_F(TraceTest, ValuesAreRecordedOnRequest) {
  store_.MustOpen();
  TraceOptions options;
  options.include_values = true;
  options.preserve_write_order = true;
  Start(options);
  store_.Put("a", "one");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("b", "two").ok());
  ASSERT_TRUE(batch.Put("c", "").ok());
  ASSERT_TRUE(store_.db->Write({}, &batch).ok());
  store_.Get("a");
  EXPECT_EQ(End(), (Records{"0 write [put a 3=one]", "0 write [put b 3=two] [put c 0]", "0 get [lookup a 3]",
                            "0 end records=3 left_out=0"}));
  const TraceHeader header = ReadAll(store_.fs).header;
  EXPECT_TRUE(header.include_values);
  EXPECT_TRUE(header.preserve_write_order);
  EXPECT_EQ(header.wall_seconds, store_.clock->WallSeconds());
}

TEST_F(TraceTest, FilteredOperationsAreNotRecorded) {
  store_.MustOpen();
  const std::vector<std::pair<std::uint64_t, std::string>> kKinds = {
      {kTraceFilterGet, " get"}, {kTraceFilterWrite, " write"}, {kTraceFilterIteratorSeek, " seek"},
      {kTraceFilterIteratorSeekForPrev, " for_prev"}, {kTraceFilterMultiGet, " multiget"}};
  for (const auto& [filter, name] : kKinds) {
    TraceOptions options;
    options.filter = filter;
    const std::string path = "/filtered" + std::to_string(filter);
    Start(options, path);
    store_.Put("a", "1");
    store_.Get("a");
    std::vector<std::string> values;
    store_.db->MultiGet({}, {"a"}, &values);
    const std::unique_ptr<Iterator> it(store_.db->NewIterator({}));
    it->Seek("a");
    it->SeekToFirst();
    it->SeekForPrev("a");
    it->SeekToLast();
    it->Prev();
    ASSERT_TRUE(store_.db->EndTrace().ok());
    const ReadTrace all = ReadAll(store_.fs, path);
    std::string text;
    for (const std::string& record : all.records) text += record + "\n";
    for (const auto& [other, its_name] : kKinds) {
      EXPECT_EQ(text.find(its_name) == std::string::npos, other == filter) << text;
    }
    EXPECT_EQ(text.find("to_first") == std::string::npos, filter == kTraceFilterIteratorSeek) << text;
    EXPECT_EQ(text.find("to_last") == std::string::npos, filter == kTraceFilterIteratorSeekForPrev) << text;
    EXPECT_EQ(all.header.filter, filter);
  }
}

TEST_F(TraceTest, SamplingRecordsEveryNthOperationThatPassesTheFilter) {
  store_.MustOpen();
  TraceOptions options;
  options.sampling_frequency = 4;
  options.filter = kTraceFilterWrite;
  Start(options);
  for (int i = 1; i <= 12; ++i) {
    store_.Put("w", "x");
    store_.Get(NumberedKey(i));
  }
  for (int i = 0; i < 4; ++i) {
    const std::unique_ptr<Iterator> it(store_.db->NewIterator({}));
    it->Seek(std::to_string(i));
    it->Next();
  }
  EXPECT_EQ(End(), (Records{"0 get [lookup k0004 missing]", "0 get [lookup k0008 missing]", "0 get [lookup k0012 missing]",
                            "0 seek#1 [seek 3]", "0 done#1 moves=1", "0 end records=5 left_out=0"}));
}

TEST_F(TraceTest, EndsBeforeItsFileExceedsTheSizeLimit) {
  store_.MustOpen();
  TraceOptions options;
  options.max_trace_file_size = 5000;
  Start(options);
  for (int i = 0; i < 1000; ++i) store_.Put(NumberedKey(i), "v");
  const Records records = End();
  EXPECT_LE(Bytes().size(), 5000u);
  EXPECT_GT(Bytes().size(), 4900u);
  ASSERT_GT(records.size(), 100u);
  EXPECT_EQ(records.back(), "0 end records=" + std::to_string(records.size() - 1) + " left_out=0 full");
  // A new trace can be started.
  Start({}, "/second");
  EXPECT_TRUE(store_.db->EndTrace().ok());
}

TEST_F(TraceTest, RejectsIllegalOptions) {
  store_.MustOpen();
  EXPECT_TRUE(store_.db->EndTrace().IsNotFound());
  TraceOptions options;
  options.sampling_frequency = 0;
  EXPECT_TRUE(store_.db->StartTrace(options, kTracePath).IsInvalidArgument());
  options = {};
  options.max_trace_file_size = 4095;
  EXPECT_TRUE(store_.db->StartTrace(options, kTracePath).IsInvalidArgument());
  options = {};
  options.filter = 32;
  EXPECT_TRUE(store_.db->StartTrace(options, kTracePath).IsInvalidArgument());
  EXPECT_TRUE(store_.db->StartTrace({}, std::unique_ptr<TraceWriter>()).IsInvalidArgument());
  EXPECT_FALSE(store_.db->StartTrace({}, "/no/such/directory").ok());
  EXPECT_EQ(store_.FilesOf("trace").size(), 0u);
  Start();
  const Status second = store_.db->StartTrace({}, "/second");
  EXPECT_TRUE(second.IsBusy()) << second.ToString();
  EXPECT_EQ(store_.FilesOf("second").size(), 0u);
  End();
  EXPECT_FALSE(store_.db->StartTrace({}, kTracePath).ok()) << "a file that exists is never written over";
}

TEST_F(TraceTest, ReadOnlyDatabaseCanBeTraced) {
  store_.MustOpen();
  store_.Put("a", "1");
  store_.MustClose();
  ASSERT_TRUE(DB::OpenForReadOnly(store_.options, kStorePath, &store_.db).ok());
  Start();
  EXPECT_EQ(store_.Get("a"), "1");
  EXPECT_TRUE(store_.db->Put({}, "b", "").IsNotSupported());
  EXPECT_EQ(End(), (Records{"0 get [lookup a 1]", "0 end records=1 left_out=0"}));
}

TEST_F(TraceTest, CloseEndsTheTrace) {
  store_.MustOpen();
  Start();
  store_.Put("a", "1");
  store_.MustClose();
  const ReadTrace all = ReadAll(store_.fs);
  EXPECT_TRUE(all.is_whole);
  EXPECT_EQ(all.records, (Records{"0 write [put a 1]", "0 end records=1 left_out=0"}));
}

// Draws many power cuts. A prefix of a running trace survives; after EndTrace, the whole trace survives.
TEST_F(TraceTest, PowerCutLeavesAPrefixOfARunningTraceAndAllOfAnEndedOne) {
  store_.MustOpen();
  Start();
  for (int i = 0; i < 5000; ++i) store_.Put(NumberedKey(i), "v");  // more than the buffer holds
  const SimImage running = store_.fs->Snapshot();
  const Records all = End();
  const SimImage ended = store_.fs->Snapshot();
  Prng prng(11);
  bool was_torn = false;
  for (int round = 0; round < 40; ++round) {
    const ReadTrace torn = ReadAll(std::make_shared<SimFileSystem>(running.DrawCrash(prng)));
    if (torn.status.ok()) {
      EXPECT_FALSE(torn.is_whole);
      ASSERT_LT(torn.records.size(), all.size());
      EXPECT_TRUE(std::equal(torn.records.begin(), torn.records.end(), all.begin()));
      was_torn = was_torn || !torn.records.empty();
    } else {  // the header or the name was lost
      EXPECT_TRUE(torn.status.IsCorruption() || torn.status.IsPathNotFound()) << torn.status.ToString();
    }
    const ReadTrace whole = ReadAll(std::make_shared<SimFileSystem>(ended.DrawCrash(prng)));
    EXPECT_TRUE(whole.is_whole);
    EXPECT_EQ(whole.records, all);
  }
  EXPECT_TRUE(was_torn);
}

// If a call on the trace's file fails, no call of the user fails, and EndTrace returns the error.
TEST_F(TraceTest, ErrorEndsTheTraceAndFailsNoCall) {
  for (const SimOpKind kind : {SimOpKind::kCreate, SimOpKind::kWrite, SimOpKind::kSync}) {
    for (std::uint64_t nth = 1; nth <= (kind == SimOpKind::kWrite ? 4u : 1u); ++nth) {
      SCOPED_TRACE(std::string(SimOpName(kind)) + " " + std::to_string(nth));
      TestStore store;
      store.MustOpen();
      SimFault fault;
      fault.kind = kind;
      fault.matches = [](SimOpKind, const std::string& path) { return path == kTracePath; };
      fault.nth = nth;
      fault.status = Status::NoSpace("injected");
      store.fs->AddFault(fault);
      const Status started = store.db->StartTrace({}, kTracePath);
      const bool fails_at_start = kind == SimOpKind::kCreate || (kind == SimOpKind::kWrite && nth == 1);
      EXPECT_EQ(started.ok(), !fails_at_start) << started.ToString();
      for (int i = 0; i < 3000; ++i) store.Put(NumberedKey(i % 7), std::string(20, 'v'));
      for (int i = 0; i < 5000; ++i) EXPECT_EQ(store.Get(NumberedKey(i % 7)), std::string(20, 'v'));
      const Status ended = store.db->EndTrace();
      EXPECT_TRUE(fails_at_start ? ended.IsNotFound() : ended.IsNoSpace()) << ended.ToString();
      EXPECT_TRUE(store.db->EndTrace().IsNotFound());
      EXPECT_EQ(store.Property("background-errors"), 0u);
      if (kind == SimOpKind::kWrite && nth > 1) {
        const ReadTrace all = ReadAll(store.fs);
        EXPECT_FALSE(all.is_whole);
        EXPECT_TRUE(all.status.ok()) << all.status.ToString();
      }
      store.MustClose();
    }
  }
}

// Makes the trace that the tests below damage.
class DamagedTraceTest : public TraceTest {
 protected:
  void SetUp() override {
    store_.MustOpen();
    Start();
    for (int i = 0; i < 6; ++i) store_.Put(NumberedKey(i), std::string(static_cast<std::size_t>(i), 'v'));
    store_.Get("k0001");
    {
      const std::unique_ptr<Iterator> it(store_.db->NewIterator({}));
      it->Seek("k0002");
      it->Next();
    }
    records_ = End();
    bytes_ = Bytes();
  }
  ReadTrace Damaged(const std::string& bytes) {
    EXPECT_TRUE(store_.fs->tampering().WriteContents("/damaged", bytes).ok());
    return ReadAll(store_.fs, "/damaged");
  }
  // Expects that the records read are a prefix of those written.
  void ExpectPrefix(const ReadTrace& read) {
    ASSERT_LT(read.records.size(), records_.size());
    EXPECT_EQ(read.records, Records(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(read.records.size())));
    EXPECT_FALSE(read.is_whole);
  }

  Records records_;
  std::string bytes_;
};

TEST_F(DamagedTraceTest, CutTraceEndsAfterItsLastWholeRecord) {
  std::size_t longest = 0;
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    SCOPED_TRACE(size);
    const ReadTrace read = Damaged(bytes_.substr(0, size));
    if (size < kTraceHeaderSize) {
      EXPECT_TRUE(read.status.IsCorruption()) << read.status.ToString();
      EXPECT_NE(read.status.ToString().find("/damaged:0"), std::string::npos) << read.status.ToString();
      continue;
    }
    EXPECT_TRUE(read.status.ok()) << read.status.ToString();
    ExpectPrefix(read);
    EXPECT_LE(read.end, size);
    longest = std::max(longest, read.records.size());
  }
  EXPECT_EQ(longest, records_.size() - 1);
}

TEST_F(DamagedTraceTest, FlippedBitEndsTheTrace) {
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    SCOPED_TRACE(at);
    std::string bytes = bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    const ReadTrace read = Damaged(bytes);
    if (at < kTraceHeaderSize) {
      EXPECT_TRUE(read.status.IsCorruption() || read.status.IsNotSupported()) << read.status.ToString();
    } else {
      EXPECT_TRUE(read.status.ok()) << read.status.ToString();
      ExpectPrefix(read);
      EXPECT_LE(read.end, at);
    }
  }
}

// Swaps two records of the same length: a record validates only at its own offset.
TEST_F(DamagedTraceTest, MisplacedRecordDoesNotValidate) {
  const std::size_t size = kTraceRecordHeaderSize + DecodeFixed<std::uint32_t>(bytes_.data() + kTraceHeaderSize + 8);
  std::string bytes = bytes_;
  std::swap_ranges(bytes.begin() + kTraceHeaderSize, bytes.begin() + static_cast<std::ptrdiff_t>(kTraceHeaderSize + size),
                   bytes.begin() + static_cast<std::ptrdiff_t>(kTraceHeaderSize + size));
  EXPECT_TRUE(Damaged(bytes).records.empty());
}

TEST_F(DamagedTraceTest, LaterVersionIsNotSupported) {
  std::string bytes = bytes_;
  bytes[8] = 2;
  EXPECT_TRUE(Damaged(bytes).status.IsNotSupported());
}

TEST_F(DamagedTraceTest, BytesAfterTheEndRecordAreNotRead) {
  const ReadTrace read = Damaged(bytes_ + bytes_.substr(kTraceHeaderSize));
  EXPECT_TRUE(read.is_whole);
  EXPECT_EQ(read.records, records_);
}

TEST_F(DamagedTraceTest, FailedReadIsAnErrorAndNotTheEnd) {
  std::unique_ptr<TraceReader> reader;
  ASSERT_TRUE(NewFileTraceReader(store_.fs, kTracePath, &reader).ok());
  TraceRecord record;
  ASSERT_TRUE(reader->Read(&record).ok());
  ASSERT_TRUE(reader->Reset().ok());
  ASSERT_TRUE(reader->Read(&record).ok());
  EXPECT_EQ(TextOf(record), records_.front());
  ASSERT_TRUE(reader->Close().ok());
  EXPECT_TRUE(reader->Read(&record).IsInvalidArgument());
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  store_.fs->AddFault(fault);
  EXPECT_TRUE(NewFileTraceReader(store_.fs, kTracePath, &reader).IsIOError());
}

// A body with a right checksum may still be malformed if a hostile program wrote it. Decoding must reject it.
TEST(TraceFormatTest, CutOrTooLongBodyIsMalformed) {
  TraceRecord record;
  record.type = kTraceWrite;
  for (const TraceOpType type : {TraceOpType::kPut, TraceOpType::kDelete, TraceOpType::kDeleteRange}) {
    TraceOp& op = record.ops.emplace_back();
    op.type = type;
    op.family = 300;
    op.key = "key";
    op.end_key = "l";
    op.value = "value";
    op.value_size = 5;
  }
  for (const bool values : {false, true}) {
    const std::string body = EncodeTraceBody(record, values);
    TraceRecord read;
    EXPECT_TRUE(DecodeTraceBody(body, kTraceWrite, values, &read));
    EXPECT_EQ(TextOf(read), "0 write [put cf300 key 5" + std::string(values ? "=value" : "") +
                                "] [delete cf300 key] [delete_range cf300 key..l]");
    for (std::size_t size = 0; size < body.size(); ++size) {
      EXPECT_FALSE(DecodeTraceBody({body.data(), size}, kTraceWrite, values, &read)) << size;
    }
    EXPECT_FALSE(DecodeTraceBody(body + "x", kTraceWrite, values, &read));
    EXPECT_FALSE(DecodeTraceBody(body, kTraceGet, values, &read));
    EXPECT_FALSE(DecodeTraceBody(body, static_cast<TraceType>(99), values, &read));
  }
}

}  // namespace
}  // namespace cambium::testing
