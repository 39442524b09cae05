// The page: chapters, plots and tables as one self-contained HTML document.
#pragma once

#include <string>
#include <vector>

#include "html/arrangement.h"
#include "html/plot.h"

namespace cambium::bench {

// The plots of a run, of a chapter, and of all chapters, in the order of the page.
struct RunPlots {
  std::vector<Plot> speed;
  std::vector<Plot> cost;  // writes and space
  std::vector<Plot> latency;
  std::vector<Plot> time;  // over time
};
struct ChapterPlots {
  std::vector<Plot> by_size;
  std::vector<RunPlots> runs;  // as Chapter::runs
};
struct AllPlots {
  std::vector<Plot> general;
  std::vector<ChapterPlots> chapters;  // as Arrangement::chapters

  // Returns the plots in the order of the page. Their names are unique.
  [[nodiscard]] std::vector<const Plot*> Each() const;
};
AllPlots MakePlots(const Arrangement& arrangement);

std::string MakePage(const ReportInput& input, const Arrangement& arrangement, const AllPlots& plots);

}  // namespace cambium::bench
