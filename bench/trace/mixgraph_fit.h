// MixgraphFit: the parameters with which mixgraph imitates a trace, and the command that runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/fit.h"
#include "trace/statistics.h"

namespace cambium::bench {

struct MixgraphFit {
  // Keys are db_bench's, which contain their ids. Other keys are numbered in the order of their bytes.
  bool keys_have_ids = false;
  std::uint64_t num = 0;
  std::size_t key_size = 0;    // on average
  std::uint64_t accesses = 0;  // of keys
  double get_ratio = 0;        // each key of a MultiGet is a get
  double put_ratio = 0;
  double seek_ratio = 0;
  double other_ratio = 0;  // share of deletes in all operations; mixgraph has none
  std::optional<ParetoFit> values;
  std::uint64_t value_size_max = 0;
  double value_size_mean = 0;
  std::optional<ParetoFit> scans;
  std::uint64_t scan_length_max = 0;
  std::vector<double> range_parts;  // shares of accesses, the warmest range first
  std::optional<ExponentialsFit> ranges;
  bool has_warm_ranges = false;  // some range gets clearly more than its even share
  std::optional<PowerFit> keys;  // within ranges if there are warm ones, else over all keys
  double seconds = 0;
  std::optional<SineFit> rate;  // in operations per second
  bool has_sine = false;        // the sine explains more than half of the variance of the rate

  // Returns the command line of cambium_bench that runs mixgraph with these parameters.
  [[nodiscard]] std::string Command() const;
};

// `num`: the number of keys in the database; 0: as many as the trace shows. The key space is cut into `range_num`
// ranges of equal size.
[[nodiscard]] MixgraphFit FitMixgraph(const TraceStatistics& statistics, std::uint64_t num, std::uint64_t range_num);

}  // namespace cambium::bench
