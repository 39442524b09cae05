// Traces as text: each operation is read back as it was written, and the error for a wrong line gives the reason. Also
// tests how scans are joined with their ends in traces that the library records.
#include "trace/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "trace/trace_format.h"
#include "cambium/db.h"
#include "testing/temp_directory.h"
#include "trace/source.h"
#include "util/coding.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

TEST(TraceTextTest, KeysRoundTrip) {
  Prng prng(1);
  std::vector<std::string> keys = {"", "-", "--", "\\", "\\x41", " ", "#", "plain_key:17"};
  for (int i = 0; i < 200; ++i) keys.push_back(prng.Bytes(prng.Uniform(20)));
  for (const std::string& key : keys) {
    TracedOp op;
    op.key = key;
    TracedOp read;
    const std::string line = ToTraceLine(op);
    const Status parsed = ParseTraceLine(line, &read);
    ASSERT_TRUE(parsed.ok()) << line << ": " << parsed.ToString();
    EXPECT_EQ(read, op) << line;
  }
  EXPECT_EQ(EscapedKey("plain_key:17"), "plain_key:17");
  EXPECT_EQ(EscapedKey(std::string("a b\0", 4)), "a\\x20b\\x00");
}

TEST(TraceTextTest, OperationsRoundTrip) {
  Prng prng(2);
  for (int i = 0; i < 3000; ++i) {
    TracedOp op;
    op.micros = prng.Skewed(60);
    op.kind = static_cast<TracedKind>(prng.Uniform(kTracedKinds.size()));
    if (prng.OneIn(3)) op.family = static_cast<std::uint32_t>(prng.Next());
    if (op.kind != TracedKind::kSeekToFirst) op.key = prng.Bytes(prng.Uniform(12));
    if (op.kind == TracedKind::kDeleteRange) op.end_key = prng.Bytes(prng.Uniform(12));
    if (op.kind == TracedKind::kPut || (op.IsLookup() && prng.OneIn(2))) op.value_size = prng.Skewed(31);
    if (op.IsScan() && prng.OneIn(2)) op.scan_length = prng.Skewed(20);
    op.sync = op.IsWrite() && prng.OneIn(2);
    op.more = !op.IsScan() && prng.OneIn(2);
    TracedOp read;
    const std::string line = ToTraceLine(op);
    const Status parsed = ParseTraceLine(line, &read);
    ASSERT_TRUE(parsed.ok()) << line << ": " << parsed.ToString();
    ASSERT_EQ(read, op) << line;
  }
}

TEST(TraceTextTest, MalformedLineIsCorruptionWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"1 get key 5", "fewer than five"}, {"x get key 5 0", "no time"}, {"-1 get key 5 0", "no time"},
      {"1 got key 5 0", "unknown operation \"got\""}, {"1 get \\x4 5 0", "no key"}, {"1 get \\y41 5 0", "no key"},
      {"1 get key five 0", "value"}, {"1 seek key 0 x", "scan"}, {"1 put key -1 0", "without a length"},
      {"1 put key 4294967296 0", "too long"}, {"1 get key 5 0 sync", "unknown word"},
      {"1 seek key 0 5 more", "unknown word"}, {"1 get key 5 0 family=x", "no family"},
      {"1 get key 5 0 what", "unknown word \"what\""}};
  for (const auto& [line, why] : wrong) {
    TracedOp op;
    const Status parsed = ParseTraceLine(line, &op);
    EXPECT_TRUE(parsed.IsCorruption()) << line;
    EXPECT_NE(parsed.ToString().find(why), std::string::npos) << parsed.ToString();
  }
}

class TraceSourceTest : public ::testing::Test {
 protected:
  static std::vector<std::string> LinesOf(const std::string& path, TraceFacts* facts, std::size_t window = kTraceWindow) {
    std::vector<std::string> lines;
    std::unique_ptr<TraceSource> source;
    Status status = OpenTrace(path, &source, window);
    EXPECT_TRUE(status.ok()) << status.ToString();
    if (!status.ok()) return lines;
    TracedOp op;
    while ((status = source->Next(&op)).ok()) {
      op.micros = 0;  // depends on the clock
      lines.push_back(ToTraceLine(op));
    }
    EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
    *facts = source->facts();
    return lines;
  }
  void Record() {
    Options options;
    options.create_if_missing = true;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, directory_.File("db"), &db).ok());
    ASSERT_TRUE(db->StartTrace({}, path_).ok());
    ASSERT_TRUE(db->Put({}, "a", "123").ok());
    std::unique_ptr<Iterator> outer(db->NewIterator({}));
    std::unique_ptr<Iterator> open(db->NewIterator({}));
    outer->Seek("a");
    open->SeekToFirst();
    std::string value;
    ASSERT_TRUE(db->Get({}, "none", &value).IsNotFound());
    WriteBatch batch;
    WriteOptions synced;
    synced.sync = true;
    ASSERT_TRUE(batch.Put("b", "4567").ok() && batch.DeleteRange("x", "y").ok());
    ASSERT_TRUE(db->Write(synced, &batch).ok());
    outer->Next();
    outer.reset();
    std::vector<std::string> values;
    db->MultiGet({}, {"a", "none"}, &values);
    ASSERT_TRUE(db->EndTrace().ok());
    open.reset();
    ASSERT_TRUE(db->Close().ok());
  }

  const testing::TempDirectory directory_;
  const std::string path_ = directory_.File("trace");
};

const std::vector<std::string> kRecorded = {"0 put a 3 0", "0 seek a 0 1", "0 seek_to_first - 0 -1", "0 get none -1 0",
                                            "0 put b 4 0 sync more", "0 delete_range x 0 0 end=y sync",
                                            "0 multiget a 3 0 more", "0 multiget none -1 0"};

TEST_F(TraceSourceTest, ScansAreJoinedWithTheirEnds) {
  Record();
  TraceFacts facts;
  EXPECT_EQ(LinesOf(path_, &facts), kRecorded);
  EXPECT_TRUE(facts.is_whole);
  EXPECT_FALSE(facts.is_text);
  EXPECT_EQ(facts.open_scans, 1u);
  EXPECT_GT(facts.wall_seconds, 1'600'000'000u);
}

// With a window of one, nothing waits: a scan whose end is not the next record is passed on without its length.
TEST_F(TraceSourceTest, ScanLongerThanTheWindowHasNoLength) {
  Record();
  std::vector<std::string> expected = kRecorded;
  expected[1] = "0 seek a 0 -1";
  TraceFacts facts;
  EXPECT_EQ(LinesOf(path_, &facts, 1), expected);
  EXPECT_EQ(facts.open_scans, 2u);
}

TEST_F(TraceSourceTest, TextReadsLikeItsRecording) {
  Record();
  const std::string text = directory_.File("text");
  {
    std::ofstream out(text);
    out << kTraceTextTitle << "\n\n";
    for (const std::string& line : kRecorded) out << line << "\n";
  }
  TraceFacts facts;
  EXPECT_EQ(LinesOf(text, &facts), kRecorded);
  EXPECT_TRUE(facts.is_text);
  EXPECT_EQ(facts.open_scans, 1u);
}

TEST_F(TraceSourceTest, ErrorsNameFileAndLine) {
  const std::string text = directory_.File("text");
  std::ofstream(text) << "# title\n1 get key 5 0\n2 get key\n";
  std::unique_ptr<TraceSource> source;
  ASSERT_TRUE(OpenTrace(text, &source).ok());
  TracedOp op;
  ASSERT_TRUE(source->Next(&op).ok());
  const Status second = source->Next(&op);
  EXPECT_TRUE(second.IsCorruption());
  EXPECT_NE(second.ToString().find(text + ":3"), std::string::npos) << second.ToString();
  EXPECT_FALSE(OpenTrace(directory_.File("none"), &source).ok());
}

TEST_F(TraceSourceTest, TruncatedTraceIsNotWhole) {
  Record();
  std::ifstream in(path_, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  bytes.resize(bytes.size() - 5);
  const std::string cut = directory_.File("cut");
  std::ofstream(cut, std::ios::binary) << bytes;
  TraceFacts facts;
  EXPECT_EQ(LinesOf(cut, &facts), kRecorded);
  EXPECT_FALSE(facts.is_whole);
  EXPECT_LT(facts.end_offset, bytes.size());
}

// Makes a file with valid checksums that no Tracer writes. A number n in `scans` stands for a seek of scan n, -n for
// the end of scan n. The end of scan 0 comes last.
class ForgedTraceTest : public TraceSourceTest {
 protected:
  void Forge(const std::vector<int>& scans) {
    std::string bytes = EncodeTraceHeader({}, 17);
    const std::uint64_t seed = DecodeFixed<std::uint64_t>(bytes.data() + kTraceHeaderSize - 8);
    const auto append = [&](TraceType type, Slice body) { AppendTraceRecord(&bytes, seed, bytes.size(), type, body); };
    for (const int scan : scans) {
      TraceRecord record;
      record.type = scan < 0 ? kTraceIteratorDone : kTraceIteratorSeekToFirst;
      record.scan = static_cast<std::uint64_t>(std::abs(scan));
      record.moves = 7;
      record.ops.resize(1);
      offsets_.push_back(bytes.size());
      append(record.type, EncodeTraceBody(record, false));
    }
    append(kTraceIteratorDone, Slice("\0\0\7", 3));
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  std::vector<std::uint64_t> offsets_;
};

// Regression: a waiting seek with the number 0 was taken for one whose end was already read, so its entry in the map of
// open scans stayed after the seek was passed on. The end of scan 0 then wrote to memory before the first waiting
// operation.
TEST_F(ForgedTraceTest, ScanWithNumberZeroEndsTheTrace) {
  Forge({1, -1, 0, 2, -2});
  TraceFacts facts;
  EXPECT_EQ(LinesOf(path_, &facts), std::vector<std::string>{"0 seek_to_first - 0 7"});
  EXPECT_FALSE(facts.is_whole);
  EXPECT_EQ(facts.end_offset, offsets_[2]);
}

TEST_F(ForgedTraceTest, EndOfScanZeroEndsTheTrace) {
  Forge({1, -1});
  TraceFacts facts;
  EXPECT_EQ(LinesOf(path_, &facts), std::vector<std::string>{"0 seek_to_first - 0 7"});
  EXPECT_FALSE(facts.is_whole);
  EXPECT_LT(facts.end_offset, std::filesystem::file_size(path_));
}

TEST_F(ForgedTraceTest, ConcurrentScansWithTheSameNumberAreCorruption) {
  Forge({5, 6, 5, -5, -5});
  std::unique_ptr<TraceSource> source;
  ASSERT_TRUE(OpenTrace(path_, &source).ok());
  TracedOp op;
  const Status status = source->Next(&op);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find(path_ + ":" + std::to_string(offsets_[2]) + ": scan 5"), std::string::npos)
      << status.ToString();
}

// The end of a scan has no effect if its seek was already passed on, or if it has no seek.
TEST_F(ForgedTraceTest, EndsOfUnknownScansAreIgnored) {
  Forge({-9, 1, -1, -1, 2, -2});
  TraceFacts facts;
  EXPECT_EQ(LinesOf(path_, &facts), std::vector<std::string>(2, "0 seek_to_first - 0 7"));
  EXPECT_EQ(facts.open_scans, 0u);
  EXPECT_EQ(LinesOf(path_, &facts, 1), std::vector<std::string>(2, "0 seek_to_first - 0 -1"));
  EXPECT_EQ(facts.open_scans, 2u);
}

}  // namespace
}  // namespace cambium::bench
