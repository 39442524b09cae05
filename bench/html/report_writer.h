// A report as files: report.html, results.json, results.csv, plots/ with a drawing per plot, and plots.txt, their names.
#pragma once

#include <string>

#include "cambium/status.h"
#include "html/run_facts.h"

namespace cambium::bench {

// A line of --json, or an element of results.json, as text. Bytes that are not UTF-8, which paths and command lines may
// have, become U+FFFD.
std::string ResultText(const Result& result, const ReportRun& run);

// Makes the directory if need be; an error if nothing can be written there.
Status PrepareReport(const std::string& directory);

// report.html shows all and needs none of the others. Files of an earlier report are replaced, and its plots removed:
// those that plots.txt names, which it has written; what else lies in plots/ is not ours.
Status WriteReport(const std::string& directory, const ReportInput& input);

}  // namespace cambium::bench
