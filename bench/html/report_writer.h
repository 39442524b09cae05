// A report as files: report.html, results.json, results.csv, and plots/ with a drawing per plot.
#pragma once

#include <string>

#include "cambium/status.h"
#include "html/run_facts.h"

namespace cambium::bench {

// Makes the directory if need be; an error if nothing can be written there.
Status PrepareReport(const std::string& directory);

// report.html shows all and needs none of the others. Files of an earlier report are replaced, and its plots removed.
Status WriteReport(const std::string& directory, const ReportInput& input);

}  // namespace cambium::bench
