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

TEST(ReportTest, NothingRunNothingReported) { EXPECT_EQ(MakeReport({}), ""); }

}  // namespace
}  // namespace cambium::bench
