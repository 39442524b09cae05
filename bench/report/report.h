// MakeReport: the tables at the end of a run, with engines side by side.
#pragma once

#include <string>
#include <vector>

#include "results/result.h"

namespace cambium::bench {

// A table has one row per benchmark of --benchmarks and one column per engine, in the order in which they first appear.
// Speed is the median over the rounds. With several rounds it is followed by its spread: half the distance of the
// fastest and the slowest round, in per cent. Other tables have medians of latency, the longest put, processor time,
// space and memory. If cambium ran with both indexes, a last column has the tree's figure over the LSM's.
//
// The tables of speed, p99 and the longest put are each followed by a table of ratios of cambium (or the first engine,
// if cambium did not run) to each other engine: 2 means twice as good. Ratios are taken within a round, because the
// load of the machine differs from round to round. A cell has the median of these ratios, the smallest and the largest.
// If they lie on both sides of 1, or further apart than half of the median, the cell has a question mark, which the
// table explains.
//
// Figures that engines count themselves (bytes by cause, stalls, caches) have tables if any engine counts them. The
// last table describes cambium's index after each workload that writes, and compares the bytes written to it with the
// cost law.
std::string MakeReport(const std::vector<Result>& results);

}  // namespace cambium::bench
