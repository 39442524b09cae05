// FindSavings lists the space that other option values, or jobs that are due, would save. It computes them from a
// SpaceReport and a sample of values; each saving says how it was computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "inspect/gc_plan.h"
#include "inspect/space_report.h"

namespace cambium {

struct Saving {
  std::string family;  // empty: the whole database
  std::string what;    // the option with its value, or the call
  std::uint64_t bytes = 0;
  std::string how;  // how it was computed, and what it costs
};

// Returns savings of at least `least` bytes, the largest first. `options` are those of the report's families, in the
// same order. Notes a damaged value of the sample as a problem.
Result<std::vector<Saving>> FindSavings(InspectedDatabase* database, const SpaceReport& report,
                                        const ValueSample& sample, const std::vector<ColumnFamilyOptions>& options,
                                        const GcPlan& plan, std::uint64_t least);

}  // namespace cambium
