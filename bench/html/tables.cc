#include "html/tables.h"

#include <algorithm>
#include <map>

#include "html/escape.h"

namespace cambium::bench {
namespace {

std::string Element(const std::string& name, const std::string& content, const std::string& classes = "") {
  return "<" + name + (classes.empty() ? "" : " class=\"" + classes + "\"") + ">" + content + "</" + name + ">";
}

std::string Scrolling(const std::string& table) { return "<div class=\"scroll\" tabindex=\"0\">" + table + "</div>\n"; }

// Returns "1.50x 1.41–1.62", marked by whether the rounds agree on which engine is better.
std::string RatioHtml(const Spread& ratio) {
  const std::string median = Format(Unit::kTimes, ratio.median);
  if (ratio.rounds == 1) return Element("span", median, "ratio alone");
  const std::string text =
      median + " <small>" + Format(Unit::kPlain, ratio.low) + "–" + Format(Unit::kPlain, ratio.high) + "</small>";
  if (IsDoubtful(ratio)) {
    return "<span class=\"ratio unsure\" title=\"the rounds do not agree on who is better\">" + text + " ?</span>";
  }
  return Element("span", text, ratio.low > 1 ? "ratio better" : "ratio worse");
}

std::string CellHtml(const Figure& figure, const Spread& spread) {
  std::string text = Element("span", Escape(Format(figure.unit, spread.median)), "figure");
  if (spread.rounds > 1 && spread.median > 0) {
    text += " <small>±" + Decimal((spread.high - spread.low) / 2 / spread.median * 100, 0) + " %</small>";
  }
  return text;
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

std::string RowHtml(const RunView& run, const StepOfRun& step, const Figure& figure) {
  std::map<std::string, Spread> cells;
  for (const std::string& engine : run.engines()) {
    if (const auto spread = run.SpreadOfRounds(step.step, engine, figure.metric); spread.has_value())
      cells[engine] = *spread;
  }
  if (cells.empty()) return {};
  const std::string& base = run.engines().front();
  const Rounds own = run.RoundsOf(step.step, base, figure.metric);
  const std::string best = BestOf(figure, cells);
  std::string row = "<th scope=\"row\">" + Escape(step.name) + "</th>";
  for (const std::string& engine : run.engines()) {
    const auto cell = cells.find(engine);
    if (cell == cells.end()) {
      row += "<td>-</td>";
      continue;
    }
    std::string text = CellHtml(figure, cell->second);
    if (engine != base && figure.better.has_value()) {
      const auto ratio = SpreadOf(RatiosOf(figure, own, run.RoundsOf(step.step, engine, figure.metric)));
      if (ratio.has_value()) text += RatioHtml(*ratio);
    }
    row += Element("td", text, engine == best ? "best" : "");
  }
  return Element("tr", row) + "\n";
}

using Row = std::vector<std::string>;

std::string RowOf(const std::string& name, const Row& cells, const std::string& heading) {
  std::string row = heading.empty() ? "" : "<th scope=\"row\">" + Escape(heading) + "</th>";
  for (const std::string& cell : cells) row += "<" + name + ">" + Escape(cell) + "</" + name + ">";
  return Element("tr", row) + "\n";
}

std::string VerdictHtml(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return Element("span", "holds", "verdict holds");
    case Verdict::kInPart:
      return Element("span", "in part", "verdict part");
    case Verdict::kDiffers:
      return Element("span", "differs", "verdict differs");
    case Verdict::kDoubtful:
      return Element("span", "doubtful ?", "verdict unsure");
    case Verdict::kNotMeasured:
      break;
  }
  return Element("span", "not measured", "verdict unmeasured");
}

}  // namespace

std::string ToHtml(const DataTable& table) {
  std::string rows = "<thead>" + RowOf("th", table.head, "") + "</thead>\n<tbody>\n";
  for (const Row& row : table.rows) rows += RowOf("td", row, "");
  return Scrolling("<table class=\"data\">\n" + rows + "</tbody></table>");
}

std::string ComparisonTable(const RunView& run, const Figure& figure) {
  std::string rows;
  for (const StepOfRun& step : run.steps()) rows += RowHtml(run, step, figure);
  if (rows.empty()) return {};
  std::string head = "<th scope=\"col\">benchmark</th>";
  for (const std::string& engine : run.engines()) head += "<th scope=\"col\">" + Escape(engine) + "</th>";
  return Scrolling("<table class=\"comparison\">\n<thead><tr>" + head + "</tr></thead>\n<tbody>\n" + rows +
                   "</tbody></table>");
}

std::string ClaimsTable(const std::vector<Claim>& claims) {
  if (claims.empty()) return {};
  std::string rows;
  for (const Claim& claim : claims) {
    const std::string alone = claim.rounds == 1 ? "<br>" + Element("small", "one round") : "";
    rows += Element("tr", "<th scope=\"row\">" + Escape(claim.id) + "</th>" +
                              Element("td", Escape(claim.text) + "<br>" + Element("small", Escape(claim.source))) +
                              Element("td", Escape(claim.published)) + Element("td", Escape(claim.criterion)) +
                              Element("td", Escape(claim.measured)) + Element("td", VerdictHtml(claim.verdict) + alone) +
                              Element("td", Escape(claim.why))) +
            "\n";
  }
  return "<p class=\"note\">A claim holds if every figure that its criterion names, of every size that was run, is met "
         "within 5 %. Of several rounds the median is shown. A verdict is doubtful where it hangs on a figure whose "
         "rounds lie on both sides of the criterion, or that is a ratio of speeds and whose rounds lie further apart than "
         "half of their median.</p>\n" +
         Scrolling("<table class=\"claims\">\n<thead><tr><th scope=\"col\"></th><th scope=\"col\">claim</th><th "
                   "scope=\"col\">published</th><th scope=\"col\">holds if</th><th scope=\"col\">measured here</th><th "
                   "scope=\"col\">verdict</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n" +
                   rows + "</tbody></table>");
}

std::string MachineTable(const std::vector<ReportRun>& runs) {
  using Field = std::pair<const char*, std::string RunFacts::*>;
  static constexpr Field kFields[] = {{"Processor", &RunFacts::cpu}, {"Memory", &RunFacts::memory},
                                      {"Kernel", &RunFacts::kernel}, {"File system", &RunFacts::file_system},
                                      {"Commit", &RunFacts::commit}, {"Build", &RunFacts::build}};
  std::string rows;
  for (const auto& [name, field] : kFields) {
    std::vector<std::string> values;
    for (const ReportRun& run : runs) {
      if (!run.results.empty()) AddOnce(&values, (run.facts.*field).empty() ? "not recorded" : run.facts.*field);
    }
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : "<br>") + Escape(value);
    rows += Element("tr", "<th scope=\"row\">" + Escape(name) + "</th>" + Element("td", text)) + "\n";
  }
  return Scrolling("<table class=\"facts\"><tbody>\n" + rows + "</tbody></table>");
}

std::string CommandList(const Arrangement& arrangement) {
  std::string list;
  for (const Chapter& chapter : arrangement.chapters) {
    for (const RunView& run : chapter.runs) {
      list += "<dt>" + Escape(chapter.name + " · " + run.name()) + "</dt><dd><pre>" + Escape(run.run().facts.command) +
              "</pre></dd>\n";
    }
  }
  return "<dl class=\"commands\">\n" + list + "</dl>\n";
}

std::string SettingsTable(const Arrangement& arrangement) {
  std::string rows;
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
      const std::string where = texts.size() > 1 ? "<br><small>" + Escape(runs_of[text]) + "</small>" : "";
      rows +=
          Element("tr", "<th scope=\"row\">" + Escape(engine) + where + "</th>" + Element("td", Escape(text))) + "\n";
    }
  }
  if (rows.empty()) return "<p>These results do not say what their engines were set to.</p>\n";
  return Scrolling("<table class=\"facts\"><tbody>\n" + rows + "</tbody></table>");
}

}  // namespace cambium::bench
