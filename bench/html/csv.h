// results.csv: a row for each engine, experiment, benchmark and round, with every figure that is a number or text.
#pragma once

#include <string>
#include <vector>

#include "html/run_facts.h"

namespace cambium::bench {

// Returns a cell as in RFC 4180: in quotes if needed.
std::string CsvCell(const std::string& text);

// Columns are the keys of the JSON. Each field of a nested object has a column of its own, such as "ledger.gc". Lists
// (samples, the latency curve) are left out. A cell is empty if the engine has no such figure.
std::string ToCsv(const std::vector<ReportRun>& runs);

}  // namespace cambium::bench
