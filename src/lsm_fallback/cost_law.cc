#include "lsm_fallback/cost_law.h"

#include <algorithm>
#include <cmath>

namespace cambium {
namespace {

class Law {
 public:
  explicit Law(const LsmCost& cost) : cost_(cost) {
    while (last_ + 1 < cost_.policy.num_levels && cost_.keys > TargetOf(last_)) ++last_;
  }

  // Entries that levels 1 and on write for one compaction of level 0, and the entries of the memtables it was made of.
  struct Written {
    double entries = 0;
    double updates = 0;
  };
  [[nodiscard]] Written Run() const {
    Written written;
    const double runs = RunsPerCompaction();
    written.updates = runs * cost_.batch;
    double arriving = Distinct(runs);
    if (is_lazy() && last_ > 1) {
      written.entries += arriving;
    } else {
      written.entries += KeysOf(1, true) + arriving * NotIn(1);
      arriving *= NotIn(1);
    }
    double chunk = arriving;
    for (std::uint32_t level = 1; level < last_; ++level) {
      if (is_lazy()) {
        written.entries += arriving * (level + 1 < last_ ? 1 : LazyPerEntry(level, chunk));
      } else {
        written.entries += arriving * LeveledPerEntry(level, chunk);
        arriving *= NotIn(level + 1);
        chunk = 0;  // from here on a file at a time
      }
    }
    return written;
  }

 private:
  [[nodiscard]] bool is_lazy() const { return cost_.policy.style == kCompactionStyleLazyLevel; }
  [[nodiscard]] double TargetOf(std::uint32_t level) const {
    return cost_.policy.TargetLevelSize(level) / cost_.entry_bytes;
  }
  [[nodiscard]] double FileOf(std::uint32_t level) const {
    return static_cast<double>(cost_.policy.TargetFileSize(level)) / cost_.entry_bytes;
  }
  // `drained`: when it has just given away what was beyond its target, half a step too much on average.
  [[nodiscard]] double KeysOf(std::uint32_t level, bool drained) const {
    if (level == last_) return cost_.keys;
    return std::max(0.0, TargetOf(level) - (drained ? FileOf(level) / 2 : 0));
  }
  // Of entries that come to the level, the part that it has not.
  [[nodiscard]] double NotIn(std::uint32_t level) const {
    if (cost_.keys <= 0) return 1;
    return 1 - (1 - cost_.new_share) * std::min(1.0, KeysOf(level, true) / cost_.keys);
  }

  // A compaction is due by number or by bytes.
  [[nodiscard]] double RunsPerCompaction() const {
    const auto by_count = static_cast<double>(cost_.policy.level0_file_num_compaction_trigger);
    const double by_bytes = std::ceil(cost_.policy.TargetLevelSize(1) / (cost_.batch * cost_.run_entry_bytes));
    return std::max(1.0, std::min(by_count, by_bytes));
  }
  // Different keys in so many runs. Those of one run differ.
  [[nodiscard]] double Distinct(double runs) const {
    const double fresh = runs * cost_.batch * cost_.new_share;
    const double again = cost_.batch * (1 - cost_.new_share);
    if (cost_.keys <= 0 || again <= 0) return runs * cost_.batch;
    const double missed = std::pow(1 - std::min(1.0, again / cost_.keys), runs);
    return fresh + cost_.keys * (1 - missed);
  }

  // `chunk`: what arrives in the level at a time.
  [[nodiscard]] double LeveledPerEntry(std::uint32_t level, double chunk) const {
    const double held = TargetOf(level) + chunk / 2;
    const double below = KeysOf(level + 1, false);
    const double steps = std::max(1.0, held / FileOf(level));
    const double edges = std::min(FileOf(level + 1), below) / FileOf(level);
    return below / (2 * held) * (steps + 1) / steps + edges + NotIn(level + 1);
  }

  // The last but one level, in tiers, to the last.
  [[nodiscard]] double LazyPerEntry(std::uint32_t level, double chunk) const {
    const double tiers_max = std::max(2.0, cost_.policy.max_bytes_for_level_multiplier);
    const double held = std::min(TargetOf(level) + chunk / 2, tiers_max * chunk);
    const double below = cost_.keys;
    const double slice = std::max(cost_.step_bytes / cost_.entry_bytes, 4 * FileOf(last_)) + FileOf(last_) / 2;
    const double steps = std::max(1.0, (held + below) / slice);
    const double files = std::max({1.0, std::ceil(chunk / FileOf(level)),
                                   std::ceil(below / FileOf(last_) / static_cast<double>(kGrandparentFiles))});
    const double rests = (steps - 1) / (2 * files);
    return below / (2 * held) * (steps + 1) / steps + rests + cost_.new_share;
  }

  const LsmCost& cost_;
  std::uint32_t last_ = 1;
};

}  // namespace

double BytesPerUpdate(const LsmCost& cost) {
  if (cost.batch <= 0 || cost.entry_bytes <= 0) return 0;
  const Law::Written written = Law(cost).Run();
  return cost.run_entry_bytes + cost.entry_bytes * written.entries / written.updates;
}

}  // namespace cambium
