#include "report/report.h"

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

TEST(ReportTest, SpeedIsAMedianWithItsSpread) {
  const std::string report = MakeReport({Make("a", 0, "readrandom", 100, 0), Make("a", 0, "readrandom", 3000, 1),
                                         Make("a", 0, "readrandom", 2000, 2)});
  EXPECT_NE(report.find("2,000 +-72%\n"), std::string::npos) << report;  // (3000 - 100) / 2 / 2000
  EXPECT_EQ(report.find(" of a "), std::string::npos) << "no other engine to compare with" << report;
}

// In the second round the machine was ten times as slow for both engines. Medians of the speeds would be 2000 and 500.
TEST(ReportTest, RatiosAreTakenRoundByRound) {
  const std::string report =
      MakeReport({Make("a", 0, "readrandom", 2000, 0), Make("a", 0, "readrandom", 150, 1),
                  Make("a", 0, "readrandom", 3000, 2), Make("b", 0, "readrandom", 2000, 0),
                  Make("b", 0, "readrandom", 100, 1), Make("b", 0, "readrandom", 500, 2)});
  EXPECT_NE(report.find("ops/sec of a : that of\n"), std::string::npos) << report;
  EXPECT_NE(report.find(" 1.50x? (1.00..6.00)\n"), std::string::npos) << report;
}

// If the rounds disagree there is no result.
TEST(ReportTest, RatioWithDisagreeingRoundsIsMarked) {
  const auto compare = [](const std::vector<double>& speeds) {
    std::vector<Result> results;
    for (unsigned round = 0; round < speeds.size(); ++round) {
      results.push_back(Make("a", 0, "readrandom", speeds[round], round));
      results.push_back(Make("b", 0, "readrandom", 1000, round));
    }
    return MakeReport(results);
  };
  const auto has = [](const std::string& report, const char* text) { return report.find(text) != std::string::npos; };
  const char* const explained = "?: the rounds do not agree.";
  const std::string both_sides = compare({1100, 990, 1050});
  EXPECT_TRUE(has(both_sides, " 1.05x? (0.99..1.10)\n")) << both_sides;
  EXPECT_TRUE(has(both_sides, explained)) << both_sides;
  const std::string apart = compare({1500, 2000, 2600});
  EXPECT_TRUE(has(apart, " 2.00x? (1.50..2.60)\n")) << apart;
  EXPECT_TRUE(has(apart, explained)) << apart;
  const std::string agreed = compare({1500, 2000, 2400});
  EXPECT_TRUE(has(agreed, " 2.00x (1.50..2.40)\n")) << agreed;
  EXPECT_FALSE(has(agreed, explained)) << agreed;
  const std::string worse = compare({500, 600, 550});
  EXPECT_TRUE(has(worse, " 0.55x (0.50..0.60)\n")) << worse;
  EXPECT_FALSE(has(compare({1000}), "x?")) << "one round has no other round to differ from";
}

TEST(ReportTest, RoundMissingForOneEngineHasNoRatio) {
  const std::string report = MakeReport({Make("a", 0, "readrandom", 2000, 0), Make("a", 0, "readrandom", 9000, 1),
                                         Make("b", 0, "readrandom", 500, 0)});
  EXPECT_NE(report.find(" 4.00x\n"), std::string::npos) << report;
}

TEST(ReportTest, RatiosAreInvertedIfLessIsBetter) {
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

TEST(ReportTest, P999HasARowAfterP99) {
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

TEST(ReportTest, LongestPutCoversWritesAndTheWriterDuringReads) {
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

TEST(ReportTest, RepeatedBenchmarkHasTwoRows) {
  const std::string report = MakeReport({Make("a", 0, "readrandom", 7), Make("a", 3, "readrandom", 8)});
  EXPECT_NE(report.find("readrandom 2"), std::string::npos) << report;
}

TEST(ReportTest, MissingResultIsADash) {
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

TEST(ReportTest, IndexBytesPerUpdateAreComparedWithTheLaw) {
  const std::string report = MakeReport({WithIndex("lsm", 200)});
  const std::string row = "overwrite               cambium/lsm            240         230        1000       2     3"
                          "           456   the shape\n";
  EXPECT_NE(report.find(row), std::string::npos) << report;
}

// 1000 bytes from the user: where they went, by cause.
Result Counted(const std::string& engine) {
  Result r = Make(engine, 0, "overwrite", 1000);
  r.ops = 10;
  r.threads = 2;
  r.seconds = 5;
  r.user_write_bytes = 1000;
  return r;
}

TEST(ReportTest, BytesByCauseFollowTheirSum) {
  Result ours = Counted("a");
  ours.ledger = WriteLedger{.log = 1100, .flush = 100, .merge = 250, .gc = 1050, .manifest = 4, .log_keeps_values = true};
  Result theirs = Counted("b");
  theirs.ledger = WriteLedger{.log = 1010, .values = 1020, .flush = 30, .merge = 3000};
  const std::string report = MakeReport({ours, theirs, Counted("c")});
  const auto row = [](const std::string& name, const std::string& a, const std::string& b) {
    const auto cell = [](const std::string& text) { return std::string(26 - text.size(), ' ') + text; };
    return "\n" + name + std::string(24 - name.size(), ' ') + cell(a) + cell(b) + cell("-") + "\n";
  };
  for (const std::string& expected : {row("overwrite", "2.50", "5.06"), row("  log", "1.10", "1.01"),
                                      row("  values", "0.00", "1.02"), row("  flush", "0.10", "0.03"),
                                      row("  merge", "0.25", "3.00"), row("  gc", "1.05", "0.00")}) {
    EXPECT_NE(report.find(expected), std::string::npos) << expected << report;
  }
  EXPECT_EQ(report.find("\n  manifest"), std::string::npos) << "it would say 0.00" << report;
  // The post's definition: (1100 + 100 + 250 + 1050) / (1100 + 100), and (1020 + 30 + 3000) / (1020 + 30).
  EXPECT_NE(report.find(row("overwrite", "2.08", "3.86")), std::string::npos) << report;
}

TEST(ReportTest, CountersHaveTables) {
  Result r = Counted("a");
  r.stall_seconds = 2.5;
  r.stall_threads = 2;
  r.cache_hits = 75;
  r.cache_misses = 25;
  r.index_bytes = 3000;
  r.live_keys = 200;
  r.p9999_us = 777;
  r.device = DeviceStats{.reads = 123, .read_bytes = 4560, .writes = 20, .write_bytes = 98760};
  const std::string report = MakeReport({r});
  const auto has = [&report](const std::string& title, const std::string& figure) {
    const std::size_t table = report.find("\n" + title + " ");
    return table != std::string::npos && report.find(" " + figure + "\n", table) < report.find("\n\n", table);
  };
  EXPECT_TRUE(has("stall %", "25.0")) << report;  // 2.5 s of two threads' 10 s
  EXPECT_TRUE(has("cache hit %", "75.0")) << report;
  EXPECT_TRUE(has("index B/key", "15.0")) << report;
  EXPECT_TRUE(has("p99.99 us", "777")) << report;
  EXPECT_TRUE(has("device read B/op", "456")) << report;
  EXPECT_TRUE(has("device reads/op", "12.3")) << report;
  EXPECT_TRUE(has("device written B/op", "9,876")) << report;
  EXPECT_TRUE(has("device writes/op", "2.00")) << report;
}

TEST(ReportTest, StallsAreOfWritingThreads) {
  Result r = Make("a", 0, "readwhilewriting", 1000);
  r.threads = 16;
  r.seconds = 10;
  r.stall_seconds = 1;
  EXPECT_EQ(MakeReport({r}).find("stall %"), std::string::npos) << "no writer ran";
  r.stall_threads = 1;
  const std::string report = MakeReport({r});
  const std::size_t table = report.find("stall %");
  ASSERT_NE(table, std::string::npos) << report;
  EXPECT_NE(report.find(" 10.0\n", table), std::string::npos) << report;
}

TEST(ReportTest, UncountedFiguresHaveNoTableAndNoNote) {
  const std::string report = MakeReport({Counted("a")});
  for (const char* text : {"stall", "Stall", "by cause", "post's", "cache hit", "Cache:", "index B/key", "Index:", "device",
                           "Device:"}) {
    EXPECT_EQ(report.find(text), std::string::npos) << text << "\n" << report;
  }
}

TEST(ReportTest, SingleRoundIsPointedOut) {
  const std::vector<Result> once = {Make("a", 0, "readrandom", 7), Make("b", 0, "readrandom", 8)};
  const std::string report = MakeReport(once);
  EXPECT_NE(report.find("One round:"), std::string::npos) << report;
  EXPECT_EQ(report.find("Medians of all rounds"), std::string::npos) << report;
  std::vector<Result> twice = once;
  twice.push_back(Make("a", 0, "readrandom", 7, 1));
  EXPECT_EQ(MakeReport(twice).find("One round:"), std::string::npos);
  EXPECT_NE(MakeReport(twice).find("Medians of all rounds"), std::string::npos);
}

TEST(ReportTest, NoResultsNoReport) { EXPECT_EQ(MakeReport({}), ""); }

}  // namespace
}  // namespace cambium::bench
