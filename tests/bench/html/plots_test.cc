#include "html/plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/html/sample_results.h"
#include "html/draw.h"
#include "html/page.h"
#include "presets/preset.h"
#include "space/law.h"

namespace cambium::bench {
namespace {

const LineChart& Lines(const Plot& plot) { return std::get<LineChart>(plot.chart); }
const BarChart& Bars(const Plot& plot) { return std::get<BarChart>(plot.chart); }

// Runs, and their arrangement, which points into them.
struct Made {
  explicit Made(std::vector<ReportRun> of) : runs(std::move(of)), arrangement(Arrange(runs)) {}
  [[nodiscard]] const RunView& run() const { return arrangement.chapters.front().runs.front(); }
  [[nodiscard]] const Palette& palette() const { return arrangement.palette; }

  std::vector<ReportRun> runs;
  Arrangement arrangement;
};

TEST(ArrangementTest, PresetRunsFormAChapterWithCambiumFirst) {
  std::vector<ReportRun> runs = MakeRuns();
  std::rotate(runs[0].results.begin(), runs[0].results.end() - 8, runs[0].results.end());  // lmdb's results come first
  const Made made(std::move(runs));
  ASSERT_EQ(made.arrangement.chapters.size(), 1u);
  const Chapter& chapter = made.arrangement.chapters[0];
  EXPECT_EQ(chapter.name, "made");
  ASSERT_EQ(chapter.runs.size(), 2u);
  EXPECT_EQ(chapter.runs[0].name(), "100 B");
  EXPECT_EQ(chapter.runs[0].engines(), (std::vector<std::string>{"cambium/btree", "cambium/lsm", "lmdb"}));
  EXPECT_EQ(chapter.runs[0].rounds(), 2u);
}

TEST(ArrangementTest, CommandsThatDifferInMoreThanSizesGetOwnChapters) {
  std::vector<ReportRun> runs = MakeRuns();
  for (ReportRun& run : runs) {
    for (Result& r : run.results) r.experiment.clear();
  }
  runs[0].facts.command = "cambium_bench --num 7 --value_size=100";
  runs[1].facts.command = "cambium_bench --value_size=1000 --num=9";
  EXPECT_EQ(Made(runs).arrangement.chapters.size(), 1u);
  runs[1].facts.command += " --sync";
  EXPECT_EQ(Made(runs).arrangement.chapters.size(), 2u);
}

TEST(PaletteTest, EngineKeepsItsColour) {
  EXPECT_EQ(Palette({"lmdb"}).PlaceOf("lmdb"), Palette({"rocksdb_blob", "lmdb"}).PlaceOf("lmdb"));
  EXPECT_NE(Palette({"a", "b"}).PlaceOf("a"), Palette({"a", "b"}).PlaceOf("b"));
  EXPECT_LT(Palette({"a", "b", "c", "d"}).PlaceOf("d"), kPaletteSize);
}

TEST(PlotsTest, PlotsByValueSizeHaveAPointPerSize) {
  const Made made(MakeRuns());
  const std::vector<Plot> plots = PlotsByValueSize(made.palette(), made.arrangement.chapters[0]);
  ASSERT_EQ(plots.size(), 3u) << "compact has no speed";
  const LineChart& chart = Lines(plots[0]);
  ASSERT_EQ(chart.series.size(), 3u);
  ASSERT_EQ(chart.series[0].points.size(), 2u);
  EXPECT_DOUBLE_EQ(chart.series[0].points[0].x, 100);
  EXPECT_DOUBLE_EQ(chart.series[0].points[0].y, 3e5 / 10 * 1.05) << "the median of two rounds";
  EXPECT_DOUBLE_EQ(*chart.series[0].points[0].high, 3e5 / 10 * 1.1);
  EXPECT_EQ(plots[0].table.rows.size(), 6u);
}

TEST(PlotsTest, NoCurveForOneSizeOrForMixedCommands) {
  std::vector<ReportRun> runs = MakeRuns();
  runs.pop_back();
  EXPECT_TRUE(PlotsByValueSize(Palette({}), Made(runs).arrangement.chapters[0]).empty());
  runs = MakeRuns();
  runs.push_back(runs[0]);
  runs.back().facts.command += " --threads=9";
  const Made mixed(runs);
  ASSERT_EQ(mixed.arrangement.chapters.size(), 1u);
  EXPECT_TRUE(PlotsByValueSize(mixed.palette(), mixed.arrangement.chapters[0]).empty());
}

// Results as the preset's runs leave them, of one engine and one round.
std::vector<ReportRun> RunsOf(const Preset& preset) {
  std::vector<ReportRun> runs;
  for (const PresetRun& of_preset : preset.runs(preset.scale)) {
    const auto value = [&](const std::string& option) -> std::string {
      for (const std::string& word : of_preset.arguments) {
        if (word.starts_with(option + "=")) return word.substr(option.size() + 1);
      }
      return {};
    };
    ReportRun run;
    run.facts.command = of_preset.experiment;
    std::istringstream names(value("--benchmarks"));
    std::string name;
    for (std::uint64_t step = 0; std::getline(names, name, ','); ++step) {
      Result r = MakeResult("lmdb", "", step, name, std::stoull("0" + value("--value_size")), 0);
      r.experiment = of_preset.experiment;
      run.results.push_back(std::move(r));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

// Regression: blobdb2021 loads each size twice, and then no load had a curve.
TEST(PlotsTest, PresetWithSeveralSizesHasACurvePerBenchmark) {
  const struct {
    const char* preset;
    std::set<std::string> curves;
  } kExpected[] = {
      {"blobdb2021",
       {"fillrandom by size of values", "fillrandom by size of values, load without blob GC", "overwrite by size of values",
        "readwhilesyncing by size of values", "seekrandomwhilesyncing by size of values", "readrandom by size of values",
        "seekrandom by size of values"}},
      {"badger2017",
       {"filluniquerandom by size of values", "readrandom by size of values", "readseq by size of values",
        "readseqkeys by size of values"}},
      {"slides4", {"filluniquerandom by size of values", "overwrite by size of values"}},
  };
  for (const auto& expected : kExpected) {
    const Made made(RunsOf(*FindPreset(expected.preset)));
    ASSERT_EQ(made.arrangement.chapters.size(), 1u);
    std::set<std::string> titles;
    std::set<std::string> names;
    for (const Plot& plot : PlotsByValueSize(made.palette(), made.arrangement.chapters[0])) {
      if (!plot.title.starts_with("verify")) titles.insert(plot.title);
      EXPECT_TRUE(names.insert(plot.name).second) << plot.name << " is a file's name";
    }
    EXPECT_EQ(titles, expected.curves) << expected.preset;
  }
}

TEST(PlotsTest, ThroughputHasAPanelPerBenchmarkAndABarPerEngine) {
  const Made made(MakeRuns());
  const auto plot = PlotThroughput(made.palette(), made.run());
  ASSERT_TRUE(plot.has_value());
  ASSERT_EQ(Bars(*plot).panels.size(), 3u);
  ASSERT_EQ(Bars(*plot).panels[0].bars.size(), 3u);
  EXPECT_EQ(Bars(*plot).panels[0].title, "filluniquerandom");
  EXPECT_LT(*Bars(*plot).panels[0].bars[0].low, *Bars(*plot).panels[0].bars[0].high);
}

TEST(PlotsTest, RatiosAreTakenRoundByRoundAndDoubtfulOnesAreHollow) {
  std::vector<ReportRun> runs = MakeRuns();
  for (Result& r : runs[0].results) {
    if (r.engine == "lmdb" && r.benchmark == "overwrite") r.ops_per_sec = r.round == 0 ? 1e9 : 1;
  }
  const Made made(runs);
  const auto plot = PlotRatios(made.palette(), made.run());
  ASSERT_TRUE(plot.has_value());
  ASSERT_EQ(Lines(*plot).series.size(), 2u);
  EXPECT_EQ(Lines(*plot).rows, 3u);
  const Series& over_lmdb = Lines(*plot).series[1];
  EXPECT_EQ(over_lmdb.name, "over lmdb");
  ASSERT_EQ(over_lmdb.points.size(), 3u);
  EXPECT_NEAR(over_lmdb.points[0].x, 3, 1e-9);
  EXPECT_FALSE(over_lmdb.points[0].hollow);
  EXPECT_TRUE(over_lmdb.points[1].hollow);
  runs[0].results.resize(8);  // only the tree's results
  const Made alone(runs);
  EXPECT_FALSE(PlotRatios(alone.palette(), alone.run()).has_value()) << "no other engine to compare with";
}

TEST(PlotsTest, LatencyCurveEndsAtTheRankOfTheLongestCall) {
  const Made made(MakeRuns());
  const std::vector<Plot> plots = PlotLatencies(made.palette(), made.run());
  ASSERT_EQ(plots.size(), 3u);
  const std::vector<DataPoint>& points = Lines(plots[0]).series[0].points;
  EXPECT_DOUBLE_EQ(points.back().y, 3000);
  EXPECT_DOUBLE_EQ(points.back().x, 4) << "one of 10,000 calls: four nines";
  EXPECT_EQ(points.size(), 7u) << "p99.999 of 10,000 calls says nothing that the longest does not";
  EXPECT_TRUE(Lines(plots[0]).y.log);
}

TEST(PlotsTest, WritesAreSplitByCauseIfThereIsALedger) {
  const Made made(MakeRuns());
  const auto plot = PlotWriteAmp(made.palette(), made.run());
  ASSERT_TRUE(plot.has_value());
  double sum = 0;
  for (const BarPart& part : Bars(*plot).panels[0].bars[0].parts) sum += part.value;
  EXPECT_NEAR(sum, 2.1, 0.01);
  EXPECT_DOUBLE_EQ(Bars(*plot).panels[0].bars[0].value, 2.5) << "what the process made dirty stays what it was";
  EXPECT_EQ(plot->caption.find("Bytes of pages that the process made dirty"), 0u) << "not what it wrote, which may be more";
  EXPECT_EQ(plot->table.head.size(), plot->table.rows[0].size());
  const Made without(MakeRunsWithoutLedgers());
  const auto plain = PlotWriteAmp(without.palette(), without.run());
  EXPECT_TRUE(Bars(*plain).causes.empty());
  EXPECT_TRUE(Bars(*plain).panels[0].bars[0].parts.empty());
}

TEST(PlotsTest, SpaceOverTimeShowsTheCeiling) {
  const Made made(MakeRuns());
  const std::vector<Plot> plots = PlotsOfSpaceOverTime(made.palette(), made.run());
  ASSERT_EQ(plots.size(), 2u) << "compact was too short for samples";
  ASSERT_EQ(Lines(plots[0]).references.size(), 1u);
  EXPECT_DOUBLE_EQ(Lines(plots[0]).references[0].points[0].y, 1.5 * 1'160'000);
  std::vector<ReportRun> runs = MakeRuns();
  for (ReportRun& run : runs) run.facts.max_space_amplification = 0;
  const Made without(runs);
  EXPECT_TRUE(Lines(PlotsOfSpaceOverTime(without.palette(), without.run())[0]).references.empty());
}

TEST(PlotsTest, ThroughputOverTimeMarksStalls) {
  const Made made(MakeRuns());
  const std::vector<Plot> plots = PlotsOfThroughputOverTime(made.palette(), made.run());
  ASSERT_EQ(plots.size(), 2u);
  const Series& series = Lines(plots[0]).series[0];
  ASSERT_EQ(series.points.size(), 12u);
  EXPECT_NEAR(series.points[1].y, 10'000, 1);
  EXPECT_NEAR(series.points[5].y, 0, 1);
  ASSERT_EQ(series.marked.size(), 1u);
  EXPECT_NEAR(series.marked[0].first, 0.5, 1e-9);
  EXPECT_NEAR(series.marked[0].second, 0.7, 1e-9);
}

// After the last operation an engine may still flush and compact: that is no stall.
TEST(PlotsTest, SettlingIsNotAStall) {
  std::vector<ReportRun> runs = MakeRuns();
  for (Result& r : runs[0].results) {
    for (int i = 0; i < 20 && !r.samples.empty(); ++i) {
      r.samples.push_back(r.samples.back());
      r.samples.back().seconds += 0.1;
    }
  }
  const Made made(runs);
  const Series& series = Lines(PlotsOfThroughputOverTime(made.palette(), made.run())[0]).series[0];
  EXPECT_EQ(series.points.size(), 12u);
  EXPECT_EQ(series.marked.size(), 1u);
}

TEST(PlotsTest, OverwritesAreComparedWithTheLaw) {
  const Made made(MakeRuns());
  const auto plot = PlotLaw(made.arrangement);
  ASSERT_TRUE(plot.has_value());
  const LineChart& chart = Lines(*plot);
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_EQ(chart.series[0].points.size(), 4u) << "two runs, all writes and those to the log";
  EXPECT_DOUBLE_EQ(chart.series[0].points[0].y, 2.5);
  EXPECT_TRUE(chart.series[0].points[1].hollow);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].y, 1.5);
  ASSERT_EQ(chart.references.size(), 1u);
  for (const DataPoint& point : chart.references[0].points) {
    EXPECT_NEAR(point.y, WriteAmpOfUniform(point.x), 1e-9);
  }
}

// An engine with fifty times its data on disk would squeeze all others together.
TEST(PlotsTest, LargeSpaceAmplificationGetsALogAxis) {
  EXPECT_FALSE(Lines(*PlotLaw(Made(MakeRuns()).arrangement)).x.log);
  std::vector<ReportRun> runs = MakeRuns();
  Result much = runs[0].results[0];
  for (const Result& r : runs[0].results) {
    if (r.benchmark == "overwrite") much = r;
  }
  much.engine = "wiredtiger";
  much.samples.clear();
  much.space_amp = 50;
  runs[0].results.push_back(much);
  const auto plot = PlotLaw(Made(runs).arrangement);
  const LineChart& chart = Lines(*plot);
  EXPECT_TRUE(chart.x.log);
  EXPECT_DOUBLE_EQ(chart.x.low, 1);
  EXPECT_GE(chart.x.high, 50);
  for (const DataPoint& point : chart.references[0].points) {
    EXPECT_GE(point.x, chart.x.low);
    EXPECT_LE(point.x, chart.x.high * (1 + 1e-9));
  }
}

TEST(PlotsTest, IndexBytesArePerKey) {
  const Made made(MakeRuns());
  const auto plot = PlotIndexBytes(made.palette(), made.run());
  ASSERT_TRUE(plot.has_value());
  EXPECT_DOUBLE_EQ(Bars(*plot).panels[0].bars[0].value, 30);
}

// A run of a store without counters: one benchmark that only reads, one round.
TEST(PlotsTest, NoPlotWithoutData) {
  ReportRun run;
  run.results.push_back(MakeResult("raw", "", 0, "readrandom", 100, 0));
  run.results.back().latency_curve.clear();
  const Made made({run});
  EXPECT_FALSE(PlotWriteAmp(made.palette(), made.run()).has_value());
  EXPECT_FALSE(PlotSpaceAmp(made.palette(), made.run()).has_value());
  EXPECT_FALSE(PlotIndexBytes(made.palette(), made.run()).has_value());
  EXPECT_TRUE(PlotLatencies(made.palette(), made.run()).empty());
  EXPECT_TRUE(PlotsOfSpaceOverTime(made.palette(), made.run()).empty());
  EXPECT_TRUE(PlotsOfThroughputOverTime(made.palette(), made.run()).empty());
  EXPECT_FALSE(PlotLaw(made.arrangement).has_value());
}

TEST(PlotsTest, EveryPlotHasCaptionTableMarksAndUniqueName) {
  const Made made(MakeRuns());
  const AllPlots plots = MakePlots(made.arrangement);
  std::vector<std::string> names;
  for (const Plot* plot : plots.Each()) {
    SCOPED_TRACE(plot->name);
    EXPECT_EQ(std::count(names.begin(), names.end(), plot->name), 0);
    names.push_back(plot->name);
    EXPECT_EQ(plot->caption.back(), '.');
    EXPECT_NE(plot->caption.find("better"), std::string::npos);
    EXPECT_FALSE(plot->table.rows.empty());
    for (const Paper paper : {Paper::kPhone, Paper::kHalf, Paper::kFull}) {
      const std::string svg = DrawInline(*plot, paper).text();
      EXPECT_NE(svg.find(" mark"), std::string::npos);
      const auto* lines = std::get_if<LineChart>(&plot->chart);
      if (lines != nullptr && !lines->references.empty()) {
        EXPECT_NE(svg.find("class=\"reference\" d=\"M"), std::string::npos) << "the dashed line is missing";
      }
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_EQ(svg.find("inf\""), std::string::npos);
    }
    EXPECT_NE(DrawStandalone(*plot).text().find("prefers-color-scheme: dark"), std::string::npos);
  }
  EXPECT_EQ(names.size(), 1 + 3 + 2 * 12u);
}

TEST(SvgTest, TextIsEscapedAndGapsSplitALine) {
  Svg svg(100, 50, "a < b");
  svg.Text({1, 2}, Svg::Anchor::kEnd, "label", "<script>");
  svg.Rect({1, 2}, 3, 4, "bar", "5 > 4");
  svg.Path({{{0, 0}, {1, 1}}, {{2, 2}, {3, 3.25}}}, "curve");
  const std::string text = svg.Inline().text();
  EXPECT_NE(text.find("aria-label=\"a &lt; b\""), std::string::npos) << text;
  EXPECT_NE(text.find("class=\"label end\" x=\"1\" y=\"2\">&lt;script&gt;</text>"), std::string::npos) << text;
  EXPECT_NE(text.find("<title>5 &gt; 4</title></rect>"), std::string::npos) << text;
  EXPECT_NE(text.find("d=\"M0 0L1 1M2 2L3 3.2\""), std::string::npos) << text;
}

}  // namespace
}  // namespace cambium::bench
