#include "html/tables.h"

#include <algorithm>
#include <map>

namespace cambium::bench {
namespace {

Markup Scrolling(const Markup& table) {
  return Markup() << "<div class=\"scroll\" tabindex=\"0\">" << table << "</div>\n";
}

// Returns "1.50x 1.41–1.62", marked by whether the rounds agree on which engine is better.
Markup RatioHtml(const Spread& ratio) {
  const std::string median = Format(Unit::kTimes, ratio.median);
  if (ratio.rounds == 1) return Markup() << "<span class=\"ratio alone\">" << median << "</span>";
  Markup html;
  if (IsDoubtful(ratio)) {
    html << "<span class=\"ratio unsure\" title=\"the rounds do not agree on who is better\">";
  } else {
    html << "<span class=\"ratio " << (ratio.low > 1 ? Literal("better") : Literal("worse")) << "\">";
  }
  html << median << " <small>" << Format(Unit::kPlain, ratio.low) << "–" << Format(Unit::kPlain, ratio.high)
       << "</small>";
  return html << If(IsDoubtful(ratio), " ?") << "</span>";
}

Markup CellHtml(const Figure& figure, const Spread& spread) {
  Markup html;
  html << "<span class=\"figure\">" << Format(figure.unit, spread.median) << "</span>";
  if (spread.rounds > 1 && spread.median > 0) {
    html << " <small>±" << Decimal((spread.high - spread.low) / 2 / spread.median * 100, 0) << " %</small>";
  }
  return html;
}

Rounds RatiosOf(const Figure& figure, const Rounds& own, const Rounds& theirs) {
  return figure.better == Better::kMore ? Divide(own, theirs) : Divide(theirs, own);
}

// Returns the best engine, or "" if there is only one.
std::string BestOf(const Figure& figure, const std::map<std::string, Spread>& cells) {
  if (!figure.better.has_value() || cells.size() < 2) return {};
  const auto best = std::min_element(cells.begin(), cells.end(), [&](const auto& a, const auto& b) {
    return figure.better == Better::kMore ? a.second.median > b.second.median : a.second.median < b.second.median;
  });
  return best->first;
}

Markup RowHtml(const RunView& run, const StepOfRun& step, const Figure& figure) {
  std::map<std::string, Spread> cells;
  for (const std::string& engine : run.engines()) {
    if (const auto spread = run.SpreadOfRounds(step.step, engine, figure.metric); spread.has_value())
      cells[engine] = *spread;
  }
  if (cells.empty()) return {};
  const std::string& base = run.engines().front();
  const Rounds own = run.RoundsOf(step.step, base, figure.metric);
  const std::string best = BestOf(figure, cells);
  Markup row;
  row << "<tr><th scope=\"row\">" << step.name << "</th>";
  for (const std::string& engine : run.engines()) {
    const auto cell = cells.find(engine);
    if (cell == cells.end()) {
      row << "<td>-</td>";
      continue;
    }
    row << "<td" << If(engine == best, " class=\"best\"") << ">" << CellHtml(figure, cell->second);
    if (engine != base && figure.better.has_value()) {
      const auto ratio = SpreadOf(RatiosOf(figure, own, run.RoundsOf(step.step, engine, figure.metric)));
      if (ratio.has_value()) row << RatioHtml(*ratio);
    }
    row << "</td>";
  }
  return row << "</tr>\n";
}

Markup VerdictHtml(Verdict verdict) {
  const auto span = [](Literal css_class, Literal word) {
    return Markup() << "<span class=\"verdict " << css_class << "\">" << word << "</span>";
  };
  switch (verdict) {
    case Verdict::kHolds:
      return span("holds", "holds");
    case Verdict::kInPart:
      return span("part", "in part");
    case Verdict::kDiffers:
      return span("differs", "differs");
    case Verdict::kDoubtful:
      return span("unsure", "doubtful ?");
    case Verdict::kNotMeasured:
      break;
  }
  return span("unmeasured", "not measured");
}

}  // namespace

Markup ToHtml(const DataTable& table) {
  Markup html;
  html << "<table class=\"data\">\n<thead><tr>";
  for (const std::string& cell : table.head) html << "<th>" << cell << "</th>";
  html << "</tr>\n</thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html << "<tr>";
    for (const std::string& cell : row) html << "<td>" << cell << "</td>";
    html << "</tr>\n";
  }
  return Scrolling(html << "</tbody></table>");
}

Markup ComparisonTable(const RunView& run, const Figure& figure) {
  Markup rows;
  for (const StepOfRun& step : run.steps()) rows << RowHtml(run, step, figure);
  if (rows.empty()) return {};
  Markup html;
  html << "<table class=\"comparison\">\n<thead><tr><th scope=\"col\">benchmark</th>";
  for (const std::string& engine : run.engines()) html << "<th scope=\"col\">" << engine << "</th>";
  return Scrolling(html << "</tr></thead>\n<tbody>\n" << rows << "</tbody></table>");
}

Markup ClaimsTable(const std::vector<Claim>& claims) {
  if (claims.empty()) return {};
  Markup table;
  table << "<table class=\"claims\">\n<thead><tr><th scope=\"col\"></th><th scope=\"col\">claim</th><th "
           "scope=\"col\">published</th><th scope=\"col\">holds if</th><th scope=\"col\">measured here</th><th "
           "scope=\"col\">verdict</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n";
  for (const Claim& claim : claims) {
    table << "<tr><th scope=\"row\">" << claim.id << "</th><td>" << claim.text << "<br><small>" << claim.source
          << "</small></td><td>" << claim.published << "</td><td>" << claim.criterion << "</td><td>" << claim.measured
          << "</td><td>" << VerdictHtml(claim.verdict) << If(claim.rounds == 1, "<br><small>one round</small>")
          << "</td><td>" << claim.why << "</td></tr>\n";
  }
  return Markup()
         << "<p class=\"note\">A claim holds if every figure that its criterion names, of every size that was run, is "
            "met within 5 %. Of several rounds the median is shown. A verdict is doubtful if it depends on a figure "
            "whose rounds lie on both sides of the criterion, or, for a ratio of speeds, further apart than half of "
            "their median.</p>\n"
         << Scrolling(table << "</tbody></table>");
}

Markup MachineTable(const std::vector<ReportRun>& runs) {
  struct Field {
    Literal name;
    std::string RunFacts::*fact;
  };
  static constexpr Field kFields[] = {{"Processor", &RunFacts::cpu}, {"Memory", &RunFacts::memory},
                                      {"Kernel", &RunFacts::kernel}, {"File system", &RunFacts::file_system},
                                      {"Commit", &RunFacts::commit}, {"Build", &RunFacts::build}};
  Markup table;
  table << "<table class=\"facts\"><tbody>\n";
  for (const auto& [name, field] : kFields) {
    std::vector<std::string> values;
    for (const ReportRun& run : runs) {
      if (!run.results.empty()) AddOnce(&values, (run.facts.*field).empty() ? "not recorded" : run.facts.*field);
    }
    table << "<tr><th scope=\"row\">" << name << "</th><td>";
    for (const std::string& value : values) table << If(&value != &values.front(), "<br>") << value;
    table << "</td></tr>\n";
  }
  return Scrolling(table << "</tbody></table>");
}

Markup CommandList(const Arrangement& arrangement) {
  Markup list;
  list << "<dl class=\"commands\">\n";
  for (const Chapter& chapter : arrangement.chapters) {
    for (const RunView& run : chapter.runs) {
      list << "<dt>" << chapter.name << " · " << run.name() << "</dt><dd><pre>" << run.run().facts.command
           << "</pre></dd>\n";
    }
  }
  return list << "</dl>\n";
}

Markup SettingsTable(const Arrangement& arrangement) {
  Markup rows;
  for (const std::string& engine : arrangement.engines) {
    std::vector<std::string> texts;
    std::map<std::string, std::string> runs_of;
    for (const Chapter& chapter : arrangement.chapters) {
      for (const RunView& run : chapter.runs) {
        const auto found = run.run().settings.find(engine);
        if (found == run.run().settings.end()) continue;
        AddOnce(&texts, found->second);
        std::string& names = runs_of[found->second];
        names += (names.empty() ? "" : "; ") + run.name();
      }
    }
    for (const std::string& text : texts) {
      rows << "<tr><th scope=\"row\">" << engine;
      if (texts.size() > 1) rows << "<br><small>" << runs_of[text] << "</small>";
      rows << "</th><td>" << text << "</td></tr>\n";
    }
  }
  if (rows.empty()) return Markup() << "<p>These results lack the settings of their engines.</p>\n";
  return Scrolling(Markup() << "<table class=\"facts\"><tbody>\n" << rows << "</tbody></table>");
}

}  // namespace cambium::bench
