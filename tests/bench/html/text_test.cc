#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/html/sample_results.h"
#include "html/axis.h"
#include "html/csv.h"
#include "html/escape.h"
#include "html/markup.h"
#include "html/units.h"

namespace cambium::bench {
namespace {

TEST(HtmlTextTest, MarkupBecomesText) {
  EXPECT_EQ(Escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(Escape("plain, 16 KiB"), "plain, 16 KiB");
}

TEST(HtmlTextTest, StringsAreEscapedAndLiteralsAreNot) {
  const std::string given = "<b>";
  const Markup inner = Markup() << "<i>" << given << "</i>";
  EXPECT_EQ(inner.text(), "<i>&lt;b&gt;</i>");
  EXPECT_EQ((Markup() << inner << If(false, "<hr>") << If(true, "<br>")).text(), inner.text() + "<br>");
  EXPECT_EQ((Markup() << Markup::Trusted(given)).text(), "<b>");
}

TEST(HtmlTextTest, InvalidUtf8IsReplaced) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(Escape(std::string("a\0b", 3)), "a" + bad + "b");
  EXPECT_EQ(Escape("a\xFF"
                   "b\xC3"),
            "a" + bad + "b" + bad);
  EXPECT_EQ(Escape("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"), "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(Escape("\xED\xA0\x80"), bad + bad + bad) << "half of a surrogate pair";
  EXPECT_EQ(Escape("\xC0\xAF"), bad + bad) << "longer than it need be";
  EXPECT_EQ(Escape("\xE2\x82"), bad + bad) << "cut off";
}

TEST(HtmlTextTest, SlugHasNoPath) {
  EXPECT_EQ(ToSlug("../../etc/Passwd"), "etc-passwd");
  EXPECT_EQ(ToSlug("blobdb2021, 1 KiB"), "blobdb2021-1-kib");
  EXPECT_EQ(ToSlug(""), "x");
  EXPECT_EQ(ToSlug(std::string(500, 'a')).size(), 80u);
}

TEST(HtmlTextTest, NumbersHaveThreeDigitsAndTheirUnit) {
  EXPECT_EQ(Format(Unit::kOpsPerSec, 1234567), "1.23 M/s");
  EXPECT_EQ(Format(Unit::kOpsPerSec, 7), "7 /s");
  EXPECT_EQ(Format(Unit::kBytes, 65536), "64 KiB");
  EXPECT_EQ(Format(Unit::kBytes, 0), "0 B");
  EXPECT_EQ(Format(Unit::kMicros, 1613.8), "1.61 ms");
  EXPECT_EQ(Format(Unit::kSeconds, 90), "1.5 min");
  EXPECT_EQ(Format(Unit::kTimes, 2.5), "2.5x");
  EXPECT_EQ(Format(Unit::kCount, 999.96), "1 k") << "rounded up to the next unit";
  EXPECT_EQ(Format(Unit::kPlain, 100), "100") << "these zeros say something";
  EXPECT_EQ(Format(Unit::kPlain, std::nan("")), "-");
}

TEST(AxisTest, LinearAndLogAxesPlaceFigures) {
  const Axis linear{.title = "", .low = 10, .high = 30};
  EXPECT_DOUBLE_EQ(linear.Place(20), 0.5);
  const Axis log{.title = "", .log = true, .low = 1, .high = 10'000};
  EXPECT_DOUBLE_EQ(log.Place(100), 0.5);
}

TEST(AxisTest, TicksAreRoundAndInside) {
  std::vector<double> values;
  for (const Tick& tick : TicksOf({.title = "", .low = 0, .high = 1.7e6}, 5)) values.push_back(tick.value);
  EXPECT_EQ(values, (std::vector<double>{0, 500'000, 1'000'000, 1'500'000}));
  const std::vector<Tick> bytes = TicksOf({.title = "", .unit = Unit::kBytes, .low = 0, .high = 100'000'000}, 5);
  ASSERT_GE(bytes.size(), 3u);
  EXPECT_EQ(bytes[1].label, "32 MiB");
  values.clear();
  for (const Tick& tick : TicksOf({.title = "", .log = true, .low = 0.5, .high = 20'000}, 6))
    values.push_back(tick.value);
  ASSERT_EQ(values.size(), 5u);
  EXPECT_DOUBLE_EQ(values.front(), 1);
  EXPECT_DOUBLE_EQ(values.back(), 10'000);
}

TEST(AxisTest, AxisEnclosesItsFigures) {
  const Axis log = AxisAround("", Unit::kMicros, true, {3, 0, 700});
  EXPECT_DOUBLE_EQ(log.low, 2) << "0 has no place on it";
  EXPECT_DOUBLE_EQ(log.high, 1000);
  const Axis linear = AxisAround("", Unit::kPlain, false, {3, 700});
  EXPECT_DOUBLE_EQ(linear.low, 0);
  EXPECT_GE(linear.high, 700);
  const Axis one = AxisAround("", Unit::kPlain, true, {10, 10});
  EXPECT_LT(one.low, one.high) << "a single figure too needs some room";
  const Axis none = AxisAround("", Unit::kPlain, true, {});
  EXPECT_LT(none.low, none.high);
}

// Regression: the next round number above 1.5e308 is infinite, and computing so many powers of ten took all memory.
TEST(AxisTest, ExtremeFiguresHaveFewTicks) {
  for (const double value : {1.5e308, 5e-324}) {
    for (const Unit unit : {Unit::kMicros, Unit::kBytes, Unit::kPlain}) {
      for (const bool log : {true, false}) {
        const Axis axis = AxisAround("", unit, log, {3, 700, value});
        EXPECT_TRUE(std::isfinite(axis.high) && axis.low < axis.high);
        EXPECT_LE(TicksOf(axis, 6).size(), 7u);
      }
    }
  }
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(TicksOf({.title = "", .log = true, .low = 1, .high = infinite}, 6).empty());
  EXPECT_TRUE(TicksOf({.title = "", .log = true, .low = 0, .high = 10}, 6).empty());
  EXPECT_FALSE(TicksOf({.title = "", .log = true, .low = 1, .high = std::numeric_limits<double>::max()}, 6).empty());
}

std::size_t Count(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST(CsvTest, CellsAreQuotedIfNeeded) {
  EXPECT_EQ(CsvCell("plain"), "plain");
  EXPECT_EQ(CsvCell("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvCell("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
}

TEST(CsvTest, EveryResultIsARowAndEveryFigureAColumn) {
  std::vector<ReportRun> runs = MakeRuns();
  const std::string csv = ToCsv(runs);
  EXPECT_EQ(Count(csv, "\r\n"), 1 + 2 * 3 * 2 * 4u);
  const std::string head = csv.substr(0, csv.find("\r\n"));
  for (const char* column : {"experiment", "engine", "ledger.gc", "ops_per_sec", "command", "settings", "live_bytes"}) {
    EXPECT_NE(("," + head + ",").find("," + std::string(column) + ","), std::string::npos) << column;
  }
  EXPECT_EQ(head.find("samples"), std::string::npos) << "a list is no cell";
  // Every row has the same number of cells. Only experiment and command contain commas.
  const std::size_t cells = Count(head, ",");
  for (std::size_t at = csv.find("\r\n") + 2; at < csv.size(); at = csv.find("\r\n", at) + 2) {
    const std::string row = csv.substr(at, csv.find("\r\n", at) - at);
    EXPECT_EQ(Count(row, ",") - Count(row, "made, "), cells) << row;
  }
}

}  // namespace
}  // namespace cambium::bench
