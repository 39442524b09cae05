// Claims of the paper on Facebook's workloads about benchmarks that imitate them (FAST 2020).
#include "claims/decision.h"

namespace cambium::bench {
namespace {

constexpr const char* kSource = "Cao and others, FAST 2020";
constexpr const char* kEngines[] = {"cambium/btree", "cambium/lsm", "rocksdb_leveled"};
constexpr const char* kNoMisses = "no engine counted cache misses, or there were none";

// Like Divide(), but a round with misses in `more` and none in `fewer` gets a very large ratio.
Rounds TimesAsMany(const Rounds& more, const Rounds& fewer) {
  Rounds ratios = Divide(more, fewer);
  for (const auto& [round, misses] : fewer) {
    const auto other = more.find(round);
    if (misses == 0 && other != more.end() && other->second > 0) ratios[round] = 1e9;
  }
  return ratios;
}

Claim OrderClaim(const Figures& f) {
  Claim claim{.id = "F2", .source = kSource,
              .text = "the more locality a workload has, the fewer blocks are read: all_random, all_dist, prefix_random, prefix_dist",
              .published = "prefix_dist is the closest to the trace",
              .criterion = "each misses as often as the next, or more often, with every engine"};
  constexpr const char* kModels[] = {"all_random", "all_dist", "prefix_random", "prefix_dist, zippydb"};
  std::string text;
  Decision decision;
  for (const char* engine : kEngines) {
    std::vector<Rounds> misses;
    for (const char* name : kModels) misses.push_back(f.Of(std::string("fast20, ") + name, engine, "mixgraph", MissesPerOp));
    Several steps;
    std::string figures;
    for (std::size_t i = 0; i < misses.size(); ++i) {
      figures += " " + Text(misses[i], 2);
      if (i == 0) continue;
      steps.emplace_back(std::string(kModels[i - 1]) + " before " + kModels[i], TimesAsMany(misses[i - 1], misses[i]));
    }
    if (std::erase_if(steps, [](const auto& step) { return step.second.empty(); }) == misses.size() - 1) continue;
    text += std::string(text.empty() ? "" : "; ") + engine + figures;
    decision.Add(engine, steps, AtLeast(1), Kind::kPlain);
  }
  claim.measured = "misses of the cache an operation: " + text;
  return decision.On(claim, kNoMisses);
}

Claim YcsbClaim(const Figures& f) {
  Claim claim{.id = "F1", .source = kSource, .text = "YCSB's imitation of ZippyDB reads many times the blocks",
              .published = "7.7 times the block reads", .criterion = "at least 7.7 times the misses, with every engine"};
  Several ratios;
  for (const char* engine : kEngines) {
    const Rounds ratio = Divide(f.Of("fast20, ycsb's imitation of zippydb", engine, "ycsb_b", MissesPerOp),
                                f.Of("fast20, prefix_dist, zippydb", engine, "mixgraph", MissesPerOp));
    if (!ratio.empty()) ratios.emplace_back(engine, ratio);
  }
  claim.measured = TextOfEach(ratios, 1, "x");
  Decision decision;
  decision.Add("", ratios, AtLeast(7.7), Kind::kPlain);
  return decision.On(claim, kNoMisses);
}

}  // namespace

std::vector<Claim> JudgeFast20(const Figures& f) {
  if (!f.Has("fast20")) return {};
  return {YcsbClaim(f), OrderClaim(f)};
}

}  // namespace cambium::bench
