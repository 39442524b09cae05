// The tables at the end of a run: engines side by side.
#pragma once

#include <string>
#include <vector>

#include "results/result.h"

namespace cambium::bench {

// One row per benchmark of the list, one column per engine, in the order in which they first appear. Speed is the
// median over the rounds; behind it its spread, half the distance of the fastest and the slowest round in per cent, if
// there were several rounds. Then latency, the longest put, processor time, space and memory, medians. If cambium ran
// with both indexes, a last column has the tree's figure over the LSM's.
//
// Below speed, p99 and the longest put stand their ratios: how many times as good as each other engine cambium is, or
// the first one if cambium did not run. A ratio is taken in each round, because what else the machine does differs from
// round to round; a cell has the median of these ratios, and the smallest and the largest. Where these lie on both sides
// of 1, or further apart than half of the median, the cell has a question mark, and the table says what that means.
// What engines have counted themselves (bytes by cause, stalls, caches) has tables too, as far as any of them counts.
// Below, what its index is like after each workload that writes, and what was written to it beside the cost law.
std::string MakeReport(const std::vector<Result>& results);

}  // namespace cambium::bench
