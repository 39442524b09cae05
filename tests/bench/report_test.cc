#include "report.h"

#include <gtest/gtest.h>

namespace cambium::bench {
namespace {

Result Make(const std::string& engine, std::uint64_t step, const std::string& benchmark, double ops_per_sec,
            unsigned round = 0) {
  Result r;
  r.round = round;
  r.engine = engine;
  r.step = step;
  r.benchmark = benchmark;
  r.ops = 1;
  r.ops_per_sec = ops_per_sec;
  return r;
}

TEST(ReportTest, ASpeedIsAMedianWithItsSpread) {
  const std::string report = MakeReport({Make("a", 0, "readrandom", 100, 0), Make("a", 0, "readrandom", 3000, 1),
                                         Make("a", 0, "readrandom", 2000, 2)});
  EXPECT_NE(report.find("2,000 +-72%\n"), std::string::npos) << report;  // (3000 - 100) / 2 / 2000
  EXPECT_EQ(report.find(" of a "), std::string::npos) << "nobody to compare with" << report;
}

// The machine was ten times as slow in the second round, for both: medians of the speeds would be 2000 and 500.
TEST(ReportTest, RatiosAreTakenRoundByRound) {
  const std::string report =
      MakeReport({Make("a", 0, "readrandom", 2000, 0), Make("a", 0, "readrandom", 150, 1),
                  Make("a", 0, "readrandom", 3000, 2), Make("b", 0, "readrandom", 2000, 0),
                  Make("b", 0, "readrandom", 100, 1), Make("b", 0, "readrandom", 500, 2)});
  EXPECT_NE(report.find("ops/sec of a : that of\n"), std::string::npos) << report;
  EXPECT_NE(report.find(" 1.50x (1.00..6.00)\n"), std::string::npos) << report;
}

TEST(ReportTest, ARoundThatOneEngineMissedHasNoRatio) {
  const std::string report = MakeReport({Make("a", 0, "readrandom", 2000, 0), Make("a", 0, "readrandom", 9000, 1),
                                         Make("b", 0, "readrandom", 500, 0)});
  EXPECT_NE(report.find(" 4.00x\n"), std::string::npos) << report;
}

TEST(ReportTest, WhereLessIsBetterTheOthersFigureStandsOnTop) {
  Result ours = Make("a", 0, "overwrite", 1000);
  Result theirs = Make("b", 0, "overwrite", 1000);
  ours.p99_us = 20;
  theirs.p99_us = 50;
  ours.max_us = 3000;
  theirs.max_us = 21000;
  const std::string report = MakeReport({ours, theirs});
  EXPECT_NE(report.find("p99 us of these : that of a\n"), std::string::npos) << report;
  EXPECT_NE(report.find(" 2.50x\n"), std::string::npos) << report;
  EXPECT_NE(report.find("longest put ms of these : that of a\n"), std::string::npos) << report;
  EXPECT_NE(report.find(" 7.00x\n"), std::string::npos) << report;
}

TEST(ReportTest, TheSlowestOfAThousandHasARowBesideTheSlowestOfAHundred) {
  Result puts = Make("a", 0, "fillrandom", 1000);
  puts.p99_us = 46;
  puts.p999_us = 237;
  puts.max_us = 3000;
  const std::string report = MakeReport({puts});
  const std::size_t p99 = report.find("p99 us ");
  const std::size_t p999 = report.find("p99.9 us ");
  ASSERT_NE(p99, std::string::npos) << report;
  ASSERT_NE(p999, std::string::npos) << report;
  EXPECT_LT(p99, p999) << report;
  EXPECT_LT(p999, report.find(" 237\n")) << report;
  Result maintains = Make("a", 0, "compact", 1000);
  maintains.p999_us = 237;
  EXPECT_EQ(MakeReport({maintains}).find("p99.9 us"), std::string::npos) << "its one operation is not a call of many";
}

TEST(ReportTest, TheLongestPutIsThatOfWritesAndOfTheWriterBesideReads) {
  Result reads = Make("a", 0, "readrandom", 1000);
  reads.max_us = 1000;
  Result deletes = Make("a", 1, "deleterandom", 1000);
  deletes.max_us = 1000;
  EXPECT_EQ(MakeReport({reads, deletes}).find("longest put"), std::string::npos);
  Result both = Make("a", 0, "readwhilewriting", 1000);
  both.max_us = 1000;
  both.writer = WriterFigures{.ops = 5, .ops_per_sec = 432, .p99_us = 7, .max_us = 8765};
  const std::string report = MakeReport({both});
  EXPECT_NE(report.find("writer ops/sec"), std::string::npos) << report;
  EXPECT_NE(report.find(" 432\n"), std::string::npos) << report;
  EXPECT_NE(report.find("longest put ms"), std::string::npos) << report;
  EXPECT_NE(report.find(" 8.77\n"), std::string::npos) << report;
}

TEST(ReportTest, ABenchmarkThatComesTwiceHasTwoRows) {
  const std::string report = MakeReport({Make("a", 0, "readrandom", 7), Make("a", 3, "readrandom", 8)});
  EXPECT_NE(report.find("readrandom 2"), std::string::npos) << report;
}

TEST(ReportTest, WhatAnEngineDidNotRunIsADash) {
  const std::string report = MakeReport({Make("a", 0, "fillseq", 7), Make("b", 1, "readseq", 8)});
  EXPECT_NE(report.find("-  "), std::string::npos) << report;
}

Result WithIndex(const std::string& index, double ops_per_sec) {
  Result r = Make("cambium", 0, "overwrite", ops_per_sec);
  r.index = index;
  r.index_figures = IndexFigures{.runs = 3, .run_keys = 456, .updates = 1000, .bytes = 240'000, .law_bytes = 230'000,
                                 .merges = 2, .shape = "the shape"};
  return r;
}

TEST(ReportTest, BothIndexesHaveTheirRatio) {
  const std::string report = MakeReport({WithIndex("btree", 300), WithIndex("lsm", 200)});
  EXPECT_NE(report.find("btree:lsm\n"), std::string::npos) << report;
  EXPECT_NE(report.find(" 200       1.50x\n"), std::string::npos) << report;
  EXPECT_NE(report.find("ops/sec of cambium/btree : that of\n"), std::string::npos) << report;
  EXPECT_NE(report.find("ops/sec of cambium/lsm : that of\n"), std::string::npos) << report;
  EXPECT_EQ(MakeReport({WithIndex("lsm", 200)}).find("btree:lsm"), std::string::npos);
}

TEST(ReportTest, WhatAnUpdateCostTheIndexStandsBesideTheLaw) {
  const std::string report = MakeReport({WithIndex("lsm", 200)});
  const std::string row = "overwrite               cambium/lsm            240         230        1000       2     3"
                          "           456   the shape\n";
  EXPECT_NE(report.find(row), std::string::npos) << report;
}

TEST(ReportTest, NothingRunNothingReported) { EXPECT_EQ(MakeReport({}), ""); }

}  // namespace
}  // namespace cambium::bench
