// results.csv: a row per engine, experiment, benchmark and round, with every figure that is a number or a text.
#pragma once

#include <string>
#include <vector>

#include "html/run_facts.h"

namespace cambium::bench {

// A cell as RFC 4180 has it: in quotes where it must be.
std::string CsvCell(const std::string& text);

// The columns are those of the JSON; of an object in it each field has a column of its own, "ledger.gc". Lists
// (samples, the latency curve) are left out. Empty: the engine has no such figure.
std::string ToCsv(const std::vector<ReportRun>& runs);

}  // namespace cambium::bench
