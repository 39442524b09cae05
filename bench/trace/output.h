// The files of `trace analyze`, in the manner of RocksDB's trace_analyzer: text, one line for each thing.
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
  std::size_t output_prefix_cut = 0;  // bytes; 0: no file
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

// Which operations are looked at: those of the groups that are asked for, of these a part by chance. Two walks over a
// trace, each with one of these, meet the same.
class OpChoice {
 public:
  // `flags` must outlive it.
  explicit OpChoice(const AnalyzeFlags& flags) : flags_(flags), random_(flags.seed) {}
  // Each operation of the trace in its order.
  [[nodiscard]] bool Takes(const TracedOp& op) {
    if (!flags_.Analyzes(GroupOf(op.kind))) return false;
    return flags_.sample_ratio >= 1 || random_.NextDouble() < flags_.sample_ratio;
  }

 private:
  const AnalyzeFlags& flags_;
  Prng random_;
};

// A file that is written line by line; End says whether all of it arrived.
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

// All that is written from the counts alone: key stats, counts of accesses, sizes, lengths, rates, prefixes.
Status WriteStatistics(const AnalyzeFlags& flags, const TraceStatistics& statistics);
// What needs a second walk, when the number of each key is known: the time series, and the heat map of key ranges.
Status WriteSecondWalk(const AnalyzeFlags& flags, const TraceStatistics& statistics, const MixgraphFit& fit);

// What is printed.
std::string SummaryOf(const AnalyzeFlags& flags, const TraceFacts& facts, const TraceStatistics& statistics,
                      const MixgraphFit& fit);
nlohmann::ordered_json JsonOf(const AnalyzeFlags& flags, const TraceFacts& facts, const TraceStatistics& statistics,
                              const MixgraphFit& fit);

}  // namespace cambium::bench
