// A report as files: report.html, results.json, results.csv, plots/ with a drawing for each plot, and plots.txt with
// their names.
#pragma once

#include <string>

#include "cambium/status.h"
#include "html/run_facts.h"

namespace cambium::bench {

// Returns a line of --json, or an element of results.json. Bytes that are not UTF-8, which paths and command lines may
// have, become U+FFFD.
std::string ResultText(const Result& result, const ReportRun& run);

// Creates the directory if needed. Returns an error if nothing can be written there.
Status PrepareReport(const std::string& directory);

// Writes a report. report.html is complete without the other files. Files of an earlier report are replaced. Its plots
// are removed by their names in plots.txt; other files in plots/ are left alone.
Status WriteReport(const std::string& directory, const ReportInput& input);

}  // namespace cambium::bench
