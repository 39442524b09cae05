#include "report.h"

#include <gtest/gtest.h>

namespace cambium::bench {
namespace {

Result Make(const std::string& engine, std::uint64_t step, const std::string& benchmark, double ops_per_sec) {
  Result r;
  r.engine = engine;
  r.step = step;
  r.benchmark = benchmark;
  r.ops = 1;
  r.ops_per_sec = ops_per_sec;
  return r;
}

TEST(ReportTest, RatioIsTheFirstEnginesMedianByTheOthers) {
  const std::string report = MakeReport({Make("a", 0, "readrandom", 100), Make("a", 0, "readrandom", 3000),
                                         Make("a", 0, "readrandom", 2000), Make("b", 0, "readrandom", 1000)});
  EXPECT_NE(report.find("2,000 +-72%   1.00x"), std::string::npos) << report;  // (3000 - 100) / 2 / 2000
  EXPECT_NE(report.find("1,000   2.00x"), std::string::npos) << report;
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
  EXPECT_NE(report.find("200   1.50x       1.50x\n"), std::string::npos) << report;
  EXPECT_EQ(MakeReport({WithIndex("lsm", 200)}).find("btree:lsm"), std::string::npos);
}

TEST(ReportTest, WhatAnUpdateCostTheIndexStandsBesideTheLaw) {
  const std::string report = MakeReport({WithIndex("lsm", 200)});
  const std::string row = "overwrite         cambium/lsm            240         230        1000       2     3"
                          "           456   the shape\n";
  EXPECT_NE(report.find(row), std::string::npos) << report;
}

TEST(ReportTest, NothingRunNothingReported) { EXPECT_EQ(MakeReport({}), ""); }

}  // namespace
}  // namespace cambium::bench
