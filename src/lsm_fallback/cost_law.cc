#include "lsm_fallback/cost_law.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cambium {
namespace {

// A level of tiers that empties itself into the level below, slice by slice. A turn has few slices, and its last one is
// shorter. No formula describes that, so the turns are simulated: the entries of the level are counted for each
// hundredth of the keys.
struct Turns {
  double chunk = 0;   // entries of a tier when it is added
  double files_per_tier = 1;
  double target = 0;  // entries
  double tiers_max = 0;
  double below = 0;   // entries of the last level
  double slice = 0;   // entries of a slice, both levels together

  struct Cost {  // per entry that moves down
    double met = 0;
    double rests = 0;
  };

  [[nodiscard]] Cost Simulate() {
    // The first half of the rounds fills the level and is not counted.
    const auto rounds = static_cast<int>(std::clamp(20 * target / chunk, 400.0, 4000.0));
    for (int i = 0; i < rounds; ++i) {
      if (i == rounds / 2) moved_ = met_ = rests_ = 0;
      for (Part& part : parts_) {
        part.held += chunk / kParts;
        ++part.tiers;
      }
      while (IsDue()) Step();
    }
    return moved_ == 0 ? Cost{} : Cost{met_ / moved_, rests_ / moved_};
  }

 private:
  static constexpr std::size_t kParts = 100;
  struct Part {
    double held = 0;
    double tiers = 0;
  };

  [[nodiscard]] bool IsDue() const {
    double held = 0;
    double tiers = 0;
    for (const Part& part : parts_) {
      held += part.held;
      tiers = std::max(tiers, part.tiers);
    }
    return held >= target || tiers >= tiers_max;
  }

  // Moves one slice, from where the last one ended. A slice does not extend beyond the last key.
  void Step() {
    for (double taken = 0; taken < slice && place_ < kParts; ++place_) {
      taken += parts_[place_].held + below / kParts;
      moved_ += parts_[place_].held;
      met_ += below / kParts;
      parts_[place_] = {};
    }
    if (place_ == kParts) {
      place_ = 0;
      return;
    }
    const double file = static_cast<double>(kParts) / files_per_tier;
    const double file_end = std::ceil(static_cast<double>(place_) / file) * file;
    for (std::size_t i = place_; i < kParts && static_cast<double>(i) < file_end; ++i) rests_ += parts_[i].held;
  }

  std::array<Part, kParts> parts_;
  std::size_t place_ = 0;
  double moved_ = 0;
  double met_ = 0;
  double rests_ = 0;
};

class Law {
 public:
  explicit Law(const LsmCost& cost) : cost_(cost) {
    const double file = FileOf(1, 1);
    while (last_ + 1 < cost_.policy.num_levels && cost_.keys * BytesAt(file) > cost_.policy.TargetLevelSize(last_)) {
      ++last_;
    }
  }

  // The bytes that levels 1 and below write per compaction of level 0, and the entries of the memtables it compacts.
  struct Written {
    double bytes = 0;
    double updates = 0;
  };
  [[nodiscard]] Written Run() {
    Written written;
    const double runs = RunsPerCompaction(cost_);
    written.updates = runs * cost_.batch;
    double arriving = Distinct(runs);
    double through = 0;  // the share of the entries arriving in level 1 that goes through it
    if (is_lazy() && last_ > 1) {
      written.bytes += arriving * BytesAt(FileOf(1, arriving));
    } else {
      arriving *= NotIn(1);
      if (last_ > 1) {
        kept_ = KeptIn1(arriving, written.updates * cost_.run_entry_bytes);
        through = PartThrough(arriving);
      }
      const double entries = (last_ > 1 ? kept_ : cost_.keys) + arriving * (1 - through);
      written.bytes += entries * BytesAt(FileOf(1, entries));
    }
    double chunk = arriving;
    for (std::uint32_t level = 1; level < last_; ++level) {
      if (!is_lazy()) {
        const double bytes = BytesAt(FileOf(level + 1, KeysOf(level + 1, false)));
        const double one_by_one = through < 1 ? (1 - through) * LeveledPerEntry(level, chunk * (1 - through)) : 0;
        const double at_once = through > 0 ? through * ThroughPerEntry(chunk) : 0;
        written.bytes += arriving * (one_by_one + at_once) * bytes;
        arriving *= NotIn(level + 1);
        through = 0;
        chunk = 0;  // below this, one file at a time
      } else if (level + 1 < last_) {
        // All tiers of a level become one tier of the next.
        chunk *= std::max(1.0, std::ceil(TargetOf(level) / chunk));
        written.bytes += arriving * BytesAt(FileOf(level + 1, chunk));
      } else {
        written.bytes += arriving * LazyBytesPerEntry(level, chunk);
      }
    }
    return written;
  }

 private:
  [[nodiscard]] bool is_lazy() const { return cost_.policy.style == kCompactionStyleLazyLevel; }

  // Bytes per entry in files of `entries` entries.
  [[nodiscard]] double BytesAt(double entries) const {
    return cost_.entry_bytes + cost_.file_bytes / std::max(1.0, entries);
  }
  // Entries of a file in a level or tier that holds `held`. Files are cut before they overlap too much of the next
  // level.
  [[nodiscard]] double FileOf(std::uint32_t level, double held) const {
    const double whole = static_cast<double>(cost_.policy.TargetFileSize(level)) / cost_.entry_bytes;
    if (level >= last_) return whole;
    const std::uint32_t below = is_lazy() ? last_ : level + 1;  // the next level with a single tier
    const double overlap_max =
        static_cast<double>(kGrandparentFiles) * static_cast<double>(cost_.policy.TargetFileSize(level));
    const double bytes_below = std::min(cost_.keys * cost_.entry_bytes, cost_.policy.TargetLevelSize(below));
    const double part = overlap_max / std::max(1.0, bytes_below);
    return std::min({whole, held * part, std::max(1.0, held)});
  }
  [[nodiscard]] double TargetOf(std::uint32_t level) const {
    return cost_.policy.UpperLevelSize(level) / BytesAt(FileOf(1, cost_.keys));
  }
  // `drained`: directly after the level has passed on its excess, and half a step more on average.
  [[nodiscard]] double KeysOf(std::uint32_t level, bool drained) const {
    if (level == last_) return cost_.keys;
    const double target = TargetOf(level);
    return std::max(0.0, target - (drained ? FileOf(level, target) / 2 : 0));
  }
  // The share of the entries arriving in the level whose keys it does not have.
  [[nodiscard]] double NotIn(std::uint32_t level) const {
    if (cost_.keys <= 0) return 1;
    return 1 - (1 - cost_.new_share) * std::min(1.0, KeysOf(level, true) / cost_.keys);
  }

  // The number of different keys in `runs` runs. The keys of one run differ.
  [[nodiscard]] double Distinct(double runs) const {
    const double fresh = runs * cost_.batch * cost_.new_share;
    const double again = cost_.batch * (1 - cost_.new_share);
    if (cost_.keys <= 0 || again <= 0) return runs * cost_.batch;
    const double missed = std::pow(1 - std::min(1.0, again / cost_.keys), runs);
    return fresh + cost_.keys * (1 - missed);
  }

  // `chunk`: the entries that arrive in the level together, so that all its files are rewritten; 0: few arrive
  // together.
  [[nodiscard]] double LeveledPerEntry(std::uint32_t level, double chunk) const {
    const double held = TargetOf(level) + chunk / 2;
    const double file = FileOf(level, held);
    const double below = KeysOf(level + 1, false);
    const double steps = std::max(1.0, held / file);
    const double files_between = std::max(1.0, chunk / file);
    const double in_turn = chunk == 0 ? 1 : files_between / (files_between + 0.5);
    const double met = below / held * (1 - in_turn * (1 - (steps + 1) / (2 * steps)));
    const double file_below = std::min(FileOf(level + 1, below), below);
    const double files_met = met * file / file_below;
    const double shared = files_met < 1 ? 2 * files_met / (1 + files_met) : 1;
    return met + shared * file_below / file + NotIn(level + 1);
  }

  // Entries of level 1 after a compaction of level 0. With target size T, level 1 keeps the share T / (its bytes +
  // bytes of the runs) of all merged entries. These take less than T bytes, because the bytes of the runs include keys
  // that several runs have, or level 1 too.
  [[nodiscard]] double KeptIn1(double chunk, double run_bytes) const {
    const auto target = static_cast<double>(cost_.policy.TargetLevelSize(1));
    const double bytes = BytesAt(FileOf(1, TargetOf(1)));
    double kept = TargetOf(1);
    for (int i = 0; i < 50; ++i) kept = (kept + chunk) * std::min(1.0, target / (kept * bytes + run_bytes));
    return kept;
  }
  // The part of level 1's excess that goes through: all of it, unless it would overlap more of level 2 than one file
  // may.
  [[nodiscard]] double PartThrough(double chunk) const {
    const double wanted = 1 / StepsThrough(chunk);
    const double files_max = cost_.policy.max_bytes_for_level_multiplier;
    const double bytes_max = files_max * static_cast<double>(cost_.policy.TargetFileSize(1));
    const double below = KeysOf(2, false);
    return std::min(1.0, bytes_max / std::max(1.0, below * BytesAt(FileOf(2, below))) / wanted);
  }
  // The steps of a turn: each takes 2C/(n+1) entries, as many as have arrived.
  [[nodiscard]] double StepsThrough(double chunk) const { return std::max(1.0, 2 * (kept_ + chunk) / chunk - 1); }
  [[nodiscard]] double ThroughPerEntry(double chunk) const {
    const double held = kept_ + chunk;
    const double steps = StepsThrough(chunk);
    return KeysOf(2, false) / held * (steps + 1) / (2 * steps) + NotIn(2);
  }

  // The bytes per entry that moves from the last level but one, which has tiers, to the last.
  [[nodiscard]] double LazyBytesPerEntry(std::uint32_t level, double chunk) const {
    const double tier_file = FileOf(level, chunk);
    const double file_below = FileOf(last_, cost_.keys);
    Turns turns;
    turns.chunk = chunk;
    turns.files_per_tier = std::max(1.0, chunk / tier_file);
    turns.target = cost_.policy.UpperLevelSize(level) / BytesAt(tier_file);
    turns.tiers_max = std::max(2.0, cost_.policy.max_bytes_for_level_multiplier);
    turns.below = cost_.keys;
    turns.slice = std::max(cost_.step_bytes / cost_.entry_bytes, 4 * file_below) + file_below / 2;
    const Turns::Cost cost = turns.Simulate();
    return (cost.met + cost_.new_share) * BytesAt(file_below) + cost.rests * BytesAt(tier_file / 2);
  }

  const LsmCost& cost_;
  std::uint32_t last_ = 1;
  double kept_ = 0;  // entries of level 1 after it has given away its excess
};

}  // namespace

// Level 0 is due by its number of runs or by its bytes.
double RunsPerCompaction(const LsmCost& cost) {
  const auto by_count = static_cast<double>(cost.policy.level0_file_num_compaction_trigger);
  const double by_bytes = std::ceil(cost.policy.TargetLevelSize(1) / (cost.batch * cost.run_entry_bytes));
  return std::max(1.0, std::min(by_count, by_bytes));
}

double BytesPerUpdate(const LsmCost& cost) {
  if (cost.batch <= 0 || cost.entry_bytes <= 0) return 0;
  const Law::Written written = Law(cost).Run();
  return cost.run_entry_bytes + written.bytes / written.updates;
}

}  // namespace cambium
