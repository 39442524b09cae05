#include "lsm_fallback/pick_compaction.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "lsm_fallback/key_slice.h"
#include "lsm_fallback/level_score.h"
#include "manifest/state.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Runs that are smaller on average than a target file divided by kSmallFilePart are merged instead of moved. A run
// larger than kLargeFileParts target files is cut up instead of moved: the files that it overlaps would be too much for
// a step.
constexpr std::uint64_t kSmallFilePart = 8;
constexpr std::uint64_t kLargeFileParts = 2;
// A slice has at least this many target files, so that the cost of its borders is an eighth or less.
constexpr std::uint64_t kSliceFilesMin = 4;

class Picker {
 public:
  Picker(const CompactionShape& shape, const CompactionPolicy& policy)
      : shape_(shape), policy_(policy), order_(shape.comparator) {
    const std::uint32_t deepest = shape.deepest();
    const bool is_merged = shape.TiersOf(deepest).size() == 1;
    last_ = std::max<std::uint32_t>(1, is_merged ? deepest : std::min(deepest + 1, kLevelMax));
    lowest_ = std::max(last_, std::clamp(policy.num_levels, 2u, kLevelMax + 1) - 1);
  }

  [[nodiscard]] CompactionChoice PickDue() const {
    std::uint32_t level = 0;
    double score = RunScore(shape_, policy_);
    for (std::uint32_t i = 1; i < lowest_; ++i) {
      const double its = LevelScore(shape_, policy_, i, i == last_);
      if (its > score) {
        score = its;
        level = i;
      }
    }
    if (score < 1) return {};
    CompactionChoice choice = level == 0 ? PickRunsDown(shape_.runs) : PickFrom(level);
    if (level == 0) SendThrough(&choice);
    choice.score = score;
    return choice;
  }

  [[nodiscard]] CompactionChoice PickRunsDown(const FileList& runs) const {
    if (runs.empty()) return {};
    CompactionChoice choice = NewChoice(0, 1, runs);
    const KeySpan span = SpanOf(order_, runs);
    const TierShape* merged = Place(span, &choice);
    if (merged != nullptr) Append(*merged, Overlapped(order_, *merged, span), &choice.overlapped);
    if (CanMove(runs, choice)) choice.kind = CompactionChoice::Kind::kMove;
    return choice;
  }

  [[nodiscard]] CompactionChoice PickForRequest(const CompactionRequest& request) const {
    if (request.level == 0) return PickRunsDown(RunsFor(request));
    const std::span<const TierShape> tiers = shape_.TiersOf(request.level);
    if (request.level == shape_.deepest() && tiers.size() == 1) return PickInPlace(tiers[0], request);
    if (tiers.size() == 1) {
      for (std::size_t i = 0; i < tiers[0].files.size(); ++i) {
        if (IsInRequest(*tiers[0].files[i], request)) return PickFile(tiers[0], i);
      }
    }
    std::optional<Slice> first;
    for (const TierShape& tier : tiers) {
      for (const RunInfo* file : tier.files) {
        if (!IsInRequest(*file, request)) continue;
        const Slice from = Later(Later(file->smallest_key, request.begin), request.position);
        if (!first.has_value() || order_.Compare(from, *first) < 0) first = from;
      }
    }
    return first.has_value() ? PickSlice(request.level, first) : CompactionChoice{};
  }

  // Whether the request still has work to do in `level`.
  [[nodiscard]] bool HasWork(std::uint32_t level, const CompactionRequest& request) const {
    if (level == 0) {
      return std::ranges::any_of(shape_.runs, [&](const RunInfo* run) {
        return IsInRequest(*run, request) && std::ranges::find(request.runs, run->number) != request.runs.end();
      });
    }
    const std::span<const TierShape> tiers = shape_.TiersOf(level);
    const bool is_bottom = level == shape_.deepest() && (tiers.size() == 1 || level == kLevelMax);
    for (const TierShape& tier : tiers) {
      for (const RunInfo* file : tier.files) {
        if (IsInRequest(*file, request) && (!is_bottom || (tiers.size() == 1 && NeedsRewrite(*file, request)))) {
          return true;
        }
      }
    }
    return false;
  }

  // Where the step ends. Unset: at the end of its level.
  [[nodiscard]] std::optional<std::string> ReachOf(const CompactionChoice& choice) const {
    const std::span<const TierShape> tiers = shape_.TiersOf(choice.level);
    if (choice.end.has_value() || choice.level == 0 || tiers.size() != 1) return choice.end;
    const FileList& files = tiers[0].files;
    const auto next = std::ranges::find_if(files.rbegin(), files.rend(), [&](const RunInfo* file) {
                        return std::ranges::find(choice.inputs, file->number) != choice.inputs.end();
                      }).base();
    return next == files.end() ? std::nullopt : std::optional((*next)->smallest_key);
  }

  // The largest key of a level; empty if the level is.
  [[nodiscard]] std::string LargestKey(std::uint32_t level) const {
    FileList all;
    for (const TierShape& tier : shape_.TiersOf(level)) all.push_back(tier.files.back());
    return all.empty() ? std::string() : SpanOf(order_, all).largest.ToString();
  }

 private:
  // ---- Places ----

  static CompactionChoice NewChoice(std::uint32_t level, std::uint32_t output_level, const FileList& inputs) {
    assert(output_level > 0 && output_level >= level && "entries only move down");
    CompactionChoice choice;
    choice.kind = CompactionChoice::Kind::kCompact;
    choice.level = level;
    choice.output_level = output_level;
    for (const RunInfo* file : inputs) choice.inputs.push_back(file->number);
    return choice;
  }

  // Sets choice->output_tier. `span`: the range of the keys that are compacted. Returns the tier if the inputs are
  // merged with its files. Returns null if they are added to the tier, or put on top of it as a new tier.
  const TierShape* Place(const KeySpan& span, CompactionChoice* choice) const {
    const std::span<const TierShape> tiers = shape_.TiersOf(choice->output_level);
    const bool merges = tiers.size() <= 1 && (!policy_.is_lazy() || choice->output_level >= last_);
    choice->output_tier = tiers.empty() ? 0 : tiers[0].number;
    if (merges) return tiers.empty() ? nullptr : &tiers[0];
    if (!tiers.empty() && !Overlapped(order_, tiers[0], span).empty()) ++choice->output_tier;
    return nullptr;
  }

  static void Append(const TierShape& tier, Stretch stretch, std::vector<std::uint64_t>* numbers) {
    assert(stretch.end <= tier.files.size());
    for (std::size_t i = stretch.first; i < stretch.end; ++i) numbers->push_back(tier.files[i]->number);
  }

  // Whether a tier older than the output place may hold keys of the file.
  [[nodiscard]] bool HasOlder(const RunInfo& file, const CompactionChoice& choice) const {
    return std::ranges::any_of(shape_.tiers, [&](const TierShape& tier) {
      const bool is_older = tier.level > choice.output_level ||
                            (tier.level == choice.output_level && tier.number < choice.output_tier);
      return is_older && !Overlapped(order_, tier, KeySpan::Of(file)).empty();
    });
  }

  // Whether the files can be moved as they are: they overlap nothing, will not overlap too much in the next compaction,
  // and rewriting them would neither drop deletions nor join files that are too small.
  [[nodiscard]] bool CanMove(const FileList& files, const CompactionChoice& choice) const {
    if (!choice.overlapped.empty()) return false;
    const std::uint64_t target = policy_.TargetFileSize(choice.output_level);
    const std::uint64_t small = (target + kSmallFilePart - 1) / kSmallFilePart;
    if (files.size() > 1 && SumBytes(files) / files.size() < small) return false;
    FileList sorted = files;
    std::ranges::sort(sorted, [this](const RunInfo* a, const RunInfo* b) {
      return order_.Compare(a->smallest_key, b->smallest_key) < 0;
    });
    const TierShape* grandparents = GrandparentsOf(shape_, choice.output_level);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const RunInfo& file = *sorted[i];
      if (file.root.entry_count == 0 && file.range_delete_count == 0) return false;
      if (file.file_size > kLargeFileParts * target) return false;
      if (i > 0 && !EndsBefore(order_, KeySpan::Of(*sorted[i - 1]), file.smallest_key)) return false;
      if (HasDeletions(file) && !HasOlder(file, choice)) return false;
      if (grandparents != nullptr) {
        const Stretch met = Overlapped(order_, *grandparents, KeySpan::Of(file));
        if (SumBytes(FilesOf(*grandparents, met)) > kGrandparentFiles * target) return false;
      }
    }
    return true;
  }

  // ---- Runs ----

  // Whether the file may have keys of the rest of the request.
  [[nodiscard]] bool IsInRequest(const RunInfo& file, const CompactionRequest& request) const {
    const auto ends_before = [&](const std::optional<std::string>& key) {
      return key.has_value() && EndsBefore(order_, KeySpan::Of(file), *key);
    };
    const auto begins_after = [&](const std::optional<std::string>& key) {
      return key.has_value() && order_.Compare(file.smallest_key, *key) > 0;
    };
    return !ends_before(request.begin) && !ends_before(request.position) && !begins_after(request.end) &&
           !begins_after(request.limit);
  }

  // Whether a file of the last level must be rewritten: it has deletions, which nothing needs there, or values that the
  // filter has not seen.
  [[nodiscard]] static bool NeedsRewrite(const RunInfo& file, const CompactionRequest& request) {
    const bool was_filtered = request.filtered != nullptr && request.filtered->HasFile(file.number);
    return HasDeletions(file) || (request.asks_filter && !was_filtered);
  }

  [[nodiscard]] Slice Later(Slice key, const std::optional<std::string>& bound) const {
    return bound.has_value() && order_.Compare(key, *bound) < 0 ? Slice(*bound) : key;
  }

  [[nodiscard]] FileList RunsFor(const CompactionRequest& request) const {
    FileList taken;
    for (const RunInfo* run : shape_.runs) {
      const bool is_requested =
          IsInRequest(*run, request) && std::ranges::find(request.runs, run->number) != request.runs.end();
      const bool is_below = std::ranges::any_of(taken, [&](const RunInfo* newer) {
        return Overlap(order_, KeySpan::Of(*newer), KeySpan::Of(*run));
      });
      if (is_requested || (is_below && !MutantIs(Mutant::kSkipOverlappingRun))) taken.push_back(run);
    }
    return taken;
  }

  // Extends a compaction of level 0: the excess of level 1 goes through to level 2, if level 2 has files. The bytes of
  // level 1 above each file of level 2 are estimated as if each file of level 1 were spread evenly over the files that
  // it overlaps.
  void SendThrough(CompactionChoice* choice) const {
    const std::span<const TierShape> upper = shape_.TiersOf(1);
    const std::span<const TierShape> below = shape_.TiersOf(2);
    if (choice->kind != CompactionChoice::Kind::kCompact || policy_.is_lazy()) return;
    if (upper.size() != 1 || below.size() != 1 || choice->overlapped.size() != upper[0].files.size()) return;
    const auto held = static_cast<double>(SumBytes(upper[0].files));
    const auto arriving = static_cast<double>(SumBytes(shape_.runs));
    const double excess = held + arriving - policy_.TargetLevelSize(1);
    if (excess <= 0) return;

    const FileList& files = below[0].files;
    std::vector<double> above(files.size());
    for (const RunInfo* file : upper[0].files) {
      const Stretch met = Overlapped(order_, below[0], KeySpan::Of(*file));
      for (std::size_t i = met.first; i < met.end; ++i) {
        above[i] += static_cast<double>(file->file_size) / static_cast<double>(met.end - met.first);
      }
    }
    const double wanted = held * std::min(1.0, excess / (held + arriving));
    const double bytes_max =
        policy_.max_bytes_for_level_multiplier * static_cast<double>(policy_.TargetFileSize(1));
    Stretch taken;
    taken.first = NextTurn(files, 2);
    while (taken.first < files.size() && above[taken.first] == 0) ++taken.first;
    taken.end = taken.first;
    double gone = 0;
    double met = 0;
    while (taken.end < files.size() && gone < wanted) {
      met += static_cast<double>(files[taken.end]->file_size);
      if (met > bytes_max && !taken.empty()) break;
      gone += above[taken.end++];
    }
    if (taken.empty()) return;
    Append(below[0], taken, &choice->overlapped);
    choice->through = CompactionChoice::Through();
    choice->through->tier = below[0].number;
    if (taken.first > 0) choice->through->begin = files[taken.first]->smallest_key;
    if (taken.end < files.size()) choice->through->end = files[taken.end]->smallest_key;
  }

  // ---- Levels ----

  // The newest file of a level. Its end is where the last compaction into the level ended. Null if the level is empty.
  [[nodiscard]] const RunInfo* NewestFile(std::uint32_t level) const {
    const RunInfo* newest = nullptr;
    for (const TierShape& tier : shape_.TiersOf(level)) {
      for (const RunInfo* file : tier.files) {
        if (newest == nullptr || file->number > newest->number) newest = file;
      }
    }
    return newest;
  }

  // The first file that begins after the end of the last turn; the first of all if none does.
  [[nodiscard]] std::size_t NextTurn(const FileList& files, std::uint32_t output_level) const {
    const RunInfo* newest = NewestFile(output_level);
    if (newest == nullptr) return 0;
    const auto next = std::ranges::partition_point(files, [&](const RunInfo* file) {
      return order_.Compare(file->smallest_key, newest->largest_key) < 0 ||
             (!newest->largest_is_open && order_.Compare(file->smallest_key, newest->largest_key) == 0);
    });
    return next == files.end() ? 0 : static_cast<std::size_t>(next - files.begin());
  }

  // NextTurn for files that are merged with the files that they overlap. The last file that such a compaction writes
  // extends beyond its inputs, by half a file on average. So the next input is the first that begins at or after the
  // beginning of that last file. If we took the first that begins after its end, every other file would be left for the
  // next turn: the keys that move would be no denser than the rest, and would overlap up to twice as much below.
  [[nodiscard]] std::size_t NextFile(const FileList& files, std::uint32_t output_level) const {
    const RunInfo* newest = NewestFile(output_level);
    if (newest == nullptr) return 0;
    const auto next = std::ranges::partition_point(files, [&](const RunInfo* file) {
      return order_.Compare(file->smallest_key, newest->smallest_key) < 0;
    });
    return next == files.end() ? 0 : static_cast<std::size_t>(next - files.begin());
  }

  // Adds further files of the turn until the level is within its size. If two neighbours overlap one file below, that
  // file is merged once if they are taken together, and twice if one follows the other. Inputs and overlapped files
  // together stay within the bytes that one file and its overlap may have.
  void TakeExcess(const TierShape& tier, const TierShape& merged, Stretch* taken, KeySpan* span, Stretch* met) const {
    const double level_max = policy_.UpperLevelSize(tier.level);
    const double bytes_max =
        (1 + policy_.max_bytes_for_level_multiplier) * static_cast<double>(policy_.TargetFileSize(tier.level));
    for (; taken->end < tier.files.size(); ++taken->end) {
      const std::uint64_t inputs = SumBytes(FilesOf(tier, *taken));
      if (static_cast<double>(SumBytes(tier.files) - inputs) <= level_max) break;
      const RunInfo& next = *tier.files[taken->end];
      const KeySpan wider = Union(order_, *span, KeySpan::Of(next));
      const Stretch meets = Overlapped(order_, merged, wider);
      const std::uint64_t together = inputs + next.file_size + SumBytes(FilesOf(merged, meets));
      if (static_cast<double>(together) > bytes_max) break;
      *span = wider;
      *met = meets;
    }
  }

  // The file whose range deletes cover the most bytes below; if none cover any, the file whose turn it is.
  [[nodiscard]] std::size_t FileToGo(const TierShape& tier) const {
    std::size_t most = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < tier.files.size(); ++i) {
      const std::uint64_t its = shape_.BytesCovered(*tier.files[i], tier.level);
      if (its > bytes) {
        bytes = its;
        most = i;
      }
    }
    return bytes > 0 ? most : NextFile(tier.files, tier.level + 1);
  }

  [[nodiscard]] CompactionChoice PickFrom(std::uint32_t level) const {
    const std::span<const TierShape> tiers = shape_.TiersOf(level);
    if (tiers.size() > 1) return PickSlice(level, std::nullopt);
    if (!policy_.is_lazy()) return PickFile(tiers[0], FileToGo(tiers[0]), true);
    CompactionChoice choice = NewChoice(level, level + 1, tiers[0].files);
    if (level == last_) {
      choice.kind = CompactionChoice::Kind::kMove;
      return choice;
    }
    const KeySpan span = SpanOf(order_, tiers[0].files);
    const TierShape* merged = Place(span, &choice);
    const bool meets = merged != nullptr && !Overlapped(order_, *merged, span).empty();
    if (!meets && CanMove(tiers[0].files, choice)) {
      choice.kind = CompactionChoice::Kind::kMove;
      return choice;
    }
    return PickSlice(level, std::nullopt);
  }

  // Picks one file; if `is_due`, further files while the level is too large; and neighbours while they add no overlap.
  // `is_due` is false for a request, whose steps should be small.
  [[nodiscard]] CompactionChoice PickFile(const TierShape& tier, std::size_t start, bool is_due = false) const {
    Stretch taken{start, start + 1};
    CompactionChoice choice = NewChoice(tier.level, tier.level + 1, {tier.files[start]});
    KeySpan span = KeySpan::Of(*tier.files[start]);
    const TierShape* merged = Place(span, &choice);
    Stretch met = merged == nullptr ? Stretch{} : Overlapped(order_, *merged, span);
    if (is_due && !met.empty()) TakeExcess(tier, *merged, &taken, &span, &met);
    std::uint64_t added = 0;
    const auto take = [&](std::size_t i) {
      const KeySpan wider = Union(order_, span, KeySpan::Of(*tier.files[i]));
      CompactionChoice again = choice;
      const TierShape* other = Place(wider, &again);
      // Two empty overlaps are equal, wherever they are.
      const Stretch now = other == nullptr ? Stretch{} : Overlapped(order_, *other, wider);
      const bool same = now == met || (now.empty() && met.empty());
      if (!same || again.output_tier != choice.output_tier) return false;
      if (added + tier.files[i]->file_size > shape_.step_bytes) return false;
      added += tier.files[i]->file_size;
      span = wider;
      return true;
    };
    while (taken.end < tier.files.size() && take(taken.end)) ++taken.end;
    while (taken.first > 0 && take(taken.first - 1)) --taken.first;

    const std::span<const RunInfo* const> files = FilesOf(tier, taken);
    const FileList inputs(files.begin(), files.end());
    choice.inputs.clear();
    Append(tier, taken, &choice.inputs);
    if (merged != nullptr) Append(*merged, met, &choice.overlapped);
    if (CanMove(inputs, choice)) choice.kind = CompactionChoice::Kind::kMove;
    return choice;
  }

  // The next files of the last level that must be rewritten in place.
  [[nodiscard]] CompactionChoice PickInPlace(const TierShape& tier, const CompactionRequest& request) const {
    FileList inputs;
    for (const RunInfo* file : tier.files) {
      const bool is_wanted = IsInRequest(*file, request) && NeedsRewrite(*file, request);
      if (!is_wanted && inputs.empty()) continue;
      if (!is_wanted || (!inputs.empty() && SumBytes(inputs) + file->file_size > shape_.step_bytes)) break;
      inputs.push_back(file);
    }
    if (inputs.empty()) return {};
    CompactionChoice choice = NewChoice(tier.level, tier.level, inputs);
    choice.output_tier = tier.number;
    return choice;
  }

  // ---- Slices ----

  // A slice of all tiers of a level. It begins at the border at or before `from`; if that is unset, where the last turn
  // ended.
  [[nodiscard]] CompactionChoice PickSlice(std::uint32_t level, std::optional<Slice> from) const {
    const std::span<const TierShape> tiers = shape_.TiersOf(level);
    CompactionChoice choice = NewChoice(level, level + 1, {});
    FileList all;
    for (const TierShape& tier : tiers) all.insert(all.end(), tier.files.begin(), tier.files.end());
    const TierShape* merged = Place(SpanOf(order_, all), &choice);
    const TierShape& guide = merged != nullptr ? *merged : *std::ranges::max_element(tiers, {}, [](const TierShape& t) {
      return SumBytes(t.files);
    });

    const std::size_t start =
        from.has_value() ? BorderBefore(order_, guide, *from) : NextTurn(guide.files, choice.output_level);
    const std::uint64_t budget = std::max(shape_.step_bytes, kSliceFilesMin * policy_.TargetFileSize(guide.level));
    const Stretch slice = CutSlice(order_, guide, tiers, merged != nullptr, start, budget);
    if (slice.first > 0) choice.begin = guide.files[slice.first]->smallest_key;
    if (slice.end < guide.files.size()) choice.end = guide.files[slice.end]->smallest_key;

    FileList inputs;
    for (const RunInfo* file : all) {
      if (choice.begin.has_value() && EndsBefore(order_, KeySpan::Of(*file), *choice.begin)) continue;
      if (choice.end.has_value() && order_.Compare(file->smallest_key, *choice.end) >= 0) continue;
      inputs.push_back(file);
      choice.inputs.push_back(file->number);
    }
    if (merged != nullptr) {
      const Stretch met = Overlapped(order_, *merged, SpanOf(order_, inputs));
      Append(*merged, {std::max(met.first, slice.first), std::min(met.end, slice.end)}, &choice.overlapped);
    } else {
      KeySpan span = SpanOf(order_, inputs);
      if (choice.begin.has_value() && order_.Compare(span.smallest, *choice.begin) < 0) span.smallest = *choice.begin;
      if (choice.end.has_value() && !EndsBefore(order_, span, *choice.end)) {
        span.largest = *choice.end;
        span.largest_is_open = true;
      }
      Place(span, &choice);
    }
    return choice;
  }

  const CompactionShape& shape_;
  const CompactionPolicy& policy_;
  const KeyOrder order_;
  std::uint32_t last_ = 1;    // the level that is, or will become, one sorted sequence under any style
  std::uint32_t lowest_ = 1;  // the deepest level that files may be compacted into
};

}  // namespace

CompactionChoice PickCompaction(const CompactionShape& shape, const CompactionPolicy& policy) {
  return Picker(shape, policy).PickDue();
}

CompactionChoice PickRuns(const CompactionShape& shape, const CompactionPolicy& policy) {
  return Picker(shape, policy).PickRunsDown(shape.runs);
}

bool AdvanceRequest(const CompactionShape& shape, const CompactionPolicy& policy, CompactionRequest* request) {
  const Picker picker(shape, policy);
  const auto next_level = [request] {
    ++request->level;
    request->limit.reset();
    request->position.reset();
  };
  if (std::exchange(request->is_picked, false) && request->level > 0) {
    request->reach.has_value() ? void(request->position = request->reach) : next_level();
  }
  const std::uint32_t deepest = request->only_runs ? 0 : shape.deepest();
  for (; request->level <= deepest; next_level()) {
    if (request->level > 0 && !request->limit.has_value()) request->limit = picker.LargestKey(request->level);
    if (picker.HasWork(request->level, *request)) return true;
  }
  return false;
}

CompactionChoice PickRequested(const CompactionShape& shape, const CompactionPolicy& policy,
                               CompactionRequest* request) {
  const Picker picker(shape, policy);
  CompactionChoice choice = picker.PickForRequest(*request);
  const bool moves = choice.kind == CompactionChoice::Kind::kMove;
  if (moves && request->asks_filter) choice.kind = CompactionChoice::Kind::kCompact;
  request->is_picked = true;
  request->reach = picker.ReachOf(choice);
  return choice;
}

}  // namespace cambium
