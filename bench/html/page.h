// The page: chapters, plots and tables as one HTML document that needs nothing but itself.
#pragma once

#include <string>
#include <vector>

#include "html/arrangement.h"
#include "html/plot.h"

namespace cambium::bench {

// The plots of a run, a chapter, or of all, in the order in which they are shown.
struct RunPlots {
  std::vector<Plot> speed;
  std::vector<Plot> cost;  // writes and space
  std::vector<Plot> latency;
  std::vector<Plot> time;  // how it went on
};
struct ChapterPlots {
  std::vector<Plot> by_size;
  std::vector<RunPlots> runs;  // as Chapter::runs
};
struct AllPlots {
  std::vector<Plot> general;
  std::vector<ChapterPlots> chapters;  // as Arrangement::chapters

  // In the order of the page, names unlike each other.
  [[nodiscard]] std::vector<const Plot*> Each() const;
};
AllPlots MakePlots(const Arrangement& arrangement);

std::string MakePage(const ReportInput& input, const Arrangement& arrangement, const AllPlots& plots);

}  // namespace cambium::bench
