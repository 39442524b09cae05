#include "inspect/space_report.h"

#include <gtest/gtest.h>

#include "inspect/inspected_store.h"

namespace cambium::testing::space_report_test {
namespace {

constexpr int kKeyCount = 400;

// Overwritten separated values, inline ones, and a tail.
void Fill(InspectedStore* store) {
  store->MustOpen();
  for (int i = 0; i < kKeyCount; ++i) store->Put(NumberedKey(i), std::string(i % 2 == 0 ? 200 : 20, 'v'));
  store->Flush();
  for (int i = 0; i < kKeyCount; i += 4) store->Put(NumberedKey(i), std::string(150, 'w'));
  store->Compact();
  store->RunUntilIdle();
  store->Put("tail", std::string(100, 't'));
  store->MustClose();
}

std::vector<std::string> KeysOf(const ValueSample& sample) {
  std::vector<std::string> keys;
  for (const ValueSampleEntry& entry : sample.by_family.at(0)) keys.push_back(entry.key);
  return keys;
}

TEST(SizeHistogramTest, BucketsAreSignificantBits) {
  SizeHistogram sizes;
  for (const std::uint64_t size : {0, 1, 2, 3, 4, 255, 256}) sizes.Add(size);
  EXPECT_EQ(sizes.counts[0], 1u);
  EXPECT_EQ(sizes.counts[1], 1u);
  EXPECT_EQ(sizes.counts[2], 2u);
  EXPECT_EQ(sizes.bytes[2], 5u);
  EXPECT_EQ(sizes.counts[8], 1u);
  EXPECT_EQ(sizes.counts[9], 1u);
  EXPECT_EQ(sizes.count(), 7u);
  EXPECT_EQ(sizes.total(), 521u);
}

TEST(InspectSpaceReportTest, PartsOfASegmentAddUpToItsFile) {
  InspectedStore store;
  Fill(&store);
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  ValueSample sample;
  std::uint64_t done = 0;
  std::uint64_t all = 0;
  const auto progress = [&](std::uint64_t its_done, std::uint64_t its_all) {
    EXPECT_GE(its_done, done);
    done = its_done;
    all = its_all;
  };
  const Result<SpaceReport> report = ReportSpace(database.get(), &sample, progress);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(done, all);
  std::uint64_t dead = 0;
  std::uint64_t pending = 0;
  for (const SegmentSpace& segment : report->segments) {
    ASSERT_TRUE(segment.is_readable);
    EXPECT_EQ(segment.file_bytes, segment.live_bytes + segment.dead_bytes + segment.pending_bytes +
                                      segment.overhead_bytes + segment.hole_bytes + segment.unused_bytes)
        << segment.info.number;
    EXPECT_EQ(segment.hidden_bytes(), 0u);
    dead += segment.dead_bytes;
    pending += segment.pending_bytes;
  }
  EXPECT_GT(dead, 0u);
  EXPECT_GT(pending, 0u);
  ASSERT_EQ(report->families.size(), 1u);
  const FamilySpace& family = report->families[0];
  EXPECT_TRUE(family.is_whole);
  EXPECT_EQ(family.keys, kKeyCount + 1u);
  EXPECT_EQ(family.inline_values, kKeyCount / 2u);
  EXPECT_EQ(family.separated_values, kKeyCount / 2u);
  EXPECT_EQ(family.not_flushed, 1u);
  EXPECT_EQ(family.key_sizes.count(), family.keys);
  EXPECT_EQ(family.separated_bytes, family.account_bytes);
  EXPECT_EQ(report->orphan_bytes, 0u);
}

TEST(InspectSpaceReportTest, SampleIsRepeatable) {
  InspectedStore store;
  Fill(&store);
  std::vector<std::string> first;
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<InspectedDatabase> database = store.Inspect();
    ASSERT_NE(database, nullptr);
    ValueSample sample;
    ASSERT_TRUE(ReportSpace(database.get(), &sample, nullptr).ok());
    const std::vector<std::string> keys = KeysOf(sample);
    EXPECT_EQ(keys.size(), std::min<std::size_t>(kKeyCount / 2, ValueSample::kValues));
    if (i == 0) first = keys;
    EXPECT_EQ(keys, first);
  }
}

TEST(InspectSpaceReportTest, DamageIsAProblemAndTheLogIsStillMeasured) {
  InspectedStore store;
  Fill(&store);
  store.DamageAllPages();
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  ValueSample sample;
  const Result<SpaceReport> report = ReportSpace(database.get(), &sample, nullptr);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_FALSE(database->problems().empty());
  EXPECT_FALSE(report->families.at(0).is_whole);
  for (const SegmentSpace& segment : report->segments) EXPECT_TRUE(segment.is_readable);
}

}  // namespace
}  // namespace cambium::testing::space_report_test
