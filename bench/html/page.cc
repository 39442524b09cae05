#include "html/page.h"

#include <algorithm>

#include "html/assets.h"
#include "html/escape.h"
#include "html/tables.h"

namespace cambium::bench {
namespace {

std::string FigureHtml(const Plot& plot) {
  const bool wide = IsWide(plot);
  return std::string("<figure class=\"card plot") + (wide ? " wide" : "") + "\" id=\"" + Escape(plot.name) +
         "\">\n<h4>" + Escape(plot.title) + "</h4>\n<div class=\"large\">" +
         DrawInline(plot, wide ? Paper::kFull : Paper::kHalf) + "</div>\n<div class=\"small\">" +
         DrawInline(plot, Paper::kPhone) + "</div>\n<figcaption>" + Escape(plot.caption) +
         "</figcaption>\n<details class=\"numbers\"><summary>The numbers</summary>\n" + ToHtml(plot.table) +
         "</details>\n</figure>\n";
}

std::string FiguresHtml(const std::string& heading, const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  std::string html = heading.empty() ? "" : "<h3>" + Escape(heading) + "</h3>\n";
  html += "<div class=\"cards\">\n";
  for (const Plot& plot : plots) html += FigureHtml(plot);
  return html + "</div>\n";
}

std::string ComparisonsHtml(const RunView& run) {
  std::string html;
  bool first = true;
  for (const Figure& figure : ComparedFigures()) {
    const std::string table = ComparisonTable(run, figure);
    if (table.empty()) continue;
    html += std::string("<details class=\"comparisons\"") + (first ? " open" : "") + "><summary>" +
            Escape(figure.name) + "</summary>\n" + table + "</details>\n";
    first = false;
  }
  const std::string base = Escape(run.engines().front());
  std::string note =
      "Medians over the rounds, with half the distance of the slowest and the fastest round in per cent.";
  if (run.engines().size() > 1) {
    note += " Below: how many times as good as this engine <b>" + base +
            "</b> was, as the median, the least and the most "
            "of the rounds' ratios. A ratio with a question mark says nothing: its rounds lie "
            "on both sides of 1, or further apart than half of their median.";
    if (run.rounds() == 1) note += " There was one round only, so that nothing is known of the spread.";
  }
  return "<h3>Side by side</h3>\n<p class=\"note\">" + note + "</p>\n" + html;
}

std::string RunHtml(const RunView& run, const RunPlots& plots, bool open, bool alone) {
  std::string html = ComparisonsHtml(run);
  html = FiguresHtml("", plots.speed) + html;
  html += FiguresHtml("Writes and space", plots.cost);
  html += FiguresHtml("Latency", plots.latency);
  html += FiguresHtml("Over time", plots.time);
  if (alone) return "<div class=\"run\"><p class=\"lead\">" + Escape(run.name()) + "</p>\n" + html + "</div>\n";
  return std::string("<details class=\"run\"") + (open ? " open" : "") + "><summary>" + Escape(run.name()) +
         "</summary>\n" + html + "</details>\n";
}

std::string Section(const std::string& id, const std::string& title, const std::string& content) {
  return "<section id=\"" + Escape(id) + "\">\n<h2>" + Escape(title) + "</h2>\n" + content + "</section>\n";
}

std::string ChapterId(std::size_t i) { return "results-" + std::to_string(i + 1); }

std::string ChapterHtml(const Chapter& chapter, const ChapterPlots& plots, std::size_t number) {
  std::string html = FiguresHtml("By size of values", plots.by_size);
  for (std::size_t i = 0; i < chapter.runs.size(); ++i) {
    html += RunHtml(chapter.runs[i], plots.runs[i], i == 0, chapter.runs.size() == 1);
  }
  return Section(ChapterId(number), chapter.name, html);
}

struct Counts {
  std::size_t results = 0;
  std::size_t runs = 0;
  unsigned rounds = 0;
};

Counts CountAll(const Arrangement& arrangement) {
  Counts counts;
  for (const Chapter& chapter : arrangement.chapters) {
    for (const RunView& run : chapter.runs) {
      counts.results += run.run().results.size();
      ++counts.runs;
      counts.rounds = std::max(counts.rounds, run.rounds());
    }
  }
  return counts;
}

std::string Many(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string IncompleteHtml(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return {};
  std::string list;
  for (const std::string& reason : reasons) list += "<li>" + Escape(reason) + "</li>\n";
  return "<div class=\"incomplete\" role=\"alert\"><strong>This report is incomplete.</strong> It shows what there was "
         "until "
         "then.<ul>\n" +
         list + "</ul></div>\n";
}

// Returns buttons with the engines' names and colours. A click highlights an engine.
std::string EnginesHtml(const Arrangement& arrangement) {
  std::string html;
  for (const std::string& engine : arrangement.engines) {
    const std::string place = "e" + std::to_string(arrangement.palette.PlaceOf(engine));
    html += "<button type=\"button\" class=\"engine\" aria-pressed=\"false\" data-engine=\"" + place +
            "\"><i class=\"" + place + "\"></i>" + Escape(engine) + "</button>\n";
  }
  return "<div class=\"engines\" role=\"group\" aria-label=\"Bring an engine forward\">\n" + html + "</div>\n";
}

std::string Link(const std::string& id, const std::string& text) {
  return "<a href=\"#" + Escape(id) + "\">" + Escape(text) + "</a>\n";
}

std::string NavigationHtml(const ReportInput& input, const Arrangement& arrangement, const AllPlots& plots) {
  std::string html;
  if (!input.claims.empty()) html += Link("claims", "Claims");
  if (!plots.general.empty()) html += Link("law", "Space and writes");
  for (std::size_t i = 0; i < arrangement.chapters.size(); ++i)
    html += Link(ChapterId(i), arrangement.chapters[i].name);
  html += Link("machine", "Machine") + Link("commands", "Commands") + Link("settings", "Settings");
  return "<nav>\n" + html + "</nav>\n";
}

std::string HeaderHtml(const ReportInput& input, const Arrangement& arrangement) {
  const Counts counts = CountAll(arrangement);
  std::string commit;
  for (const ReportRun& run : input.runs) {
    if (commit.empty()) commit = run.facts.commit;
  }
  std::string lead = Many(counts.results, "result") + " of " + Many(arrangement.engines.size(), "engine") + " in " +
                     Many(counts.runs, "run") + ", up to " + Many(counts.rounds, "round") + " each.";
  if (!commit.empty()) lead += " Cambium at " + commit + ".";
  return "<header>\n<h1>Cambium benchmark report</h1>\n<p class=\"lead\">" + Escape(lead) +
         " The figures are in <a href=\"results.csv\">results.csv</a> and <a href=\"results.json\">results.json</a> "
         "beside "
         "this page, each plot in <code>plots/</code>.</p>\n" +
         IncompleteHtml(input.incomplete) + "</header>\n";
}

// Returns which values were compared with what was written, and where less than all of them.
std::string ComparisonText(const std::vector<ReportRun>& runs) {
  bool ends = false;
  bool keys = false;
  bool foreign = false;
  for (const ReportRun& run : runs) {
    const std::string& command = run.facts.command;
    ends = ends || command.find("--check=ends") != std::string::npos || command.find("--check ends") != std::string::npos;
    for (const Result& result : run.results) {
      keys = keys || result.benchmark == "readseqkeys" || result.benchmark == "seekrandomkeys";
      foreign = foreign || result.message.find("values not compared") != std::string::npos;
    }
  }
  std::string text = "Every value that was read has been compared with what was written";
  std::string but;
  if (ends) but += "; with --check=ends only its header and both ends";
  if (foreign) but += "; those that a replay found in a database that others had filled not at all";
  if (!but.empty()) text += ", but" + but.substr(1);
  text += ".";
  if (keys) text += " readseqkeys and seekrandomkeys read keys alone.";
  return text;
}

}  // namespace

std::string MakePage(const ReportInput& input, const Arrangement& arrangement, const AllPlots& plots) {
  std::string body = HeaderHtml(input, arrangement) + "<div class=\"bar\">\n" +
                     NavigationHtml(input, arrangement, plots) + EnginesHtml(arrangement) + "</div>\n<main>\n";
  if (!input.claims.empty()) body += Section("claims", "Published claims", ClaimsTable(input.claims));
  if (!plots.general.empty()) body += Section("law", "Space and writes", FiguresHtml("", plots.general));
  if (arrangement.chapters.empty()) body += "<p class=\"note\">There is no result.</p>\n";
  for (std::size_t i = 0; i < arrangement.chapters.size(); ++i) {
    body += ChapterHtml(arrangement.chapters[i], plots.chapters[i], i);
  }
  body += Section("machine", "Machine", MachineTable(input.runs));
  body += Section("commands", "Commands", CommandList(arrangement));
  body += Section("settings", "Settings of the engines", SettingsTable(arrangement));
  body += "</main>\n<footer>Made by cambium_bench. A ratio is taken within a round. " +
          Escape(ComparisonText(input.runs)) + "</footer>\n";
  return std::string(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n"
             "<title>Cambium benchmark report</title>\n<style>\n") +
         kPlotCss + kPageCss + "</style>\n</head>\n<body class=\"plot\">\n" + body + "<script>\n" + kPageJs +
         "</script>\n</body>\n</html>\n";
}

}  // namespace cambium::bench
