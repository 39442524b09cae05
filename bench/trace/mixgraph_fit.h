// MixgraphFit: the parameters with which mixgraph does about what a trace shows, and the command that runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/fit.h"
#include "trace/statistics.h"

namespace cambium::bench {

struct MixgraphFit {
  // Keys as numbers: those of db_bench say which one they are; others are numbered in the order of their bytes.
  bool keys_have_ids = false;
  std::uint64_t num = 0;
  std::size_t key_size = 0;    // on average, where they differ
  std::uint64_t accesses = 0;  // of keys
  double get_ratio = 0;        // MultiGet by its keys
  double put_ratio = 0;
  double seek_ratio = 0;
  double other_ratio = 0;      // of all operations: deletes, which mixgraph has not
  std::optional<ParetoFit> values;
  std::uint64_t value_size_max = 0;
  double value_size_mean = 0;
  std::optional<ParetoFit> scans;
  std::uint64_t scan_length_max = 0;
  std::vector<double> range_parts;  // of accesses, the warmest range first
  std::optional<ExponentialsFit> ranges;
  bool has_warm_ranges = false;  // some range gets so much more than others that it is said
  std::optional<PowerFit> keys;  // in ranges, if there are warm ones; else over all
  double seconds = 0;
  std::optional<SineFit> rate;   // in operations a second
  bool has_sine = false;         // it explains more than half of how the rate changes

  // cambium_bench --benchmarks=...,mixgraph with all of it.
  [[nodiscard]] std::string Command() const;
};

// `num`: how many keys the database has, 0: as many as the trace shows. `range_num` ranges of equal size are looked at.
[[nodiscard]] MixgraphFit FitMixgraph(const TraceStatistics& statistics, std::uint64_t num, std::uint64_t range_num);

}  // namespace cambium::bench
