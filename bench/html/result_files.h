// ReadResults: reads the results of earlier runs.
#pragma once

#include <string>
#include <vector>

#include "cambium/status.h"
#include "html/run_facts.h"

namespace cambium::bench {

// Adds the results in `file`, which --json (an object per line) or --report (results.json, an array) has written.
// Objects with the same facts belong to one run. If the run already has a result of the same engine, step and round,
// the command was repeated, and a new run begins. Corruption names file and line.
Status ReadResults(const std::string& file, std::vector<ReportRun>* runs);

}  // namespace cambium::bench
