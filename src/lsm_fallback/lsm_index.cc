#include "lsm_fallback/lsm_index.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

#include "lsm_fallback/level_compaction.h"
#include "lsm_fallback/cost_law.h"

namespace cambium {
namespace {

using Kind = CompactionChoice::Kind;

const LsmLayers& AsLsm(const Layers& layers) {
  assert(dynamic_cast<const LsmLayers*>(&layers) != nullptr);
  return static_cast<const LsmLayers&>(layers);
}

CompactionShape ShapeOf(const LsmLayers& layers) {
  CompactionShape shape;
  shape.comparator = layers.parts().comparator;
  const auto take = [&shape](const Run& run, std::vector<const RunInfo*>* files) {
    files->push_back(&run.info());
    if (run.ranges() != nullptr) shape.ranges.emplace(run.number(), run.ranges().get());
  };
  for (const auto& run : layers.runs()) take(*run, &shape.runs);
  for (const auto& tier : layers.tiers()) {
    shape.tiers.push_back({tier->level(), tier->number(), {}});
    for (const auto& run : tier->runs()) take(*run, &shape.tiers.back().files);
  }
  return shape;
}

// Whether the compaction takes all files.
bool TakesAll(const CompactionShape& shape, const CompactionChoice& choice) {
  std::size_t files = shape.runs.size();
  for (const TierShape& tier : shape.tiers) files += tier.files.size();
  const bool is_slice = choice.begin.has_value() || choice.end.has_value();
  return !is_slice && choice.inputs.size() + choice.overlapped.size() == files;
}

// The outcome of a level compaction; see CompactionOutcome.
class LsmOutcome final : public CompactionOutcome {
 public:
  LsmOutcome(std::shared_ptr<const Layers> input, CompactionChoice choice)
      : input_(std::move(input)), choice_(std::move(choice)) {}

  Result<std::shared_ptr<const Layers>> Stage(const Layers& current, FamilyEdit* edit) const override;
  void NoteFiltered(FilteredPart* part) const override {
    for (const auto& run : output_.runs) part->AddFile(run->number());
    for (const LevelCompactionOutput::Placed& other : output_.others) {
      if (other.was_filtered) part->AddFile(other.run->number());
    }
  }
  void Committed() override {}
  [[nodiscard]] const CompactionStats& stats() const override { return output_.stats; }

  LevelCompactionOutput& output() { return output_; }

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // level, tier

  Status CheckBase(const LsmLayers& now) const;
  // The new runs of each tier that changes. Adds the changes to *edit.
  [[nodiscard]] std::map<Place, RunList> ChangedTiers(const LsmLayers& now, FamilyEdit* edit) const;

  const std::shared_ptr<const Layers> input_;  // the layers that were read
  const CompactionChoice choice_;
  LevelCompactionOutput output_;
};

// Checks that the current layers are the input, with nothing but new runs on top.
Status LsmOutcome::CheckBase(const LsmLayers& now) const {
  const LsmLayers& then = AsLsm(*input_);
  const bool is_suffix = now.runs().size() >= then.runs().size() &&
                         std::equal(then.runs().rbegin(), then.runs().rend(), now.runs().rbegin());
  if (is_suffix && now.tiers() == then.tiers()) return Status::OK();
  return Status::Aborted("the layers have changed since the compaction read them");
}

std::map<LsmOutcome::Place, RunList> LsmOutcome::ChangedTiers(const LsmLayers& now, FamilyEdit* edit) const {
  const std::set<std::uint64_t> inputs(choice_.inputs.begin(), choice_.inputs.end());
  const std::set<std::uint64_t> overlapped(choice_.overlapped.begin(), choice_.overlapped.end());
  const bool is_move = choice_.kind == Kind::kMove;
  const Place target(choice_.output_level, choice_.output_tier);

  std::map<Place, RunList> changed;
  changed[target];
  RunList moved;
  for (const auto& run : now.runs()) {
    if (is_move && inputs.contains(run->number())) moved.push_back(run);
  }
  for (const auto& tier : now.tiers()) {
    const Place place(tier->level(), tier->number());
    RunList kept;
    for (const auto& run : tier->runs()) {
      if (inputs.contains(run->number())) {
        is_move ? moved.push_back(run) : edit->drop_level_runs.push_back(run->number());
      } else if (overlapped.contains(run->number())) {
        edit->drop_level_runs.push_back(run->number());
      } else {
        kept.push_back(run);
      }
    }
    if (place == target || kept.size() != tier->runs().size()) changed[place] = std::move(kept);
  }
  for (const auto& run : moved) {
    edit->place_runs.push_back({run->number(), target.first, target.second});
    changed[target].push_back(run);
  }
  const auto add = [&](const std::shared_ptr<const Run>& run, Place place) {
    edit->add_runs.push_back(run->info());
    edit->place_runs.push_back({run->number(), place.first, place.second});
    changed[place].push_back(run);
  };
  for (const auto& run : output_.runs) add(run, target);
  for (const LevelCompactionOutput::Placed& other : output_.others) add(other.run, {other.level, other.tier});
  return changed;
}

Result<std::shared_ptr<const Layers>> LsmOutcome::Stage(const Layers& current, FamilyEdit* edit) const {
  const LsmLayers& now = AsLsm(current);
  CAMBIUM_RETURN_IF_ERROR(CheckBase(now));
  LsmLayers::Parts parts = now.parts();
  if (choice_.kind != Kind::kNothing) {
    std::map<Place, RunList> changed = ChangedTiers(now, edit);
    std::erase_if(parts.tiers, [&](const auto& tier) { return changed.contains({tier->level(), tier->number()}); });
    for (auto& [place, runs] : changed) {
      if (runs.empty()) continue;
      CAMBIUM_TRY(std::shared_ptr<const Tier> tier,
                  Tier::Make(parts.comparator, place.first, place.second, std::move(runs)));
      parts.tiers.push_back(std::move(tier));
    }
    std::ranges::sort(parts.tiers, [](const auto& a, const auto& b) {
      return a->level() != b->level() ? a->level() < b->level() : a->number() > b->number();
    });
  }
  if (choice_.kind != Kind::kNothing && choice_.level == 0) {
    std::erase_if(parts.runs, [this](const std::shared_ptr<const Run>& run) {
      return std::ranges::find(choice_.inputs, run->number()) != choice_.inputs.end();
    });
    edit->layers.emplace();
    for (const auto& run : parts.runs) edit->layers->push_back(run->number());
  }
  edit->accounts.Merge(output_.accounts);
  return std::shared_ptr<const Layers>(std::make_shared<const LsmLayers>(std::move(parts)));
}

}  // namespace

CompactionPolicy CompactionPolicyOf(const ColumnFamilyOptions& options) {
  CompactionPolicy policy;
  policy.style = options.compaction_style;
  policy.level0_file_num_compaction_trigger = static_cast<std::uint64_t>(options.level0_file_num_compaction_trigger);
  policy.target_file_size_base = options.target_file_size_base;
  policy.target_file_size_multiplier = static_cast<std::uint64_t>(options.target_file_size_multiplier);
  policy.max_bytes_for_level_base = options.max_bytes_for_level_base;
  policy.max_bytes_for_level_multiplier = options.max_bytes_for_level_multiplier;
  policy.num_levels = static_cast<std::uint32_t>(options.num_levels);
  return policy;
}

LsmIndex::LsmIndex(LsmIndexOptions options)
    : options_(std::move(options)), tuning_{options_.policy, options_.filter_bits_per_key, options_.compression} {
  assert(options_.comparator != nullptr && options_.pool != nullptr && options_.create_file != nullptr);
}

void LsmIndex::SetPolicy(const CompactionPolicy& policy) {
  const MutexLock lock(mutex_);
  tuning_.policy = policy;
}

void LsmIndex::SetOptions(const ColumnFamilyOptions& options) {
  Tuning next;
  next.policy = CompactionPolicyOf(options);
  next.filter_bits_per_key = static_cast<unsigned>(options.filter_bits_per_key);
  static_cast<void>(CodecOf(options.compression, &next.compression));  // checked when the user set it
  const MutexLock lock(mutex_);
  tuning_ = next;
}

void LsmIndex::SetRoom(const IndexRoom& room) {
  const MutexLock lock(mutex_);
  room_ = room;
}

LsmIndex::Tuning LsmIndex::tuning() const {
  const MutexLock lock(mutex_);
  Tuning now = tuning_;
  now.policy = now.policy.Within(room_);
  return now;
}

CompactionPolicy LsmIndex::policy() const { return tuning().policy; }

bool LsmIndex::IsCompactionDue(const Layers& layers, bool urgent) const {
  if (urgent && !layers.runs().empty()) return true;
  return PickCompaction(ShapeOf(AsLsm(layers)), policy()).kind != Kind::kNothing;
}

bool LsmIndex::IsCompactionDue(const Layers& layers, CompactionRequest* request) const {
  return AdvanceRequest(ShapeOf(AsLsm(layers)), policy(), request);
}

double LsmIndex::ExpectedBytes(const Layers& layers, const MemtableShape& memtable, const UpdateShape& update) const {
  if (memtable.key_count == 0) return 0;  // it has range deletes only, and no smallest and largest key
  const LsmLayers& levels = AsLsm(layers);
  const KeyOrder order(options_.comparator);
  LsmCost cost;
  double entries = 0;
  double files = 0;
  double bytes = 0;
  // Measures the last level, and counts its keys in files that the memtable overlaps.
  const std::uint32_t lowest = levels.tiers().empty() ? 0 : levels.tiers().back()->level();
  for (const auto& tier : levels.tiers()) {
    if (tier->level() != lowest) continue;
    for (const auto& run : tier->runs()) {
      entries += static_cast<double>(run->info().root.entry_count);
      bytes += static_cast<double>(run->info().file_size);
      ++files;
      const KeySpan span = KeySpan::Of(run->info());
      const bool meets = order.Compare(span.smallest, memtable.largest_key) <= 0 &&
                         !EndsBefore(order, span, memtable.smallest_key);
      if (meets) cost.keys += static_cast<double>(run->info().root.entry_count);
    }
  }
  cost.file_bytes = 3 * static_cast<double>(options_.page_size);
  cost.entry_bytes = entries > 0 ? std::max(1.0, (bytes - files * cost.file_bytes) / entries) : update.entry_bytes;
  cost.run_entry_bytes = update.run_entry_bytes;
  cost.batch = static_cast<double>(memtable.key_count);
  cost.new_share = update.new_share;
  cost.step_bytes = static_cast<double>(update.step_bytes);
  cost.policy = policy();
  return BytesPerUpdate(cost) * cost.batch;
}

Result<std::unique_ptr<CompactionOutcome>> LsmIndex::Compact(const CompactionInput& input) {
  if (input.memtable != nullptr) {
    return Status::InvalidArgument("an LSM does not merge a memtable straight into levels: flush it to a run");
  }
  const LsmLayers& layers = AsLsm(*input.layers);
  const Tuning now = tuning();
  const CompactionPolicy& policy_now = now.policy;
  CompactionShape shape = ShapeOf(layers);
  shape.step_bytes = input.max_output_bytes;
  CompactionChoice choice;
  if (input.request != nullptr) {
    choice = PickRequested(shape, policy_now, input.request);
  } else {
    choice = PickCompaction(shape, policy_now);
    if (choice.kind == Kind::kNothing) choice = PickRuns(shape, policy_now);
  }
  auto outcome = std::make_unique<LsmOutcome>(input.layers, choice);
  if (choice.kind == Kind::kCompact) {
    LevelCompactionInput compaction;
    compaction.layers = &layers;
    compaction.choice = &choice;
    compaction.run.page_size = options_.page_size;
    compaction.run.filter_bits_per_key = now.filter_bits_per_key;
    compaction.run.compression = now.compression;
    compaction.run.block_size = options_.block_size;
    compaction.run.before_write = input.before_write;
    compaction.create_file = options_.create_file;
    compaction.is_abandoned = input.is_abandoned;
    compaction.filter = input.filter;
    compaction.filtered = input.filtered;
    compaction.syncs = input.syncs;
    if (input.filter != nullptr) {
      CAMBIUM_RETURN_IF_ERROR(input.filter->Begin(choice.output_level, TakesAll(shape, choice)));
    }
    compaction.target_bytes = policy_now.TargetFileSize(choice.output_level);
    if (const TierShape* below = GrandparentsOf(shape, choice.output_level); below != nullptr) {
      compaction.grandparents = below->files;
    }
    if (choice.through.has_value()) {
      const TierShape* further = GrandparentsOf(shape, choice.output_level + 1);
      if (further != nullptr) compaction.grandparents_through = further->files;
      compaction.target_bytes_through = policy_now.TargetFileSize(choice.output_level + 1);
      compaction.grandparent_bytes_max_through = kGrandparentFiles * compaction.target_bytes_through;
    }
    compaction.grandparent_bytes_max = kGrandparentFiles * compaction.target_bytes;
    CAMBIUM_TRY(outcome->output(), CompactLevel(compaction));
  }
  outcome->output().stats.level = choice.level;
  outcome->output().stats.output_level = choice.output_level;
  return std::unique_ptr<CompactionOutcome>(std::move(outcome));
}

}  // namespace cambium
