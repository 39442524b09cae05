// The output of `trace analyze`: text files as RocksDB's trace_analyzer writes them, one line per item, a summary and
// JSON.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cambium/status.h"
#include "trace/mixgraph_fit.h"
#include "trace/source.h"
#include "trace/statistics.h"
#include "util/prng.h"

namespace cambium::bench {

struct AnalyzeFlags {
  std::string trace_path;
  std::string output_dir;
  std::string output_prefix = "trace";
  bool output_key_stats = false;
  bool output_access_count_stats = false;
  bool output_value_distribution = false;
  bool output_scan_lengths = false;
  bool output_time_series = false;
  bool output_qps_stats = false;
  bool output_key_ranges = false;
  bool convert_to_human_readable_trace = false;
  std::size_t output_prefix_cut = 0;  // bytes; 0: no such file
  std::uint64_t value_interval = 8;
  std::uint64_t print_top_k_access = 1;
  double sample_ratio = 1;
  std::uint64_t seed = 1;
  std::uint64_t num = 0;
  std::uint64_t keyrange_num = 30;
  std::uint64_t heat_map_seconds = 60;
  bool analyze_get = true;
  bool analyze_multiget = true;
  bool analyze_put = true;
  bool analyze_delete = true;
  bool analyze_single_delete = true;
  bool analyze_range_delete = true;
  bool analyze_iterator = true;
  std::string json;

  [[nodiscard]] bool Writes() const {
    return output_key_stats || output_access_count_stats || output_value_distribution || output_scan_lengths ||
           output_time_series || output_qps_stats || output_key_ranges || convert_to_human_readable_trace ||
           output_prefix_cut > 0;
  }
  [[nodiscard]] bool Analyzes(OpGroup group) const;
};

// An OpChoice selects the operations to analyse: a random sample of those in the groups that the flags ask for. Two
// walks over a trace, each with an OpChoice of the same flags, select the same operations.
class OpChoice {
 public:
  // `flags` must outlive it.
  explicit OpChoice(const AnalyzeFlags& flags) : flags_(flags), random_(flags.seed) {}
  // Returns whether `op` is selected. To be called for each operation of the trace, in order.
  [[nodiscard]] bool Takes(const TracedOp& op) {
    if (!flags_.Analyzes(GroupOf(op.kind))) return false;
    return flags_.sample_ratio >= 1 || random_.NextDouble() < flags_.sample_ratio;
  }

 private:
  const AnalyzeFlags& flags_;
  Prng random_;
};

// A file that is written line by line. End() returns whether all of it was written.
class OutputFile {
 public:
  // <output_dir>/<output_prefix>-<name>.txt
  Status Open(const AnalyzeFlags& flags, const std::string& name);
  [[nodiscard]] bool is_open() const { return out_.is_open(); }
  void Line(const std::string& line) { out_ << line << '\n'; }
  Status End();

 private:
  std::string path_;
  std::ofstream out_;
};

// Writes the files that need the statistics alone: key stats, counts of accesses, sizes, lengths, rates, prefixes.
Status WriteStatistics(const AnalyzeFlags& flags, const TraceStatistics& statistics);
// Writes the files that need the id of each key, by a second walk: the time series and the heat map of key ranges.
Status WriteSecondWalk(const AnalyzeFlags& flags, const TraceStatistics& statistics, const MixgraphFit& fit);

// Returns the text that is printed.
std::string SummaryOf(const AnalyzeFlags& flags, const TraceFacts& facts, const TraceStatistics& statistics,
                      const MixgraphFit& fit);
nlohmann::ordered_json JsonOf(const AnalyzeFlags& flags, const TraceFacts& facts, const TraceStatistics& statistics,
                              const MixgraphFit& fit);

}  // namespace cambium::bench
