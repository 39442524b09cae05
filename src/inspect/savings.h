// Savings: what another setting, or a job that is due, would save. Only what can be computed from a SpaceReport and a
// sample of values; each says how it was found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "inspect/gc_plan.h"
#include "inspect/space_report.h"

namespace cambium {

struct Saving {
  std::string family;  // empty: of the whole database
  std::string what;    // the option with its value, or the call
  std::uint64_t bytes = 0;
  std::string how;  // how it was found, and what it costs
};

// The largest first; what would save less than `least` is left out. `options`: of each family of the report, in its
// order. A damaged value of the sample is a problem of the database.
Result<std::vector<Saving>> FindSavings(InspectedDatabase* database, const SpaceReport& report,
                                        const ValueSample& sample, const std::vector<ColumnFamilyOptions>& options,
                                        const GcPlan& plan, std::uint64_t least);

}  // namespace cambium
