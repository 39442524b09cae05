#include "lsm_fallback/cost_law.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cambium {
namespace {

// A level of tiers that empties itself into the one below, slice by slice. Few slices make a turn, and the last one is
// shorter; no formula knows that, so they are played: what the level holds is kept for each hundredth of the keys.
struct Turns {
  double chunk = 0;   // entries of a tier when it comes
  double files_per_tier = 1;
  double target = 0;  // entries
  double tiers_max = 0;
  double below = 0;   // entries of the last level
  double slice = 0;   // entries of a slice, of both levels

  struct Cost {  // per entry that goes down
    double met = 0;
    double rests = 0;
  };

  [[nodiscard]] Cost Play() {
    // The first half fills the level, and is not counted.
    const auto rounds = static_cast<int>(std::clamp(20 * target / chunk, 400.0, 4000.0));
    for (int i = 0; i < rounds; ++i) {
      if (i == rounds / 2) gone_ = met_ = rests_ = 0;
      for (Part& part : parts_) {
        part.held += chunk / kParts;
        ++part.tiers;
      }
      while (IsDue()) Step();
    }
    return gone_ == 0 ? Cost{} : Cost{met_ / gone_, rests_ / gone_};
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

  // From where the last slice ended. None reaches over the last key.
  void Step() {
    for (double taken = 0; taken < slice && place_ < kParts; ++place_) {
      taken += parts_[place_].held + below / kParts;
      gone_ += parts_[place_].held;
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
  double gone_ = 0;
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

  // What levels 1 and on write for one compaction of level 0, and the entries of the memtables it was made of.
  struct Written {
    double bytes = 0;
    double updates = 0;
  };
  [[nodiscard]] Written Run() {
    Written written;
    const double runs = RunsPerCompaction(cost_);
    written.updates = runs * cost_.batch;
    double arriving = Distinct(runs);
    double through = 0;  // of what arrives in level 1, the part that goes through it
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
        chunk = 0;  // from here on a file at a time
      } else if (level + 1 < last_) {
        // All tiers of a level become one of the next.
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

  // Of files with so many entries.
  [[nodiscard]] double BytesAt(double entries) const {
    return cost_.entry_bytes + cost_.file_bytes / std::max(1.0, entries);
  }
  // Entries of a file, in a level or tier that holds `held`. It is cut where it would overlap too much of the next one.
  [[nodiscard]] double FileOf(std::uint32_t level, double held) const {
    const double whole = static_cast<double>(cost_.policy.TargetFileSize(level)) / cost_.entry_bytes;
    if (level >= last_) return whole;
    const std::uint32_t below = is_lazy() ? last_ : level + 1;  // where one tier is all
    const double overlap_max =
        static_cast<double>(kGrandparentFiles) * static_cast<double>(cost_.policy.TargetFileSize(level));
    const double bytes_below = std::min(cost_.keys * cost_.entry_bytes, cost_.policy.TargetLevelSize(below));
    const double part = overlap_max / std::max(1.0, bytes_below);
    return std::min({whole, held * part, std::max(1.0, held)});
  }
  [[nodiscard]] double TargetOf(std::uint32_t level) const {
    return cost_.policy.TargetLevelSize(level) / BytesAt(FileOf(1, cost_.keys));
  }
  // `drained`: when it has just given away what was beyond its target, half a step too much on average.
  [[nodiscard]] double KeysOf(std::uint32_t level, bool drained) const {
    if (level == last_) return cost_.keys;
    const double target = TargetOf(level);
    return std::max(0.0, target - (drained ? FileOf(level, target) / 2 : 0));
  }
  // Of entries that come to the level, the part that it has not.
  [[nodiscard]] double NotIn(std::uint32_t level) const {
    if (cost_.keys <= 0) return 1;
    return 1 - (1 - cost_.new_share) * std::min(1.0, KeysOf(level, true) / cost_.keys);
  }

  // Different keys in so many runs. Those of one run differ.
  [[nodiscard]] double Distinct(double runs) const {
    const double fresh = runs * cost_.batch * cost_.new_share;
    const double again = cost_.batch * (1 - cost_.new_share);
    if (cost_.keys <= 0 || again <= 0) return runs * cost_.batch;
    const double missed = std::pow(1 - std::min(1.0, again / cost_.keys), runs);
    return fresh + cost_.keys * (1 - missed);
  }

  // `chunk`: what arrives in the level at a time, and has it cut anew; 0: never much of it.
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

  // Entries of level 1 behind a compaction of level 0: the part T / (its bytes + those of the runs) of all that are merged
  // stays. That is less than T, because runs have several entries of a key, and keys that level 1 has too.
  [[nodiscard]] double KeptIn1(double chunk, double run_bytes) const {
    const auto target = static_cast<double>(cost_.policy.TargetLevelSize(1));
    const double bytes = BytesAt(FileOf(1, TargetOf(1)));
    double kept = TargetOf(1);
    for (int i = 0; i < 50; ++i) kept = (kept + chunk) * std::min(1.0, target / (kept * bytes + run_bytes));
    return kept;
  }
  // As much goes through as level 1 would have too much, but not through more than so many files of level 2.
  [[nodiscard]] double PartThrough(double chunk) const {
    const double wanted = 1 / StepsThrough(chunk);
    const double files_max = cost_.policy.max_bytes_for_level_multiplier;
    const double bytes_max = files_max * static_cast<double>(cost_.policy.TargetFileSize(1));
    const double below = KeysOf(2, false);
    return std::min(1.0, bytes_max / std::max(1.0, below * BytesAt(FileOf(2, below))) / wanted);
  }
  // Of a turn: each takes 2C/(n+1) entries, which is what has arrived.
  [[nodiscard]] double StepsThrough(double chunk) const { return std::max(1.0, 2 * (kept_ + chunk) / chunk - 1); }
  [[nodiscard]] double ThroughPerEntry(double chunk) const {
    const double held = kept_ + chunk;
    const double steps = StepsThrough(chunk);
    return KeysOf(2, false) / held * (steps + 1) / (2 * steps) + NotIn(2);
  }

  // The last but one level, in tiers, to the last.
  [[nodiscard]] double LazyBytesPerEntry(std::uint32_t level, double chunk) const {
    const double tier_file = FileOf(level, chunk);
    const double file_below = FileOf(last_, cost_.keys);
    Turns turns;
    turns.chunk = chunk;
    turns.files_per_tier = std::max(1.0, chunk / tier_file);
    turns.target = cost_.policy.TargetLevelSize(level) / BytesAt(tier_file);
    turns.tiers_max = std::max(2.0, cost_.policy.max_bytes_for_level_multiplier);
    turns.below = cost_.keys;
    turns.slice = std::max(cost_.step_bytes / cost_.entry_bytes, 4 * file_below) + file_below / 2;
    const Turns::Cost cost = turns.Play();
    return (cost.met + cost_.new_share) * BytesAt(file_below) + cost.rests * BytesAt(tier_file / 2);
  }

  const LsmCost& cost_;
  std::uint32_t last_ = 1;
  double kept_ = 0;  // entries of level 1, when it has given away what it has too much
};

}  // namespace

// Due by number, or by bytes.
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
