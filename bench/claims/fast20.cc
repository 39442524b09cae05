// What the paper on Facebook's workloads says of benchmarks that imitate them (FAST 2020).
#include <algorithm>

#include "claims/figures.h"

namespace cambium::bench {
namespace {

constexpr const char* kSource = "Cao and others, FAST 2020";
constexpr const char* kEngines[] = {"cambium/btree", "cambium/lsm", "rocksdb_leveled"};

Claim OrderClaim(const Figures& f) {
  Claim claim{.id = "F2", .source = kSource,
              .text = "the more locality a workload has, the fewer blocks are read: all_random, all_dist, prefix_random, prefix_dist",
              .published = "prefix_dist is the closest to the trace"};
  std::string text;
  bool holds = true;
  for (const char* engine : kEngines) {
    std::vector<double> misses;
    for (const char* name : {"all_random", "all_dist", "prefix_random", "prefix_dist, zippydb"}) {
      const auto value = f.Of(std::string("fast20, ") + name, engine, "mixgraph", MissesPerOp);
      if (value.has_value()) misses.push_back(*value);
    }
    if (misses.size() != 4) continue;
    text += std::string(text.empty() ? "" : "; ") + engine;
    for (const double value : misses) text += " " + Text(value, 2);
    holds = holds && misses[0] >= misses[1] && misses[0] >= misses[2] && misses[2] >= misses[3];
  }
  if (text.empty()) return NotMeasured(claim, "no engine told how often its cache missed");
  claim.measured = "misses of the cache an operation: " + text;
  claim.verdict = holds ? Verdict::kHolds : Verdict::kDiffers;
  if (!holds) claim.why = "the cache is large for this many keys";
  return claim;
}

Claim YcsbClaim(const Figures& f) {
  Claim claim{.id = "F1", .source = kSource, .text = "YCSB's imitation of ZippyDB reads many times the blocks",
              .published = "7.7 times the block reads"};
  std::string text;
  double least = 1e9;
  for (const char* engine : kEngines) {
    const auto ycsb = f.Of("fast20, ycsb's imitation of zippydb", engine, "ycsb_b", MissesPerOp);
    const auto ours = f.Of("fast20, prefix_dist, zippydb", engine, "mixgraph", MissesPerOp);
    if (!ycsb.has_value() || !ours.has_value() || *ours <= 0) continue;
    least = std::min(least, *ycsb / *ours);
    text += std::string(text.empty() ? "" : ", ") + engine + " " + Text(*ycsb / *ours, 1, "x");
  }
  if (text.empty()) return NotMeasured(claim, "no engine told how often its cache missed, or none did");
  claim.measured = text;
  claim.verdict = least >= 2 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "pages of 4 KiB hold about a hundred keys, and the cache most pages";
  return claim;
}

}  // namespace

std::vector<Claim> JudgeFast20(const Figures& f) {
  if (!f.Has("fast20")) return {};
  return {YcsbClaim(f), OrderClaim(f)};
}

}  // namespace cambium::bench
