// Tests that this version writes the bytes of the golden trace, and reads it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cambium/trace.h"
#include "golden/golden_trace.h"

namespace cambium::testing {
namespace {

const std::string kPath = std::string(CAMBIUM_GOLDEN_DIRECTORY) + "/v1/every_record.trace";

TEST(TraceGoldenTest, ThisVersionWritesTheBytesOfTheTrace) {
  std::ifstream in(kPath, std::ios::binary);
  ASSERT_TRUE(in.good()) << kPath;
  std::stringstream golden;
  golden << in.rdbuf();
  EXPECT_TRUE(WriteGoldenTrace() == golden.str());
}

TEST(TraceGoldenTest, ThisVersionReadsTheTrace) {
  std::unique_ptr<TraceReader> reader;
  const Status opened = NewFileTraceReader(nullptr, kPath, &reader);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_EQ(reader->header().wall_seconds, 1'700'000'000u);
  EXPECT_EQ(reader->header().sampling_frequency, 1u);
  struct Expected {
    TraceType type;
    std::uint64_t micros;
    std::string keys;
  };
  const std::vector<Expected> expected = {
      {kTraceWrite, 1, "pear "}, {kTraceWrite, 201, "apple plum fig q..r "}, {kTraceGet, 70'201, "pear "},
      {kTraceGet, 70'201, "quince "}, {kTraceMultiGet, 70'201, "pear fig "}, {kTraceIteratorSeek, 70'201, "b "},
      {kTraceIteratorDone, 70'201, ""}, {kTraceIteratorSeekForPrev, 70'201, "b "}, {kTraceIteratorDone, 70'201, ""},
      {kTraceIteratorSeekToFirst, 70'201, " "}, {kTraceIteratorDone, 5'070'201, ""},
      {kTraceIteratorSeekToLast, 5'070'201, " "}, {kTraceIteratorDone, 5'070'201, ""}, {kTraceEnd, 5'070'201, ""}};
  for (const Expected& each : expected) {
    TraceRecord record;
    const Status read = reader->Read(&record);
    ASSERT_TRUE(read.ok()) << read.ToString();
    std::string keys;
    for (const TraceOp& op : record.ops) {
      keys += op.key.ToString() + (op.end_key.empty() ? "" : ".." + op.end_key.ToString()) + " ";
    }
    EXPECT_EQ(record.type, each.type);
    EXPECT_EQ(record.time_micros, each.micros);
    EXPECT_EQ(keys, each.keys);
    if (record.type == kTraceEnd) {
      EXPECT_EQ(record.records, expected.size() - 1);
    }
  }
  EXPECT_TRUE(reader->IsWhole());
}

}  // namespace
}  // namespace cambium::testing
