// The tables at the end of a run: engines side by side.
#pragma once

#include <string>
#include <vector>

#include "result.h"

namespace cambium::bench {

// One row per benchmark of the list, one column per engine, in the order in which they first appear. Speed is the
// median over the rounds; behind it its spread, half the distance of the fastest and the slowest round in per cent, if
// there were several rounds, and how many times as fast as this engine the first one is. Then latency, processor time,
// space and memory, medians. If cambium ran with both indexes, a last column has the tree's figure over the LSM's.
// Below, what its index is like after each workload that writes, and what was written to it beside the cost law.
std::string MakeReport(const std::vector<Result>& results);

}  // namespace cambium::bench
