#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/html/sample_results.h"
#include "html/report_writer.h"
#include "html/result_files.h"
#include "html/tables.h"
#include "workloads/workload.h"

namespace cambium::bench::html_report_test {
namespace {

namespace fs = std::filesystem;

class HtmlReportTest : public ::testing::Test {
 protected:
  HtmlReportTest() {
    std::string name = (fs::temp_directory_path() / "report_test-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~HtmlReportTest() override { fs::remove_all(root_); }

  static std::string Read(const fs::path& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static void Write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path root_;
};

TEST_F(HtmlReportTest, ReportHasPageFiguresAndDrawings) {
  const fs::path directory = root_ / "new" / "report";
  ASSERT_TRUE(WriteReport(directory, {.runs = MakeRuns(), .claims = {}, .incomplete = {}}).ok());
  const std::string page = Read(directory / "report.html");
  for (const char* section : {"law", "results-1", "machine", "commands", "settings"}) {
    EXPECT_NE(page.find("<section id=\"" + std::string(section) + "\""), std::string::npos) << section;
  }
  EXPECT_EQ(page.find("<section id=\"claims\""), std::string::npos) << "there are none";
  EXPECT_EQ(page.find("class=\"incomplete\""), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "it needs no network";
  EXPECT_NE(page.find("2 x &lt;processor&gt;"), std::string::npos);
  EXPECT_NE(page.find("0.9: map &amp; more"), std::string::npos);
  std::size_t drawings = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(directory / "plots")) {
    ++drawings;
    EXPECT_NE(page.find("id=\"" + file.path().stem().string() + "\""), std::string::npos) << file.path();
  }
  EXPECT_EQ(drawings, 28u);
  EXPECT_TRUE(fs::exists(directory / "results.csv"));
}

TEST_F(HtmlReportTest, PlotsOfAnEarlierReportAreRemoved) {
  ASSERT_TRUE(WriteReport(root_, {.runs = MakeRuns(), .claims = {}, .incomplete = {}}).ok());
  std::vector<ReportRun> runs = MakeRuns();
  runs.pop_back();
  ASSERT_TRUE(fs::exists(root_ / "plots" / "by-value-size-overwrite.svg"));
  ASSERT_TRUE(WriteReport(root_, {.runs = runs, .claims = {}, .incomplete = {}}).ok());
  EXPECT_FALSE(fs::exists(root_ / "plots" / "by-value-size-overwrite.svg"));
  EXPECT_TRUE(fs::exists(root_ / "plots" / "throughput.svg"));
}

// Regression: every file that ends in .svg was removed.
TEST_F(HtmlReportTest, ForeignDrawingsAreKept) {
  fs::create_directories(root_ / "plots");
  Write(root_ / "plots" / "mine.svg", "<svg/>");
  Write(root_ / "mine.svg", "<svg/>");
  ASSERT_TRUE(WriteReport(root_, {.runs = MakeRuns(), .claims = {}, .incomplete = {}}).ok());
  std::ofstream(root_ / "plots.txt", std::ios::app) << "../mine.svg\n";
  ASSERT_TRUE(WriteReport(root_, {.runs = {}, .claims = {}, .incomplete = {}}).ok());
  EXPECT_TRUE(fs::exists(root_ / "mine.svg")) << "a list leads nowhere else";
  EXPECT_EQ(Read(root_ / "plots" / "mine.svg"), "<svg/>");
  EXPECT_EQ(Read(root_ / "plots.txt"), "");
  std::size_t drawings = 0;
  for ([[maybe_unused]] const fs::directory_entry& file : fs::directory_iterator(root_ / "plots")) ++drawings;
  EXPECT_EQ(drawings, 1u);
}

TEST_F(HtmlReportTest, UnwritableDirectoryIsReportedBeforehand) {
  EXPECT_TRUE(PrepareReport(root_ / "new").ok());
  Write(root_ / "file", "");
  const Status status = PrepareReport(root_ / "file" / "below");
  EXPECT_NE(status.ToString().find("cannot make"), std::string::npos) << status.ToString();
  Write(root_ / "plots", "");
  EXPECT_NE(PrepareReport(root_).ToString().find("plots"), std::string::npos) << "a file is where the drawings go";
}

// Regression: paths and command lines may contain any bytes. The JSON writer threw, and the results were lost.
TEST_F(HtmlReportTest, InvalidUtf8IsReplaced) {
  std::vector<ReportRun> runs = MakeRuns();
  for (ReportRun& run : runs) {
    run.facts.command += " --db=/tmp/\xff\xfe";
    run.facts.file_system = "ext\xc3";
  }
  runs[0].results[0].message = "\x80";
  ASSERT_TRUE(WriteReport(root_, {.runs = runs, .claims = {}, .incomplete = {}}).ok());
  std::vector<ReportRun> read;
  ASSERT_TRUE(ReadResults(root_ / "results.json", &read).ok());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].facts.command, "cambium_bench --value_size=100 --db=/tmp/\uFFFD\uFFFD");
  EXPECT_EQ(read[0].facts.file_system, "ext\uFFFD");
  EXPECT_EQ(read[0].results[0].message, "\uFFFD");
}

TEST_F(HtmlReportTest, MarkupInNamesIsEscaped) {
  std::vector<ReportRun> runs = MakeRuns();
  for (ReportRun& run : runs) {
    for (Result& r : run.results) {
      if (r.engine == "lmdb") r.engine = "<script>alert(1)</script>";
      if (r.benchmark == "readrandom") r.benchmark = "\"><img src=x>";
      r.experiment = "<b>made, " + r.experiment;
    }
  }
  ASSERT_TRUE(WriteReport(root_, {.runs = runs, .claims = {}, .incomplete = {"<i>stopped</i>"}}).ok());
  const std::string page = Read(root_ / "report.html");
  for (const char* markup : {"<script>alert", "<img", "<b>made", "<i>stopped"}) {
    EXPECT_EQ(page.find(markup), std::string::npos) << markup;
  }
  EXPECT_NE(page.find("&lt;script&gt;alert"), std::string::npos);
  for (const fs::directory_entry& file : fs::directory_iterator(root_ / "plots")) {
    EXPECT_EQ(Read(file.path()).find("<script>"), std::string::npos);
  }
}

// Regression: every report said that each value had been compared.
TEST_F(HtmlReportTest, FooterNamesComparedValues) {
  const auto footer = [this](const std::vector<ReportRun>& runs) {
    EXPECT_TRUE(WriteReport(root_, {.runs = runs, .claims = {}, .incomplete = {}}).ok());
    const std::string page = Read(root_ / "report.html");
    const std::size_t begin = page.find("<footer>");
    EXPECT_NE(begin, std::string::npos);
    return page.substr(begin, page.find("</footer>") - begin);
  };
  const auto ends_with = [](const std::string& text, const std::string& end) { return text.ends_with(end) ? "" : text; };
  const std::string all = "Every value that was read has been compared with what was written";
  EXPECT_EQ(ends_with(footer(MakeRuns()), all + "."), "");

  std::vector<ReportRun> runs = MakeRuns();
  runs[1].facts.command += " --check=ends --num=5";
  EXPECT_EQ(ends_with(footer(runs), all + ", but with --check=ends only its header and both ends."), "");
  runs[1].results[0].message = "get 5; values not compared";
  EXPECT_EQ(ends_with(footer(runs), all + ", but with --check=ends only its header and both ends; those that a replay "
                                          "found in a database that others had filled not at all."),
            "");

  runs = MakeRuns();
  runs[0].facts.command += " --check ends";
  EXPECT_EQ(ends_with(footer(runs), ", but with --check=ends only its header and both ends."), "");
  for (const char* name : {"readseqkeys", "seekrandomkeys"}) {
    runs = MakeRuns();
    runs[0].results[0].benchmark = name;
    EXPECT_NE(FindWorkload(name), nullptr);
    EXPECT_EQ(ends_with(footer(runs), all + ". readseqkeys and seekrandomkeys read keys alone."), "");
  }
}

TEST_F(HtmlReportTest, IncompleteReportIsMarkedAtTheTop) {
  ASSERT_TRUE(WriteReport(root_, {.runs = MakeRuns(), .claims = {}, .incomplete = {"lmdb failed in round 2"}}).ok());
  const std::string page = Read(root_ / "report.html");
  const std::size_t said = page.find("lmdb failed in round 2");
  ASSERT_NE(said, std::string::npos);
  EXPECT_LT(said, page.find("<main>"));
}

TEST_F(HtmlReportTest, ReportWithoutResultsIsMarked) {
  ASSERT_TRUE(WriteReport(root_, {.runs = {}, .claims = {}, .incomplete = {"It was interrupted."}}).ok());
  EXPECT_NE(Read(root_ / "report.html").find("There is no result"), std::string::npos);
  EXPECT_EQ(Read(root_ / "results.json"), "[\n]\n");
}

TEST_F(HtmlReportTest, ClaimsShowVerdictAndReason) {
  const Claim claim{.id = "A3",
                    .source = "a post",
                    .text = "few writes",
                    .published = "1.4",
                    .criterion = "at most <1.4>",
                    .measured = "2.2",
                    .verdict = Verdict::kDiffers,
                    .why = "less <data>",
                    .rounds = 1};
  ASSERT_TRUE(WriteReport(root_, {.runs = MakeRuns(), .claims = {claim}, .incomplete = {}}).ok());
  const std::string page = Read(root_ / "report.html");
  EXPECT_NE(page.find("<section id=\"claims\""), std::string::npos);
  EXPECT_NE(page.find("verdict differs"), std::string::npos);
  EXPECT_NE(page.find("less &lt;data&gt;"), std::string::npos);
  EXPECT_NE(page.find("at most &lt;1.4&gt;"), std::string::npos);
  EXPECT_NE(page.find("one round"), std::string::npos);
}

TEST(ClaimsTableTest, EachVerdictHasItsWord) {
  Claim claim{.id = "A3", .source = "a post", .text = "few writes", .published = "1.4", .rounds = 3};
  for (const auto& [verdict, word] :
       {std::pair{Verdict::kHolds, ">holds</span>"}, {Verdict::kInPart, ">in part</span>"},
        {Verdict::kDiffers, ">differs</span>"}, {Verdict::kDoubtful, ">doubtful ?</span>"},
        {Verdict::kNotMeasured, ">not measured</span>"}}) {
    claim.verdict = verdict;
    const std::string table = ClaimsTable({claim}).text();
    EXPECT_NE(table.find(word), std::string::npos) << table;
    EXPECT_EQ(table.find("one round"), std::string::npos);
  }
  EXPECT_TRUE(ClaimsTable({}).empty());
}

TEST_F(HtmlReportTest, ReportFromItsOwnJsonIsTheSame) {
  ASSERT_TRUE(WriteReport(root_ / "a", {.runs = MakeRuns(), .claims = {}, .incomplete = {}}).ok());
  std::vector<ReportRun> runs;
  ASSERT_TRUE(ReadResults(root_ / "a" / "results.json", &runs).ok());
  EXPECT_EQ(runs.size(), 2u);
  ASSERT_TRUE(WriteReport(root_ / "b", {.runs = runs, .claims = {}, .incomplete = {}}).ok());
  for (const char* file : {"report.html", "results.json", "results.csv"}) {
    EXPECT_EQ(Read(root_ / "a" / file), Read(root_ / "b" / file)) << file;
  }
}

TEST_F(HtmlReportTest, JsonLinesAreRead) {
  const ReportRun made = MakeRuns()[0];
  std::string lines;
  for (const Result& result : made.results) lines += ToJson(result, made).dump() + "\n";
  Write(root_ / "lines.json", lines);
  std::vector<ReportRun> runs;
  ASSERT_TRUE(ReadResults(root_ / "lines.json", &runs).ok());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].results.size(), made.results.size());
  EXPECT_EQ(runs[0].facts, made.facts);
  EXPECT_EQ(runs[0].settings, made.settings);
}

// Two results of the same engine, step and round come from two runs. In one run, their rounds would be mixed up.
TEST_F(HtmlReportTest, RepeatedCommandIsTwoRuns) {
  const ReportRun made = MakeRuns()[0];
  const std::string line = ToJson(made.results[0], made).dump() + "\n";
  Write(root_ / "lines.json", line + line);
  std::vector<ReportRun> runs;
  ASSERT_TRUE(ReadResults(root_ / "lines.json", &runs).ok());
  EXPECT_EQ(runs.size(), 2u);
}

TEST_F(HtmlReportTest, MalformedResultIsCorruptionWithFileAndLine) {
  const ReportRun made = MakeRuns()[0];
  const std::string good = ToJson(made.results[0], made).dump() + "\n";
  for (const std::string& bad : {good + "{\"engine\":\"lmdb\"}\n", good + "nonsense\n", good + "7\n"}) {
    Write(root_ / "bad.json", bad);
    std::vector<ReportRun> runs;
    const Status status = ReadResults(root_ / "bad.json", &runs);
    EXPECT_TRUE(status.IsCorruption()) << bad;
    EXPECT_NE(status.ToString().find("bad.json, line 2"), std::string::npos) << status.ToString();
  }
  std::vector<ReportRun> runs;
  EXPECT_TRUE(ReadResults(root_ / "none.json", &runs).IsIOError());
}

TEST_F(HtmlReportTest, AbsurdFigureIsCorruptionWithItsName) {
  const ReportRun made = MakeRuns()[0];
  nlohmann::ordered_json absurd = ToJson(made.results[0], made);
  absurd["latency_curve"][2][1] = 1.5e308;
  nlohmann::ordered_json more = ToJson(made.results[0], made);
  more["seconds"] = -1e19;
  std::string deep = ToJson(made.results[0], made).dump();
  deep.insert(deep.size() - 1, ",\"deep\":" + std::string(200'000, '[') + std::string(200'000, ']'));
  for (const auto& [line, what] : {std::pair{absurd.dump(), "latency_curve is 1.5e+308"}, {more.dump(), "seconds is -1e+19"},
                                   {deep, "deep has too many levels"}}) {
    Write(root_ / "absurd.json", line + "\n");
    std::vector<ReportRun> runs;
    const Status status = ReadResults(root_ / "absurd.json", &runs);
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_NE(status.ToString().find("absurd.json, line 1"), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(what), std::string::npos) << status.ToString();
    EXPECT_TRUE(runs.empty());
  }
}

TEST_F(HtmlReportTest, PrepareReportLeavesNothingBehind) {
  Write(root_ / "file", "");
  EXPECT_FALSE(PrepareReport(root_ / "file").ok());
  EXPECT_FALSE(PrepareReport(root_ / "file" / "below").ok());
  ASSERT_TRUE(PrepareReport(root_ / "new").ok());
  EXPECT_TRUE(fs::is_empty(root_ / "new")) << "trying leaves nothing";
}

const Figure& Speed() { return ComparedFigures().front(); }

TEST(ComparisonTableTest, RatioWithDisagreeingRoundsIsMarked) {
  std::vector<ReportRun> runs = MakeRuns();
  for (Result& r : runs[0].results) {
    if (r.engine == "lmdb" && r.benchmark == "overwrite") r.ops_per_sec = r.round == 0 ? 1e9 : 1;
  }
  const Arrangement arrangement = Arrange(runs);
  const std::string table = ComparisonTable(arrangement.chapters[0].runs[0], Speed()).text();
  const std::size_t row = table.find(">overwrite<");
  ASSERT_NE(row, std::string::npos);
  EXPECT_NE(table.find(" ?</span>", row), std::string::npos) << table;
  EXPECT_EQ(table.substr(0, row).find(" ?</span>"), std::string::npos) << "the others agree";
  EXPECT_NE(table.find("ratio better"), std::string::npos);
}

std::string TableOf(const std::string& figure, const RunView& run) {
  for (const Figure& f : ComparedFigures()) {
    if (f.name == figure) return ComparisonTable(run, f).text();
  }
  return "there is no " + figure;
}

TEST(ComparisonTableTest, DeviceFiguresArePerOperation) {
  std::vector<ReportRun> runs = MakeRuns();
  const Arrangement arrangement = Arrange(runs);
  const RunView& run = arrangement.chapters[0].runs[0];
  const auto has = [&run](const char* figure, const std::string& text) {
    const std::string table = TableOf(figure, run);
    EXPECT_NE(table.find(">" + text + "<"), std::string::npos) << figure << "\n" << table;
    EXPECT_EQ(table.find(">compact<"), std::string::npos) << figure << ": upkeep has no operations";
  };
  has("Block device, bytes read per operation", Format(Unit::kBytes, 500));
  has("Block device, reads per operation", Format(Unit::kPlain, 3));
  has("Block device, bytes written per operation", Format(Unit::kBytes, 900));
  has("Block device, writes per operation", Format(Unit::kPlain, 7));
  has("Latency, 99.99 %", Format(Unit::kMicros, 900));
}

TEST(ComparisonTableTest, NoTableWithoutDeviceStats) {
  std::vector<ReportRun> runs = MakeRuns();
  for (Result& r : runs[0].results) r.device.reset();
  const Arrangement arrangement = Arrange(runs);
  EXPECT_EQ(TableOf("Block device, reads per operation", arrangement.chapters[0].runs[0]), "");
}

TEST(ComparisonTableTest, NoTableForAFigureThatNoEngineHas) {
  const std::vector<ReportRun> runs = MakeRuns();
  const Arrangement arrangement = Arrange(runs);
  const Figure nothing{"nothing", Unit::kPlain, Better::kMore, [](const Result&) { return std::optional<double>(); }};
  EXPECT_TRUE(ComparisonTable(arrangement.chapters[0].runs[0], nothing).empty());
}

}  // namespace
}  // namespace cambium::bench::html_report_test
