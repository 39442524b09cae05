#include "lsm_fallback/pick_compaction.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "lsm_fallback/key_span.h"
#include "manifest/state.h"
#include "util/mutant.h"

namespace cambium {
namespace {

using Files = std::vector<const RunInfo*>;

// A run that is smaller than this part of a target file is merged with others rather than moved along with them, and
// one that is larger than so many target files is cut up: what it overlaps would be too much for a step.
constexpr std::uint64_t kSmallFilePart = 8;
constexpr std::uint64_t kLargeFileParts = 2;
// A slice has at least so many target files: what its borders cost is then an eighth or less.
constexpr std::uint64_t kSliceFilesMin = 4;

std::uint64_t BytesOf(const RunInfo& file) { return file.file_size; }

template <typename Range>
std::uint64_t SumBytes(const Range& files) {
  return std::accumulate(files.begin(), files.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RunInfo* file) { return sum + BytesOf(*file); });
}

bool Deletes(const RunInfo& file) { return file.tombstone_count > 0 || file.range_delete_count > 0; }

// Files [first, end) of a tier.
struct Stretch {
  std::size_t first = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return first >= end; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

class Picker {
 public:
  Picker(const CompactionShape& shape, const CompactionPolicy& policy)
      : shape_(shape), policy_(policy), order_(shape.comparator) {
    if (!shape.tiers.empty()) deepest_ = shape.tiers.back().level;
    const bool deepest_is_merged = deepest_ > 0 && TiersOf(deepest_).size() == 1;
    last_ = std::max<std::uint32_t>(1, deepest_is_merged ? deepest_ : std::min(deepest_ + 1, kLevelMax));
    lowest_ = std::max(last_, std::clamp(policy.num_levels, 2u, kLevelMax + 1) - 1);
  }

  [[nodiscard]] CompactionChoice PickDue() const {
    std::uint32_t level = 0;
    double score = RunScore();
    for (std::uint32_t i = 1; i < lowest_; ++i) {
      const double its = LevelScore(i);
      if (its > score) {
        score = its;
        level = i;
      }
    }
    if (score < 1) return {};
    CompactionChoice choice = level == 0 ? PickRunsDown(shape_.runs) : PickFrom(level);
    choice.score = score;
    return choice;
  }

  [[nodiscard]] CompactionChoice PickRunsDown(const Files& runs) const {
    if (runs.empty()) return {};
    CompactionChoice choice = NewChoice(0, 1, runs);
    const KeySpan span = SpanOf(runs);
    const TierShape* merged = Place(span, &choice);
    if (merged != nullptr) Append(*merged, Overlapped(*merged, span), &choice.overlapped);
    if (CanMove(runs, choice)) choice.kind = CompactionChoice::Kind::kMove;
    return choice;
  }

  [[nodiscard]] CompactionChoice PickForRequest(const MergeRequest& request) const {
    if (request.level == 0) return PickRunsDown(RunsFor(request));
    const std::span<const TierShape> tiers = TiersOf(request.level);
    if (request.level == deepest_ && tiers.size() == 1) return PickInPlace(tiers[0], request);
    if (tiers.size() == 1) {
      for (std::size_t i = 0; i < tiers[0].files.size(); ++i) {
        if (IsMeant(*tiers[0].files[i], request)) return PickFile(tiers[0], i);
      }
    }
    std::optional<Slice> first;
    for (const TierShape& tier : tiers) {
      for (const RunInfo* file : tier.files) {
        if (!IsMeant(*file, request)) continue;
        Slice from = file->smallest_key;
        for (const auto& bound : {request.begin, request.position}) {
          if (bound.has_value() && order_.Compare(from, *bound) < 0) from = *bound;
        }
        if (!first.has_value() || order_.Compare(from, *first) < 0) first = from;
      }
    }
    return first.has_value() ? PickSlice(request.level, first) : CompactionChoice{};
  }

  // What of `level` is left to be done for the request.
  [[nodiscard]] bool HasWork(std::uint32_t level, const MergeRequest& request) const {
    if (level == 0) {
      return std::ranges::any_of(shape_.runs, [&](const RunInfo* run) {
        return IsMeant(*run, request) && std::ranges::find(request.runs, run->number) != request.runs.end();
      });
    }
    const std::span<const TierShape> tiers = TiersOf(level);
    const bool is_bottom = level == deepest_ && (tiers.size() == 1 || level == kLevelMax);
    for (const TierShape& tier : tiers) {
      for (const RunInfo* file : tier.files) {
        if (IsMeant(*file, request) && (!is_bottom || (tiers.size() == 1 && Deletes(*file)))) return true;
      }
    }
    return false;
  }

  // Where such a step ends. Unset: behind all of its level.
  [[nodiscard]] std::optional<std::string> ReachOf(const CompactionChoice& choice) const {
    const std::span<const TierShape> tiers = TiersOf(choice.level);
    if (choice.end.has_value() || choice.level == 0 || tiers.size() != 1) return choice.end;
    const Files& files = tiers[0].files;
    const auto next = std::ranges::find_if(files.rbegin(), files.rend(), [&](const RunInfo* file) {
                        return std::ranges::find(choice.inputs, file->number) != choice.inputs.end();
                      }).base();
    return next == files.end() ? std::nullopt : std::optional((*next)->smallest_key);
  }

  // Empty if the level is.
  [[nodiscard]] std::string LargestKey(std::uint32_t level) const {
    Files all;
    for (const TierShape& tier : TiersOf(level)) all.push_back(tier.files.back());
    return all.empty() ? std::string() : SpanOf(all).largest.ToString();
  }

  [[nodiscard]] std::uint32_t deepest() const { return deepest_; }

 private:
  [[nodiscard]] bool is_lazy() const { return policy_.style == kCompactionStyleLazyLevel; }

  [[nodiscard]] std::span<const TierShape> TiersOf(std::uint32_t level) const {
    const auto [first, end] =
        std::ranges::equal_range(shape_.tiers, level, {}, [](const TierShape& tier) { return tier.level; });
    return {first, end};
  }

  // ---- Scores ----

  [[nodiscard]] double RunScore() const {
    if (shape_.runs.empty()) return 0;
    const double by_count = static_cast<double>(shape_.runs.size()) /
                            static_cast<double>(std::max<std::uint64_t>(1, policy_.level0_file_num_compaction_trigger));
    auto bytes = static_cast<double>(SumBytes(shape_.runs));
    for (const RunInfo* run : shape_.runs) bytes += static_cast<double>(BytesCovered(*run, 0));
    return std::max(by_count, bytes / policy_.TargetLevelSize(1));
  }

  // Of the files below `level` of which the file's range deletes leave nothing.
  [[nodiscard]] std::uint64_t BytesCovered(const RunInfo& file, std::uint32_t level) const {
    const auto ranges = shape_.ranges.find(file.number);
    if (ranges == shape_.ranges.end()) return 0;
    std::uint64_t bytes = 0;
    for (const TierShape& tier : shape_.tiers) {
      if (tier.level <= level) continue;
      const Stretch below = Overlapped(tier, KeySpan::Of(file));
      for (std::size_t i = below.first; i < below.end; ++i) {
        const KeySpan span = KeySpan::Of(*tier.files[i]);
        const bool is_covered = ranges->second->CoversAllOf(&span.smallest, &span.largest) &&
                                (span.largest_is_open || ranges->second->Covers(span.largest));
        if (is_covered) bytes += BytesOf(*tier.files[i]);
      }
    }
    return bytes;
  }

  // An entry takes so many bytes, on average over all files.
  [[nodiscard]] double BytesPerEntry() const {
    double bytes = 0;
    double entries = 0;
    for (const TierShape& tier : shape_.tiers) {
      for (const RunInfo* file : tier.files) {
        bytes += static_cast<double>(BytesOf(*file));
        entries += static_cast<double>(file->root.entry_count);
      }
    }
    return entries == 0 ? 0 : bytes / entries;
  }

  [[nodiscard]] double LevelScore(std::uint32_t level) const {
    const std::span<const TierShape> tiers = TiersOf(level);
    if (tiers.empty() || level >= lowest_) return 0;
    const double bytes_per_entry = BytesPerEntry();
    double bytes = 0;
    for (const TierShape& tier : tiers) {
      for (const RunInfo* file : tier.files) {
        bytes += static_cast<double>(BytesOf(*file) + BytesCovered(*file, level));
        // A deletion that has found nothing to delete yet will take an entry of about this size with it.
        const double deletions = static_cast<double>(file->tombstone_count) * 2;
        const auto entries = static_cast<double>(file->root.entry_count);
        if (deletions > entries && level != deepest_) bytes += (deletions - entries) * bytes_per_entry * 2;
      }
    }
    const double by_bytes = bytes / policy_.TargetLevelSize(level);
    // Reads ask every tier. Under the leveled style a level has more than one only where another style left them.
    const double tiers_max = is_lazy() ? std::max(2.0, policy_.max_bytes_for_level_multiplier) : 1.5;
    return level == last_ ? by_bytes : std::max(by_bytes, static_cast<double>(tiers.size()) / tiers_max);
  }

  // ---- Places ----

  static CompactionChoice NewChoice(std::uint32_t level, std::uint32_t output_level, const Files& inputs) {
    CompactionChoice choice;
    choice.kind = CompactionChoice::Kind::kMerge;
    choice.level = level;
    choice.output_level = output_level;
    for (const RunInfo* file : inputs) choice.inputs.push_back(file->number);
    return choice;
  }

  // The tier in which what comes from above lands. Returned if it is merged with what is there; null if it is put beside
  // or upon that.
  const TierShape* Place(const KeySpan& span, CompactionChoice* choice) const {
    const std::span<const TierShape> tiers = TiersOf(choice->output_level);
    const bool merges = tiers.size() <= 1 && (!is_lazy() || choice->output_level >= last_);
    choice->output_tier = tiers.empty() ? 0 : tiers[0].number;
    if (merges) return tiers.empty() ? nullptr : &tiers[0];
    if (!tiers.empty() && !Overlapped(tiers[0], span).empty()) ++choice->output_tier;
    return nullptr;
  }

  [[nodiscard]] KeySpan SpanOf(const Files& files) const {
    KeySpan span = KeySpan::Of(*files.front());
    for (const RunInfo* file : files) span = Union(order_, span, KeySpan::Of(*file));
    return span;
  }

  // Files are in order, so those that overlap a span are neighbours.
  [[nodiscard]] Stretch Overlapped(const TierShape& tier, const KeySpan& span) const {
    const auto first = std::ranges::partition_point(
        tier.files, [&](const RunInfo* file) { return EndsBefore(order_, KeySpan::Of(*file), span.smallest); });
    const auto end = std::partition_point(first, tier.files.end(), [&](const RunInfo* file) {
      return !EndsBefore(order_, span, file->smallest_key);
    });
    return {static_cast<std::size_t>(first - tier.files.begin()), static_cast<std::size_t>(end - tier.files.begin())};
  }

  static void Append(const TierShape& tier, Stretch stretch, std::vector<std::uint64_t>* numbers) {
    for (std::size_t i = stretch.first; i < stretch.end; ++i) numbers->push_back(tier.files[i]->number);
  }

  // Something older than the place of the choice may hold keys of the file.
  [[nodiscard]] bool HasOlder(const RunInfo& file, const CompactionChoice& choice) const {
    return std::ranges::any_of(shape_.tiers, [&](const TierShape& tier) {
      const bool is_older = tier.level > choice.output_level ||
                            (tier.level == choice.output_level && tier.number < choice.output_tier);
      return is_older && !Overlapped(tier, KeySpan::Of(file)).empty();
    });
  }

  // The files can go as they are: they meet nothing, will not meet too much at once later, and a merge would neither
  // drop deletions nor join files that are too small.
  [[nodiscard]] bool CanMove(const Files& files, const CompactionChoice& choice) const {
    if (!choice.overlapped.empty()) return false;
    const std::uint64_t target = policy_.TargetFileSize(choice.output_level);
    if (files.size() > 1 && SumBytes(files) / files.size() < (target + kSmallFilePart - 1) / kSmallFilePart) return false;
    Files sorted = files;
    std::ranges::sort(sorted, [this](const RunInfo* a, const RunInfo* b) {
      return order_.Compare(a->smallest_key, b->smallest_key) < 0;
    });
    const TierShape* grandparents = GrandparentsOf(shape_, choice.output_level);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const RunInfo& file = *sorted[i];
      if (file.root.entry_count == 0 && file.range_delete_count == 0) return false;
      if (BytesOf(file) > kLargeFileParts * target) return false;
      if (i > 0 && !EndsBefore(order_, KeySpan::Of(*sorted[i - 1]), file.smallest_key)) return false;
      if (Deletes(file) && !HasOlder(file, choice)) return false;
      if (grandparents != nullptr) {
        const Stretch below = Overlapped(*grandparents, KeySpan::Of(file));
        const std::span<const RunInfo* const> met(grandparents->files.data() + below.first, below.end - below.first);
        if (SumBytes(met) > kGrandparentFiles * target) return false;
      }
    }
    return true;
  }

  // ---- Runs ----

  [[nodiscard]] bool IsMeant(const RunInfo& file, const MergeRequest& request) const {
    const auto ends_before = [&](const std::optional<std::string>& key) {
      return key.has_value() && EndsBefore(order_, KeySpan::Of(file), *key);
    };
    const auto begins_behind = [&](const std::optional<std::string>& key) {
      return key.has_value() && order_.Compare(file.smallest_key, *key) > 0;
    };
    return !ends_before(request.begin) && !ends_before(request.position) && !begins_behind(request.end) &&
           !begins_behind(request.limit);
  }

  [[nodiscard]] Files RunsFor(const MergeRequest& request) const {
    Files taken;
    for (const RunInfo* run : shape_.runs) {
      const bool is_meant =
          IsMeant(*run, request) && std::ranges::find(request.runs, run->number) != request.runs.end();
      const bool is_below = std::ranges::any_of(taken, [&](const RunInfo* newer) {
        return Overlap(order_, KeySpan::Of(*newer), KeySpan::Of(*run));
      });
      if (is_meant || (is_below && !MutantIs(Mutant::kSkipOverlappingRun))) taken.push_back(run);
    }
    return taken;
  }

  // ---- Levels ----

  // Where the last compaction into `level` ended, or null: no file there is younger than the last one it made.
  [[nodiscard]] const RunInfo* NewestFile(std::uint32_t level) const {
    const RunInfo* newest = nullptr;
    for (const TierShape& tier : TiersOf(level)) {
      for (const RunInfo* file : tier.files) {
        if (newest == nullptr || file->number > newest->number) newest = file;
      }
    }
    return newest;
  }

  // The first of the files that begins behind where the last turn ended; the first of all if none does.
  [[nodiscard]] std::size_t NextTurn(const Files& files, std::uint32_t output_level) const {
    const RunInfo* newest = NewestFile(output_level);
    if (newest == nullptr) return 0;
    const auto next = std::ranges::partition_point(files, [&](const RunInfo* file) {
      return order_.Compare(file->smallest_key, newest->largest_key) < 0 ||
             (!newest->largest_is_open && order_.Compare(file->smallest_key, newest->largest_key) == 0);
    });
    return next == files.end() ? 0 : static_cast<std::size_t>(next - files.begin());
  }

  [[nodiscard]] std::size_t FileToGo(const TierShape& tier) const {
    std::size_t most = tier.files.size();
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < tier.files.size() && !shape_.ranges.empty(); ++i) {
      const std::uint64_t its = BytesCovered(*tier.files[i], tier.level);
      if (its > bytes) {
        bytes = its;
        most = i;
      }
    }
    return bytes > 0 ? most : NextTurn(tier.files, tier.level + 1);
  }

  [[nodiscard]] CompactionChoice PickFrom(std::uint32_t level) const {
    const std::span<const TierShape> tiers = TiersOf(level);
    if (tiers.size() > 1) return PickSlice(level, std::nullopt);
    if (!is_lazy()) return PickFile(tiers[0], FileToGo(tiers[0]));
    CompactionChoice choice = NewChoice(level, level + 1, tiers[0].files);
    if (level == last_) {
      choice.kind = CompactionChoice::Kind::kMove;
      return choice;
    }
    const KeySpan span = SpanOf(tiers[0].files);
    const TierShape* merged = Place(span, &choice);
    const bool meets = merged != nullptr && !Overlapped(*merged, span).empty();
    if (!meets && CanMove(tiers[0].files, choice)) {
      choice.kind = CompactionChoice::Kind::kMove;
      return choice;
    }
    return PickSlice(level, std::nullopt);
  }

  // One file, and its neighbours while they meet nothing that it does not.
  [[nodiscard]] CompactionChoice PickFile(const TierShape& tier, std::size_t start) const {
    Stretch taken{start, start + 1};
    CompactionChoice choice = NewChoice(tier.level, tier.level + 1, {tier.files[start]});
    KeySpan span = KeySpan::Of(*tier.files[start]);
    const TierShape* merged = Place(span, &choice);
    const Stretch met = merged == nullptr ? Stretch{} : Overlapped(*merged, span);
    std::uint64_t added = 0;
    const auto take = [&](std::size_t i) {
      const KeySpan wider = Union(order_, span, KeySpan::Of(*tier.files[i]));
      CompactionChoice again = choice;
      const TierShape* other = Place(wider, &again);
      // Where nothing is met, wherever that is, nothing more is met.
      const Stretch now = other == nullptr ? Stretch{} : Overlapped(*other, wider);
      const bool same = now == met || (now.empty() && met.empty());
      if (!same || again.output_tier != choice.output_tier) return false;
      if (added + BytesOf(*tier.files[i]) > shape_.step_bytes) return false;
      added += BytesOf(*tier.files[i]);
      span = wider;
      return true;
    };
    while (taken.end < tier.files.size() && take(taken.end)) ++taken.end;
    while (taken.first > 0 && take(taken.first - 1)) --taken.first;

    const Files inputs(tier.files.begin() + static_cast<std::ptrdiff_t>(taken.first),
                       tier.files.begin() + static_cast<std::ptrdiff_t>(taken.end));
    choice.inputs.clear();
    Append(tier, taken, &choice.inputs);
    if (merged != nullptr) Append(*merged, met, &choice.overlapped);
    if (CanMove(inputs, choice)) choice.kind = CompactionChoice::Kind::kMove;
    return choice;
  }

  // Files of the lowest level that still hold deletions, which nothing needs there.
  [[nodiscard]] CompactionChoice PickInPlace(const TierShape& tier, const MergeRequest& request) const {
    Files inputs;
    for (const RunInfo* file : tier.files) {
      const bool is_wanted = IsMeant(*file, request) && Deletes(*file);
      if (!is_wanted && inputs.empty()) continue;
      if (!is_wanted || (!inputs.empty() && SumBytes(inputs) + BytesOf(*file) > shape_.step_bytes)) break;
      inputs.push_back(file);
    }
    if (inputs.empty()) return {};
    CompactionChoice choice = NewChoice(tier.level, tier.level, inputs);
    choice.output_tier = tier.number;
    return choice;
  }

  // ---- Slices ----

  // All tiers of a level, from the border at or before `from`, or from where the last turn ended.
  [[nodiscard]] CompactionChoice PickSlice(std::uint32_t level, std::optional<Slice> from) const {
    const std::span<const TierShape> tiers = TiersOf(level);
    CompactionChoice choice = NewChoice(level, level + 1, {});
    Files all;
    for (const TierShape& tier : tiers) all.insert(all.end(), tier.files.begin(), tier.files.end());
    const TierShape* merged = Place(SpanOf(all), &choice);
    const TierShape& guide = merged != nullptr ? *merged : *std::ranges::max_element(tiers, {}, [](const TierShape& t) {
      return SumBytes(t.files);
    });

    const std::vector<double> weights = Weights(guide, tiers, merged != nullptr);
    const Stretch slice = CutSlice(guide, weights, from.has_value() ? BorderBefore(guide, *from)
                                                                    : NextTurn(guide.files, choice.output_level),
                                   tiers);
    if (slice.first > 0) choice.begin = guide.files[slice.first]->smallest_key;
    if (slice.end < guide.files.size()) choice.end = guide.files[slice.end]->smallest_key;

    Files inputs;
    for (const RunInfo* file : all) {
      if (choice.begin.has_value() && EndsBefore(order_, KeySpan::Of(*file), *choice.begin)) continue;
      if (choice.end.has_value() && order_.Compare(file->smallest_key, *choice.end) >= 0) continue;
      inputs.push_back(file);
      choice.inputs.push_back(file->number);
    }
    if (merged != nullptr) {
      const Stretch met = Overlapped(*merged, SpanOf(inputs));
      Append(*merged, {std::max(met.first, slice.first), std::min(met.end, slice.end)}, &choice.overlapped);
    } else {
      KeySpan span = SpanOf(inputs);
      if (choice.begin.has_value() && order_.Compare(span.smallest, *choice.begin) < 0) span.smallest = *choice.begin;
      if (choice.end.has_value() && !EndsBefore(order_, span, *choice.end)) {
        span.largest = *choice.end;
        span.largest_is_open = true;
      }
      Place(span, &choice);
    }
    return choice;
  }

  // The last border that is not behind `key`; 0 is the beginning of all keys.
  [[nodiscard]] std::size_t BorderBefore(const TierShape& guide, Slice key) const {
    const auto behind = std::ranges::partition_point(
        guide.files, [&](const RunInfo* file) { return order_.Compare(file->smallest_key, key) <= 0; });
    const auto count = static_cast<std::size_t>(behind - guide.files.begin());
    return count == 0 ? 0 : count - 1;
  }

  // How many bytes a slice has from each border of the guide to the next one. A file that reaches over several counts in
  // equal parts.
  [[nodiscard]] std::vector<double> Weights(const TierShape& guide, std::span<const TierShape> tiers,
                                            bool with_guide) const {
    std::vector<double> weights(guide.files.size(), 0);
    for (std::size_t i = 0; with_guide && i < guide.files.size(); ++i) {
      weights[i] = static_cast<double>(BytesOf(*guide.files[i]));
    }
    for (const TierShape& tier : tiers) {
      for (const RunInfo* file : tier.files) {
        const std::size_t first = BorderBefore(guide, file->smallest_key);
        const std::size_t last = BorderBefore(guide, file->largest_key);
        const double part = static_cast<double>(BytesOf(*file)) / static_cast<double>(last - first + 1);
        for (std::size_t i = first; i <= last; ++i) weights[i] += part;
      }
    }
    return weights;
  }

  // From `start`, or the first border behind it that has something to be merged, until there are bytes enough.
  [[nodiscard]] Stretch CutSlice(const TierShape& guide, const std::vector<double>& weights, std::size_t start,
                                 std::span<const TierShape> tiers) const {
    std::size_t first = FirstWithInput(guide, start, tiers);
    if (first == guide.files.size()) first = FirstWithInput(guide, 0, tiers);
    const auto budget =
        static_cast<double>(std::max(shape_.step_bytes, kSliceFilesMin * policy_.TargetFileSize(guide.level)));
    double bytes = weights[first];
    std::size_t end = first + 1;
    while (end < guide.files.size() && bytes < budget) bytes += weights[end++];
    return {first, end};
  }

  // The first border from `start` on behind which, and before the next one, there is something; their number if none.
  [[nodiscard]] std::size_t FirstWithInput(const TierShape& guide, std::size_t start,
                                           std::span<const TierShape> tiers) const {
    std::size_t first = guide.files.size();
    for (const TierShape& tier : tiers) {
      const auto file = std::ranges::find_if(tier.files, [&](const RunInfo* f) {
        return start == 0 || !EndsBefore(order_, KeySpan::Of(*f), guide.files[start]->smallest_key);
      });
      if (file == tier.files.end()) continue;
      first = std::min(first, std::max(start, BorderBefore(guide, (*file)->smallest_key)));
    }
    return first;
  }

  const CompactionShape& shape_;
  const CompactionPolicy& policy_;
  const KeyOrder order_;
  std::uint32_t deepest_ = 0;  // the deepest level that holds anything; 0: none does
  std::uint32_t last_ = 1;     // the one that is, or is to become, one sorted sequence whatever the style
  std::uint32_t lowest_ = 1;   // nothing goes deeper
};

}  // namespace

std::uint64_t CompactionPolicy::TargetFileSize(std::uint32_t level) const {
  std::uint64_t bytes = target_file_size_base;
  for (std::uint32_t i = 1; i < level; ++i) {
    if (__builtin_mul_overflow(bytes, target_file_size_multiplier, &bytes)) {
      return std::numeric_limits<std::uint64_t>::max() / (2 * kGrandparentFiles);
    }
  }
  return std::min(bytes, std::numeric_limits<std::uint64_t>::max() / (2 * kGrandparentFiles));
}

double CompactionPolicy::TargetLevelSize(std::uint32_t level) const {
  return static_cast<double>(std::max<std::uint64_t>(1, max_bytes_for_level_base)) *
         std::pow(max_bytes_for_level_multiplier, static_cast<double>(level) - 1);
}

CompactionChoice PickCompaction(const CompactionShape& shape, const CompactionPolicy& policy) {
  return Picker(shape, policy).PickDue();
}

CompactionChoice PickRuns(const CompactionShape& shape, const CompactionPolicy& policy) {
  return Picker(shape, policy).PickRunsDown(shape.runs);
}

bool AdvanceRequest(const CompactionShape& shape, const CompactionPolicy& policy, MergeRequest* request) {
  CompactionShape least = shape;
  least.step_bytes = 1;  // the real step may reach further; what it has done is then not found again
  const Picker picker(least, policy);
  const auto next_level = [request] {
    ++request->level;
    request->limit.reset();
    request->position.reset();
  };
  if (request->is_due && request->level > 0) {
    request->reach.has_value() ? void(request->position = request->reach) : next_level();
  }
  request->is_due = false;
  for (; request->level <= picker.deepest(); next_level()) {
    if (request->level > 0 && !request->limit.has_value()) request->limit = picker.LargestKey(request->level);
    if (!picker.HasWork(request->level, *request)) continue;
    request->is_due = true;
    request->reach = picker.ReachOf(picker.PickForRequest(*request));
    break;
  }
  return request->is_due;
}

CompactionChoice PickRequested(const CompactionShape& shape, const CompactionPolicy& policy,
                               const MergeRequest& request) {
  return Picker(shape, policy).PickForRequest(request);
}

const TierShape* GrandparentsOf(const CompactionShape& shape, std::uint32_t output_level) {
  for (std::size_t i = 0; i < shape.tiers.size(); ++i) {
    const TierShape& tier = shape.tiers[i];
    if (tier.level <= output_level) continue;
    const bool has_newer = i > 0 && shape.tiers[i - 1].level == tier.level;
    const bool has_older = i + 1 < shape.tiers.size() && shape.tiers[i + 1].level == tier.level;
    if (!has_newer && !has_older) return &tier;
  }
  return nullptr;
}

}  // namespace cambium
