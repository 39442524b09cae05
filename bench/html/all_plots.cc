#include <set>
#include <utility>

#include "html/page.h"
#include "html/plots.h"

namespace cambium::bench {
namespace {

void Add(std::optional<Plot> plot, std::vector<Plot>* plots) {
  if (plot.has_value()) plots->push_back(*std::move(plot));
}

void AddAll(std::vector<Plot> some, std::vector<Plot>* plots) {
  for (Plot& plot : some) plots->push_back(std::move(plot));
}

RunPlots PlotsOf(const Palette& palette, const RunView& run) {
  RunPlots plots;
  Add(PlotThroughput(palette, run), &plots.speed);
  Add(PlotRatios(palette, run), &plots.speed);
  Add(PlotWriteAmp(palette, run), &plots.cost);
  Add(PlotSpaceAmp(palette, run), &plots.cost);
  Add(PlotIndexBytes(palette, run), &plots.cost);
  AddAll(PlotLatencies(palette, run), &plots.latency);
  AddAll(PlotsOfThroughputOverTime(palette, run), &plots.time);
  AddAll(PlotsOfSpaceOverTime(palette, run), &plots.time);
  return plots;
}

// Calls `visit` for every plot in the order of the page.
template <typename All, typename Visit>
void ForEach(All& all, Visit visit) {
  for (auto& plot : all.general) visit(plot);
  for (auto& chapter : all.chapters) {
    for (auto& plot : chapter.by_size) visit(plot);
    for (auto& run : chapter.runs) {
      for (auto* group : {&run.speed, &run.cost, &run.latency, &run.time}) {
        for (auto& plot : *group) visit(plot);
      }
    }
  }
}

}  // namespace

std::vector<const Plot*> AllPlots::Each() const {
  std::vector<const Plot*> each;
  ForEach(*this, [&each](const Plot& plot) { each.push_back(&plot); });
  return each;
}

AllPlots MakePlots(const Arrangement& arrangement) {
  AllPlots all;
  Add(PlotLaw(arrangement), &all.general);
  for (const Chapter& chapter : arrangement.chapters) {
    ChapterPlots plots{.by_size = PlotsByValueSize(arrangement.palette, chapter), .runs = {}};
    for (const RunView& run : chapter.runs) plots.runs.push_back(PlotsOf(arrangement.palette, run));
    all.chapters.push_back(std::move(plots));
  }
  std::set<std::string> names;
  ForEach(all, [&names](Plot& plot) {
    const std::string name = plot.name;
    for (int i = 2; !names.insert(plot.name).second; ++i) plot.name = name + "-" + std::to_string(i);
  });
  return all;
}

}  // namespace cambium::bench
