// Cooper and others, "Benchmarking cloud serving systems with YCSB", SoCC 2010; runs are in the order of YCSB's wiki:
// load, A, B, C, F, D, then a new load and E.
#include "presets/presets.h"

namespace cambium::bench {

std::vector<PresetRun> YcsbRuns(double scale) {
  const std::uint64_t records = Scaled(10e6, scale, 1000);
  const std::vector<std::string> common = {Flag("record_count", records), Flag("operation_count", records), "--threads=2",
                                           "--engine=all", "--index=both"};
  std::vector<PresetRun> runs = {{"ycsb, A B C F D", common}, {"ycsb, E", common}};
  runs[0].arguments.push_back("--benchmarks=ycsb_load,ycsb_a,ycsb_b,ycsb_c,ycsb_f,ycsb_d,verify");
  runs[1].arguments.push_back("--benchmarks=ycsb_load,ycsb_e,verify");
  return runs;
}

}  // namespace cambium::bench
