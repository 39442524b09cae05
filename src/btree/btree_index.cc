#include "btree/btree_index.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "btree/cost_law.h"
#include "btree/sweep.h"
#include "index/key_for_message.h"
#include "util/mutant.h"

namespace cambium {
namespace {

const TreeLayers& AsTree(const Layers& layers) {
  assert(dynamic_cast<const TreeLayers*>(&layers) != nullptr);
  return static_cast<const TreeLayers&>(layers);
}

// A segment of tree pages is deleted as a whole. If one segment held the whole tree, the whole tree would have to be
// copied now and then. If a segment is larger than a step of a sweep, emptying it takes more than one step. So segments
// are small. Those of a large tree have at least 1/kSegmentsOfTreeMax of its bytes, up to segment_bytes_max.
constexpr std::uint64_t kSegmentsOfTree = 64;
constexpr std::uint64_t kSegmentsOfTreeMax = 1024;
constexpr std::uint64_t kSegmentBytesLeast = 128u << 10;
constexpr std::uint64_t kSegmentPagesLeast = 32;  // the header takes one page
constexpr std::uint64_t kRunsOfRoom = 8;  // a sweep is due if runs have more than this part of the room
constexpr std::uint64_t kRunBytesLeast = 256u << 10;
constexpr double kSweptPartOfRoom = 0.4;  // the runs of a sweep add at most this part, or kRunBytesLeast
constexpr std::uint64_t kLeastStepPages = 4;  // a path of a high tree

bool HasRanges(const MemtableShape& memtable) { return memtable.ranges != nullptr && !memtable.ranges->empty(); }

SweepShape ShapeOf(const TreeLayers& layers) {
  const LayersShape& facts = layers.shape();
  SweepShape shape;
  shape.run_count = facts.run_count;
  shape.run_keys = facts.run_keys;
  shape.run_bytes = facts.run_file_bytes;
  shape.tree_keys = facts.base_keys;
  shape.tree_keys_between = facts.base_keys;
  shape.tree_height = facts.height;
  shape.sweep_in_progress = facts.sweep_in_progress;
  if (!shape.sweep_in_progress) shape.run_covered_keys = layers.KeysCoveredByRuns();  // else a step is due anyway
  const std::uint64_t pages = facts.base_live_bytes / layers.parts().page_size;
  shape.keys_per_leaf = std::max<std::uint64_t>(1, facts.base_keys / std::max<std::uint64_t>(1, pages));
  return shape;
}

// The number of the tree's keys between the smallest and the largest key of the memtable and the runs, range deletes
// included.
Result<std::uint64_t> TreeKeysBetween(const TreeLayers& layers, const MemtableShape& memtable) {
  const Comparator& order = *layers.parts().comparator;
  bool is_empty = true;
  Slice smallest;
  Slice largest;
  const auto span = [&](Slice from, Slice to) {
    if (is_empty || order.Compare(from, smallest) < 0) smallest = from;
    if (is_empty || order.Compare(to, largest) > 0) largest = to;
    is_empty = false;
  };
  if (memtable.key_count > 0) span(memtable.smallest_key, memtable.largest_key);
  if (HasRanges(memtable)) span(memtable.ranges->begin(0), memtable.ranges->end(memtable.ranges->count() - 1));
  for (const auto& run : layers.runs()) {
    const RunInfo& info = run->info();
    if (info.root.entry_count > 0 || info.range_delete_count > 0) span(info.smallest_key, info.largest_key);
  }
  if (is_empty) return 0;
  CAMBIUM_TRY(const std::uint64_t below, layers.Rank(smallest));
  CAMBIUM_TRY(const std::uint64_t upto, layers.Rank(largest));
  return upto > below ? upto - below : 0;
}

// Returns where the runs of a sweep end among `count`: at the oldest; in a mutant, before the older half.
std::size_t EndOfSwept(std::size_t count, bool resumes) {
  const bool is_cut = MutantIs(Mutant::kSweepNewestRunsFirst) && !resumes && count > 1;
  return is_cut ? count / 2 : count;
}

}  // namespace

// The outcome of a sweep or a walk; see CompactionOutcome.
class SweepOutcome final : public CompactionOutcome {
 public:
  SweepOutcome(BTreeIndex* owner, std::shared_ptr<const Layers> input) : owner_(owner), input_(std::move(input)) {}

  Result<std::shared_ptr<const Layers>> Stage(const Layers& current, FamilyEdit* edit) const override;

  void NoteFiltered(FilteredPart* part) const override {
    for (const IndexSegmentWriter::Segment& segment : written_) part->AddFile(segment.file->number());
    if (is_walk_) part->SetWalked(walked_);
  }

  // The last segment written may be continued, now that all of it is committed.
  void Committed() override {
    if (!written_.empty()) owner_->open_segment_ = {written_.back().file, written_.back().length};
  }
  [[nodiscard]] const CompactionStats& stats() const override { return output_.stats; }

 private:
  friend class BTreeIndex;

  Status CheckBase(const TreeLayers& now) const;
  Status CheckProgress(const TreeLayers& now) const;
  Status StageSegments(FamilyEdit* edit, TreeLayers::Parts* parts) const;

  BTreeIndex* const owner_;
  const std::shared_ptr<const Layers> input_;  // the layers that were read; their root is the old one
  bool has_memtable_ = false;
  bool is_walk_ = false;
  FilteredPart::Walked walked_;                 // by the walk so far
  std::vector<std::uint64_t> swept_;            // S, newest first
  SweepOutput output_;
  std::vector<IndexSegmentWriter::Segment> written_;
};

// Checks that the current layers are the input, with nothing but new runs on top.
Status SweepOutcome::CheckBase(const TreeLayers& now) const {
  const TreeLayers& then = AsTree(*input_);
  const auto& runs_now = now.runs();
  const auto& runs_then = then.runs();
  const bool is_suffix = runs_now.size() >= runs_then.size() &&
                         std::equal(runs_then.rbegin(), runs_then.rend(), runs_now.rbegin(),
                                    [](const auto& a, const auto& b) { return a->number() == b->number(); });
  if (!is_suffix || now.parts().root != then.parts().root || now.parts().sweep != then.parts().sweep) {
    return Status::Aborted("the layers have changed since the sweep read them");
  }
  // If log GC has added a run of relocated values meanwhile, its entries may be older than those of the merged
  // memtable, but would hide them.
  if (has_memtable_ && runs_now.size() != runs_then.size()) {
    return Status::Aborted("a run was added on top while a memtable was merged into the tree");
  }
  return Status::OK();
}

// The MANIFEST checks the cursor too, but only in an order of keys that it knows. If a cursor moved back, keys that are
// in the tree would be merged, and counted, again.
Status SweepOutcome::CheckProgress(const TreeLayers& now) const {
  const auto& before = now.parts().sweep;
  if (!output_.cursor.has_value() || !before.has_value() || before->cursor.empty()) return Status::OK();
  if (now.parts().comparator->Compare(*output_.cursor, before->cursor) > 0) return Status::OK();
  return Status::Corruption("the cursor of a sweep does not advance: " + KeyForMessage(*output_.cursor) + " follows " +
                            KeyForMessage(before->cursor));
}

Result<std::shared_ptr<const Layers>> SweepOutcome::Stage(const Layers& current, FamilyEdit* edit) const {
  const TreeLayers& now = AsTree(current);
  CAMBIUM_RETURN_IF_ERROR(CheckBase(now));
  CAMBIUM_RETURN_IF_ERROR(CheckProgress(now));
  TreeLayers::Parts parts = now.parts();
  edit->root = output_.root;
  edit->accounts.Merge(output_.accounts);
  parts.root = output_.root;
  if (is_walk_) {
    // The runs do not change, and neither does a sweep in progress.
  } else if (output_.cursor.has_value()) {
    edit->sweep = SweepState{swept_, *output_.cursor};
    parts.sweep = edit->sweep;
  } else {
    std::erase_if(parts.runs, [this](const std::shared_ptr<const Run>& run) {
      return std::find(swept_.begin(), swept_.end(), run->number()) != swept_.end();
    });
    edit->end_sweep = parts.sweep.has_value();
    parts.sweep.reset();
    edit->layers.emplace();
    for (const auto& run : parts.runs) edit->layers->push_back(run->number());
  }
  CAMBIUM_RETURN_IF_ERROR(StageSegments(edit, &parts));
  return std::shared_ptr<const Layers>(std::make_shared<const TreeLayers>(std::move(parts)));
}

Status SweepOutcome::StageSegments(FamilyEdit* edit, TreeLayers::Parts* parts) const {
  std::set<std::uint64_t> changed;
  for (const IndexSegmentWriter::Segment& segment : written_) {
    const std::uint64_t number = segment.file->number();
    const auto known = parts->segments.find(number);
    const std::uint64_t live_units = known == parts->segments.end() ? 0 : known->second.live_units;
    parts->segments.Set({number, segment.info(live_units + segment.units_added)});
    parts->files = parts->files.With(segment.file);
    changed.insert(number);
  }
  for (const auto& [number, units] : output_.freed_units) {
    const auto known = parts->segments.find(number);
    if (known == parts->segments.end() || known->second.live_units < units) {
      return Status::Corruption("index segment " + std::to_string(number) +
                                " has fewer live pages than the tree reached");
    }
    parts->segments.Mutable(number)->second.live_units -= units;
    changed.insert(number);
  }
  for (const std::uint64_t number : changed) {
    const IndexSegmentInfo& info = parts->segments.find(number)->second;
    if (info.live_units > 0) {
      edit->set_index_segments.push_back(info);
      continue;
    }
    edit->drop_index_segments.push_back(number);
    parts->segments.erase(number);
    parts->files = parts->files.Without(number);
  }
  return Status::OK();
}

BTreeIndex::BTreeIndex(BTreeIndexOptions options)
    : options_(std::move(options)),
      runs_max_(options_.merges.runs_max),
      sweep_ratio_(options_.merges.sweep_ratio),
      filter_bits_per_key_(options_.filter_bits_per_key),
      write_buffer_size_(options_.write_buffer_size) {
  assert(options_.comparator != nullptr && options_.pool != nullptr && options_.create_file != nullptr);
  assert(options_.merges.sweep_ratio > 0);
}

SweepPolicy BTreeIndex::Policy(std::uint64_t step_bytes_max) const {
  SweepPolicy policy = options_.merges;
  policy.runs_max = runs_max_.load(std::memory_order_relaxed);
  policy.sweep_ratio = sweep_ratio_.load(std::memory_order_relaxed);
  if (!MutantIs(Mutant::kLevelsIgnoreRoom)) {
    policy.run_bytes_max = std::max(room_.load(std::memory_order_relaxed) / kRunsOfRoom, kRunBytesLeast);
  }
  // As much as a step of a sweep writes before it commits.
  const std::uint64_t step_bytes = std::min(step_bytes_max, write_buffer_size_.load(std::memory_order_relaxed));
  policy.flush_pages_max = std::max(kTreeFlushBytesLeast, step_bytes) / options_.segments.page_size;
  return policy;
}

PageBuilderOptions BTreeIndex::Pages() const {
  PageBuilderOptions pages{options_.segments.page_size, options_.fill_percent};
  if (options_.comparator->EqualMeansSameBytes()) {
    pages.filter_bits_per_key = filter_bits_per_key_.load(std::memory_order_relaxed);
  }
  return pages;
}

FlushChoice BTreeIndex::PickFlush(const Layers& layers, const MemtableShape& memtable) const {
  const TreeLayers& tree = AsTree(layers);
  SweepShape shape = ShapeOf(tree);
  shape.memtable_keys = memtable.key_count;
  if (HasRanges(memtable)) {
    const Result<std::uint64_t> covered = tree.KeysCovered(*memtable.ranges);
    if (!covered.ok()) return FlushChoice::kMakeRun;
    shape.memtable_ranges = memtable.ranges->count();
    shape.memtable_covered_keys = *covered;
  }
  if (const Result<std::uint64_t> between = TreeKeysBetween(tree, memtable); between.ok()) {
    shape.tree_keys_between = *between;
  } else {
    return FlushChoice::kMakeRun;
  }
  const SweepChoice choice = PickSweep(shape, Policy(memtable.max_output_bytes));
  return choice == SweepChoice::kFlushIntoTree ? FlushChoice::kIntoTree : FlushChoice::kMakeRun;
}

bool BTreeIndex::IsCompactionDue(const Layers& layers, bool urgent) const {
  SweepShape shape = ShapeOf(AsTree(layers));
  shape.urgent = urgent;
  return PickSweep(shape, Policy()) != SweepChoice::kNothing;
}

bool BTreeIndex::HasRunFor(const Layers& layers, const CompactionRequest& request) const {
  const Comparator& order = *options_.comparator;
  return std::ranges::any_of(layers.runs(), [&](const auto& run) {
    const RunInfo& info = run->info();
    return std::ranges::find(request.runs, info.number) != request.runs.end() &&
           (!request.begin.has_value() || order.Compare(info.largest_key, *request.begin) >= 0) &&
           (!request.end.has_value() || order.Compare(info.smallest_key, *request.end) <= 0);
  });
}

// The walk runs last. It skips leaves that sweeps have written since the call of CompactRange began, because these
// sweeps asked the filter.
bool BTreeIndex::IsCompactionDue(const Layers& layers, CompactionRequest* request) const {
  if (HasRunFor(layers, *request)) return true;
  if (!request->asks_filter || request->only_runs || AsTree(layers).parts().root.height == 0) return false;
  if (request->filtered != nullptr && request->filtered->is_walk_complete()) return false;
  if (request->is_picked && !request->reach.has_value()) return false;  // the last step has reached the end
  if (std::exchange(request->is_picked, false)) request->position = request->reach;
  return true;
}

double BTreeIndex::ExpectedBytes(const Layers& layers, const MemtableShape& memtable, const UpdateShape& update) const {
  const TreeLayers& tree = AsTree(layers);
  const Result<std::uint64_t> between = TreeKeysBetween(tree, memtable);
  if (!between.ok()) return 0;
  TreeCost cost;
  cost.keys = static_cast<double>(*between);
  cost.page_bytes = static_cast<double>(tree.parts().page_size);
  cost.children = ChildrenOf(cost.page_bytes, options_.fill_percent);
  cost.filter_bytes = Pages().filter_bits_per_key / 8.0;
  cost.entry_bytes = LeafPartOf(update.entry_bytes, cost);
  cost.run_entry_bytes = update.run_entry_bytes;
  cost.batch = static_cast<double>(memtable.key_count);
  cost.new_share = update.new_share;
  cost.policy = Policy(memtable.max_output_bytes);
  return BytesPerUpdate(cost) * cost.batch;
}

// Returns the share of all pages that the rest of a sweep will replace, with a memtable of so many keys.
Result<double> BTreeIndex::ShareToBeReplaced(const TreeLayers& layers, std::uint64_t memtable_keys) const {
  const LayersShape& facts = layers.shape();
  if (facts.base_keys == 0) return 0.0;
  double ahead = 1;
  if (const auto& sweep = layers.parts().sweep; sweep.has_value()) {
    CAMBIUM_TRY(const std::uint64_t done, layers.Rank(sweep->cursor));
    ahead -= static_cast<double>(done) / static_cast<double>(facts.base_keys);
  }
  auto keys = static_cast<double>(memtable_keys);
  const std::size_t first = facts.sweep_in_progress ? layers.first_swept()
                            : memtable_keys > 0     ? 0
                                                    : FirstToSweep(layers);
  for (std::size_t i = first; i < layers.runs().size(); ++i) {
    keys += static_cast<double>(layers.runs()[i]->info().root.entry_count);
  }
  const double pages = static_cast<double>(facts.base_live_bytes) / layers.parts().page_size;
  return ahead * PagesTouched(pages, keys) / pages;
}

IndexSegmentOptions BTreeIndex::SegmentsFor(const TreeLayers& layers, bool with_memtable,
                                            std::uint64_t step_bytes_max) const {
  const LayersShape& facts = layers.shape();
  const std::uint64_t bytes = facts.base_live_bytes + facts.run_file_bytes +
                              (with_memtable ? write_buffer_size_.load(std::memory_order_relaxed) : 0);
  IndexSegmentOptions segments = options_.segments;
  const std::uint64_t step_bytes = Policy(step_bytes_max).flush_pages_max * segments.page_size;
  const std::uint64_t least = std::max(kSegmentBytesLeast, kSegmentPagesLeast * segments.page_size);
  segments.segment_bytes_max =
      std::min(segments.segment_bytes_max, std::max({least, std::min(bytes / kSegmentsOfTree, step_bytes),
                                                     bytes / kSegmentsOfTreeMax}));
  return segments;
}

Result<std::set<std::uint64_t>> BTreeIndex::VictimsOf(const TreeLayers& layers, const IndexSegmentOptions& segments,
                                                      const CompactionInput& input,
                                                      std::uint64_t copy_bytes_max) const {
  CAMBIUM_TRY(const double share_to_be_replaced, ShareToBeReplaced(layers, input.memtable_keys));
  double saved_share = input.memtable == nullptr ? share_to_be_replaced : 0;
  const std::uint32_t page_size = layers.parts().page_size;
  std::vector<IndexSegmentUse> uses;
  std::uint64_t live_units = 0;
  for (const auto& [number, info] : layers.parts().segments) {
    uses.push_back({number, info.length / page_size, info.live_units});
    live_units += info.live_units;
  }
  EvacuationPolicy policy = options_.evacuation;
  // If the files must shrink sooner than the policy says, sweeps copy the live pages out of sparse segments now, even
  // if the rest of the sweep would soon replace most of them.
  if (input.file_percent_max < policy.file_percent_max) {
    policy.file_percent_max = input.file_percent_max;
    // Until the emptied segments are deleted, the pages that a step copies take their space twice, so they count as
    // growth too. But if growth were not bounded, one step in a small tree could copy nearly as many pages as may be
    // dead, and so make the next one necessary.
    const std::uint64_t dead_units_max = live_units * (input.file_percent_max - 100) / 100;
    policy.growth_units = std::min(2 * copy_bytes_max / page_size, dead_units_max / 4);
    const bool is_whole = layers.shape().base_live_bytes + layers.shape().run_file_bytes <= input.max_output_bytes;
    if (is_whole && !MutantIs(Mutant::kSmallTreesKeepDeadPages)) {
      policy.replaced_units = static_cast<std::uint64_t>(share_to_be_replaced * static_cast<double>(live_units));
    }
    saved_share = 0;
  }
  policy.only_what_fits = input.bounds.has_value() && input.bounds->is_hard;
  policy.small_units = segments.segment_bytes_max / page_size / 16;
  return PickVictims(uses, policy, copy_bytes_max / page_size, saved_share);
}

std::uint64_t BTreeIndex::DeadBytesOf(const TreeLayers& layers, const std::set<std::uint64_t>& segments) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t number : segments) {
    const IndexSegmentInfo& info = layers.parts().segments.find(number)->second;
    assert(info.length >= info.live_units * layers.parts().page_size);
    bytes += info.length - info.live_units * layers.parts().page_size;
  }
  return bytes;
}

// The runs of a sweep take their space until its end, and entries that replace none take it once more in the tree. So
// in a bounded room a sweep begins with the oldest runs that have room for that, and leaves the others to the next one.
std::size_t BTreeIndex::FirstToSweep(const TreeLayers& layers) const {
  if (MutantIs(Mutant::kSweepsTakeAllRuns)) return 0;
  const double room = kSweptPartOfRoom * static_cast<double>(room_.load(std::memory_order_relaxed));
  const double most = std::max(room, static_cast<double>(kRunBytesLeast));
  std::size_t first = layers.runs().size();
  double added = 0;
  while (first > 0) {
    const Run& run = *layers.runs()[first - 1];
    added += static_cast<double>(run.info().disk_bytes()) * (1 - run.ReplacedShare(0));
    if (first < layers.runs().size() && added > most) break;
    --first;
  }
  return first;
}

// Chooses what to merge: the memtable, if there is one, and S below it. S is the set that the sweep in progress began
// with, or the oldest runs. S must never leave out an older run: its entries would hide newer ones that the sweep has
// put into the tree. Below a memtable, S has all runs. Returns the numbers of S, newest first.
std::vector<std::uint64_t> BTreeIndex::ChooseLayers(const TreeLayers& layers, bool resumes, const CompactionInput& input,
                                                    SweepInput* sweep) {
  if (input.memtable != nullptr) {
    sweep->layers.emplace_back(input.memtable);
    sweep->layers.back().name = "memtable";
    sweep->layers.back().ranges = input.memtable_ranges;
    sweep->newest_is_memtable = true;
  }
  const std::size_t first = resumes ? layers.first_swept() : input.memtable != nullptr ? 0 : FirstToSweep(layers);
  const std::size_t end = EndOfSwept(layers.runs().size(), resumes);
  std::vector<MergeChild> runs = layers.RunCursors(first);
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = first; i < end; ++i) {
    numbers.push_back(layers.runs()[i]->number());
    if (!resumes) runs[i - first].first_visible.reset();
    runs[i - first].was_filtered = input.filtered != nullptr && input.filtered->HasFile(numbers.back());
    sweep->layers.push_back(std::move(runs[i - first]));
  }
  if (resumes) sweep->cursor = layers.parts().sweep->cursor;
  return numbers;
}

// Returns the segment that may be continued, unless the layers no longer have it or it is a victim. Clears
// open_segment_: if the sweep fails, nothing is appended to the segment again.
OpenIndexSegment BTreeIndex::TakeOpenSegment(const TreeLayers& layers, const std::set<std::uint64_t>& victims) {
  OpenIndexSegment open = std::exchange(open_segment_, {});
  if (open.file == nullptr) return {};
  const std::uint64_t number = open.file->number();
  return layers.parts().segments.contains(number) && !victims.contains(number) ? open : OpenIndexSegment{};
}

Result<std::unique_ptr<CompactionOutcome>> BTreeIndex::Compact(const CompactionInput& input) {
  const TreeLayers& layers = AsTree(*input.layers);
  if (input.request != nullptr && !HasRunFor(layers, *input.request)) return Walk(input);
  const bool resumes = layers.parts().sweep.has_value() && !MutantIs(Mutant::kForgetSweepCursor);
  if (resumes && input.memtable != nullptr) {
    return Status::InvalidArgument("a memtable cannot be merged below runs that were added since a sweep began");
  }
  auto outcome = std::make_unique<SweepOutcome>(this, input.layers);
  outcome->has_memtable_ = input.memtable != nullptr;

  SweepInput sweep;
  sweep.comparator = options_.comparator;
  sweep.pool = options_.pool;
  sweep.pages = Pages();
  sweep.root = layers.parts().root;
  sweep.files = layers.parts().files;
  outcome->swept_ = ChooseLayers(layers, resumes, input, &sweep);
  IndexSegmentOptions segments = SegmentsFor(layers, input.memtable != nullptr, input.max_output_bytes);
  segments.before_write = input.before_write;
  if (input.memtable == nullptr) {
    sweep.filter = input.filter;
    sweep.filtered = input.filtered;
    if (input.filter != nullptr) CAMBIUM_RETURN_IF_ERROR(input.filter->Begin(1, false));
    sweep.max_output_bytes = input.max_output_bytes;
    // Only in a mutant: a sweep that forgets its cursor starts over at each step, so that only an unlimited step
    // finishes it.
    if (layers.parts().sweep.has_value() && !resumes) sweep.max_output_bytes = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t copy_bytes_max = input.bounds.has_value() ? input.bounds->copy_bytes_max : input.max_output_bytes / 2;
    CAMBIUM_TRY(sweep.victims, VictimsOf(layers, segments, input, copy_bytes_max));
    if (input.bounds.has_value()) {
      // If steps wrote more than the copies free, the dead pages in all other files would grow until nothing is free.
      // On a full disk a step may write as many bytes as the emptied files have dead; otherwise half as many, so that
      // the files shrink.
      const std::uint64_t dead = DeadBytesOf(layers, sweep.victims);
      const std::uint64_t most = std::max((input.bounds->is_hard ? dead : dead / 2) + input.bounds->growth_bytes_max,
                                          kLeastStepPages * segments.page_size);
      if (input.bounds->is_hard) {
        sweep.max_output_bytes = std::min(sweep.max_output_bytes, most);
      } else {
        sweep.max_merged_bytes = most;
      }
    }
  } else {
    // Pages that the merge replaces anyway need no copy.
    const std::uint64_t flush_bytes_max = Policy(input.max_output_bytes).flush_pages_max * segments.page_size;
    const std::uint64_t copy_bytes_max = std::min(segments.segment_bytes_max, flush_bytes_max / 2);
    CAMBIUM_TRY(sweep.victims, VictimsOf(layers, segments, input, copy_bytes_max));
  }
  return RunSweep(std::move(sweep), segments, std::move(outcome), input.syncs);
}

Result<std::unique_ptr<CompactionOutcome>> BTreeIndex::Walk(const CompactionInput& input) {
  const TreeLayers& layers = AsTree(*input.layers);
  CompactionRequest* const request = input.request;
  auto outcome = std::make_unique<SweepOutcome>(this, input.layers);
  outcome->is_walk_ = true;
  SweepInput sweep;
  sweep.comparator = options_.comparator;
  sweep.pool = options_.pool;
  sweep.pages = Pages();
  sweep.root = layers.parts().root;
  sweep.files = layers.parts().files;
  sweep.max_output_bytes = input.max_output_bytes;
  sweep.filter = input.filter;
  sweep.filtered = input.filtered;
  if (input.filter != nullptr) {
    const bool is_full = !request->begin.has_value() && !request->end.has_value();
    CAMBIUM_RETURN_IF_ERROR(input.filter->Begin(1, is_full));
  }
  if (input.filter != nullptr || request->rewrites) {
    const std::optional<std::string>& begin = request->position.has_value() ? request->position : request->begin;
    sweep.walk = FilterWalk{begin, request->end, request->rewrites};
  }
  SweepOutcome* const walked = outcome.get();
  IndexSegmentOptions segments = SegmentsFor(layers, false, input.max_output_bytes);
  segments.before_write = input.before_write;
  CAMBIUM_TRY(std::unique_ptr<CompactionOutcome> made, RunSweep(std::move(sweep), segments, std::move(outcome), nullptr));
  request->is_picked = true;
  request->reach = walked->output_.walked_to;
  const bool is_complete = !request->reach.has_value();
  walked->walked_ = {request->begin, is_complete ? request->end : request->reach, is_complete, is_complete};
  return made;
}

Result<std::unique_ptr<CompactionOutcome>> BTreeIndex::RunSweep(SweepInput sweep, const IndexSegmentOptions& segments,
                                                                std::unique_ptr<SweepOutcome> outcome, FileSyncs* syncs) {
  const TreeLayers& layers = AsTree(*outcome->input_);
  IndexSegmentWriter writer(segments, options_.create_file, options_.pool, TakeOpenSegment(layers, sweep.victims));
  CAMBIUM_TRY(outcome->output_, Sweep(std::move(sweep), &writer));
  CAMBIUM_RETURN_IF_ERROR(syncs == nullptr ? writer.Sync() : writer.Finish(syncs));
  outcome->written_ = writer.segments();
  return std::unique_ptr<CompactionOutcome>(std::move(outcome));
}

}  // namespace cambium
