// The results of earlier runs, read back.
#pragma once

#include <string>
#include <vector>

#include "cambium/status.h"
#include "html/run_facts.h"

namespace cambium::bench {

// Adds what is in `file`, which --json has written (an object a line) or --report (results.json, an array of them).
// Objects with the same facts are a run, until a result comes that the run has already: then the command ran again.
// Corruption names file and line.
Status ReadResults(const std::string& file, std::vector<ReportRun>* runs);

}  // namespace cambium::bench
