#include "html/page.h"

#include <algorithm>

#include "html/assets.h"
#include "html/tables.h"

namespace cambium::bench {
namespace {

Markup FigureHtml(const Plot& plot) {
  const bool wide = IsWide(plot);
  return Markup() << "<figure class=\"card plot" << If(wide, " wide") << "\" id=\"" << plot.name << "\">\n<h4>"
                  << plot.title << "</h4>\n<div class=\"large\">"
                  << DrawInline(plot, wide ? Paper::kFull : Paper::kHalf) << "</div>\n<div class=\"small\">"
                  << DrawInline(plot, Paper::kPhone) << "</div>\n<figcaption>" << plot.caption
                  << "</figcaption>\n<details class=\"numbers\"><summary>The numbers</summary>\n"
                  << ToHtml(plot.table) << "</details>\n</figure>\n";
}

Markup FiguresHtml(const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  Markup html;
  html << "<div class=\"cards\">\n";
  for (const Plot& plot : plots) html << FigureHtml(plot);
  return html << "</div>\n";
}

Markup FiguresHtml(Literal heading, const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  return Markup() << "<h3>" << heading << "</h3>\n" << FiguresHtml(plots);
}

Markup ComparisonsHtml(const RunView& run) {
  Markup html;
  html << "<h3>Side by side</h3>\n<p class=\"note\">Medians over the rounds, with half the distance of the slowest and "
          "the fastest round in per cent.";
  if (run.engines().size() > 1) {
    html << " Below: how many times as good as this engine <b>" << run.engines().front()
         << "</b> was, as the median, the least and the most of the rounds' ratios. A ratio with a question mark says "
            "nothing: its rounds lie on both sides of 1, or further apart than half of their median."
         << If(run.rounds() == 1, " There was one round only, so that nothing is known of the spread.");
  }
  html << "</p>\n";
  bool first = true;
  for (const Figure& figure : ComparedFigures()) {
    const Markup table = ComparisonTable(run, figure);
    if (table.empty()) continue;
    html << "<details class=\"comparisons\"" << If(first, " open") << "><summary>" << figure.name << "</summary>\n"
         << table << "</details>\n";
    first = false;
  }
  return html;
}

// `open`: its contents are shown. `alone`: the only run of its chapter.
Markup RunHtml(const RunView& run, const RunPlots& plots, bool open, bool alone) {
  Markup html;
  if (alone) {
    html << "<div class=\"run\"><p class=\"lead\">" << run.name() << "</p>\n";
  } else {
    html << "<details class=\"run\"" << If(open, " open") << "><summary>" << run.name() << "</summary>\n";
  }
  html << FiguresHtml(plots.speed) << ComparisonsHtml(run) << FiguresHtml("Writes and space", plots.cost)
       << FiguresHtml("Latency", plots.latency) << FiguresHtml("Over time", plots.time);
  return html << (alone ? Literal("</div>\n") : Literal("</details>\n"));
}

Markup Section(const std::string& id, const std::string& title, const Markup& content) {
  return Markup() << "<section id=\"" << id << "\">\n<h2>" << title << "</h2>\n" << content << "</section>\n";
}

std::string ChapterId(std::size_t i) { return "results-" + std::to_string(i + 1); }

Markup ChapterHtml(const Chapter& chapter, const ChapterPlots& plots, std::size_t number) {
  Markup html = FiguresHtml("By size of values", plots.by_size);
  for (std::size_t i = 0; i < chapter.runs.size(); ++i) {
    html << RunHtml(chapter.runs[i], plots.runs[i], i == 0, chapter.runs.size() == 1);
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

Markup IncompleteHtml(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return {};
  Markup html;
  html
      << "<div class=\"incomplete\" role=\"alert\"><strong>This report is incomplete.</strong> It shows the results "
         "until then.<ul>\n";
  for (const std::string& reason : reasons) html << "<li>" << reason << "</li>\n";
  return html << "</ul></div>\n";
}

// Returns buttons with the engines' names and colours. A click highlights an engine.
Markup EnginesHtml(const Arrangement& arrangement) {
  Markup html;
  html << "<div class=\"engines\" role=\"group\" aria-label=\"Bring an engine forward\">\n";
  for (const std::string& engine : arrangement.engines) {
    const std::string place = "e" + std::to_string(arrangement.palette.PlaceOf(engine));
    html << "<button type=\"button\" class=\"engine\" aria-pressed=\"false\" data-engine=\"" << place
         << "\"><i class=\"" << place << "\"></i>" << engine << "</button>\n";
  }
  return html << "</div>\n";
}

Markup Link(const std::string& id, const std::string& text) {
  return Markup() << "<a href=\"#" << id << "\">" << text << "</a>\n";
}

Markup NavigationHtml(const ReportInput& input, const Arrangement& arrangement, const AllPlots& plots) {
  Markup html;
  html << "<nav>\n";
  if (!input.claims.empty()) html << Link("claims", "Claims");
  if (!plots.general.empty()) html << Link("law", "Space and writes");
  for (std::size_t i = 0; i < arrangement.chapters.size(); ++i) {
    html << Link(ChapterId(i), arrangement.chapters[i].name);
  }
  return html << Link("machine", "Machine") << Link("commands", "Commands") << Link("settings", "Settings")
              << "</nav>\n";
}

Markup HeaderHtml(const ReportInput& input, const Arrangement& arrangement) {
  const Counts counts = CountAll(arrangement);
  std::string commit;
  for (const ReportRun& run : input.runs) {
    if (commit.empty()) commit = run.facts.commit;
  }
  std::string lead = Many(counts.results, "result") + " of " + Many(arrangement.engines.size(), "engine") + " in " +
                     Many(counts.runs, "run") + ", up to " + Many(counts.rounds, "round") + " each.";
  if (!commit.empty()) lead += " Cambium at " + commit + ".";
  return Markup() << "<header>\n<h1>Cambium benchmark report</h1>\n<p class=\"lead\">" << lead
                  << " The figures are in <a href=\"results.csv\">results.csv</a> and <a href=\"results.json\">"
                     "results.json</a> next to this page, each plot in <code>plots/</code>.</p>\n"
                  << IncompleteHtml(input.incomplete) << "</header>\n";
}

// Returns a sentence on which values were compared with the written ones, and where only parts or none of them were.
std::string ComparisonText(const std::vector<ReportRun>& runs) {
  bool ends = false;
  bool keys = false;
  bool foreign = false;
  for (const ReportRun& run : runs) {
    const std::string& command = run.facts.command;
    ends =
        ends || command.find("--check=ends") != std::string::npos || command.find("--check ends") != std::string::npos;
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
  Markup page;
  page << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n"
          "<title>Cambium benchmark report</title>\n<style>\n"
       << Markup::Trusted(kPlotCss) << Markup::Trusted(kPageCss) << "</style>\n</head>\n<body class=\"plot\">\n";
  page << HeaderHtml(input, arrangement) << "<div class=\"bar\">\n"
       << NavigationHtml(input, arrangement, plots) << EnginesHtml(arrangement) << "</div>\n<main>\n";
  if (!input.claims.empty()) page << Section("claims", "Published claims", ClaimsTable(input.claims));
  if (!plots.general.empty()) page << Section("law", "Space and writes", FiguresHtml(plots.general));
  page << If(arrangement.chapters.empty(), "<p class=\"note\">There is no result.</p>\n");
  for (std::size_t i = 0; i < arrangement.chapters.size(); ++i) {
    page << ChapterHtml(arrangement.chapters[i], plots.chapters[i], i);
  }
  page << Section("machine", "Machine", MachineTable(input.runs))
       << Section("commands", "Commands", CommandList(arrangement))
       << Section("settings", "Settings of the engines", SettingsTable(arrangement))
       << "</main>\n<footer>Made by cambium_bench. A ratio is taken within a round. " << ComparisonText(input.runs)
       << "</footer>\n<script>\n"
       << Markup::Trusted(kPageJs) << "</script>\n</body>\n</html>\n";
  return page.text();
}

}  // namespace cambium::bench
