#include "lsm_fallback/level_compaction.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include "index/merge_cursor.h"
#include "index/tree_cursor.h"
#include "lsm_fallback/older_files.h"
#include "lsm_fallback/run_writer.h"
#include "lsm_fallback/tier_cursor.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// The pages that the cursors of one compaction pin: a path for each of them, mostly unchanged from one key to the next.
constexpr std::size_t kReadPoolBytes = 256 * 1024;

// Entries between two polls of is_abandoned: less than a millisecond, unless pages are read from a disk.
constexpr std::uint64_t kEntriesBetweenLooks = 1024;

class LevelCompactor {
 public:
  explicit LevelCompactor(const LevelCompactionInput& input)
      : in_(input), choice_(*input.choice), parts_(input.layers->parts()), order_(parts_.comparator),
        pool_(kReadPoolBytes) {
    inputs_.insert(choice_.inputs.begin(), choice_.inputs.end());
    inputs_.insert(choice_.overlapped.begin(), choice_.overlapped.end());
  }

  Result<LevelCompactionOutput> Run() && {
    std::vector<MergeChild> children = TakeInputs();
    if (taken_ != inputs_.size()) return Status::Aborted("an input of the compaction is not in the layers");
    CAMBIUM_RETURN_IF_ERROR(Merge(std::move(children)));
    CAMBIUM_RETURN_IF_ERROR(WriteRests());
    return std::move(out_);
  }

 private:
  // A cursor with the compaction's own page pool, so that it does not evict pages that readers use from the shared
  // pool.
  std::unique_ptr<EntryCursor> NewCursor(const cambium::Run& run) {
    const IndexFile& file = *run.files().Find(run.number());
    FileSet files(std::make_shared<const IndexFile>(file.shared_file(), file.header(), &pool_));
    return std::make_unique<TreeCursor>(run.info().root, std::move(files), &pool_, parts_.comparator);
  }

  void Count(const cambium::Run& run) {
    ++taken_;
    assert(taken_ <= inputs_.size() && "no run is in the layers twice");
    out_.stats.bytes_read += run.info().file_size;
  }

  // The order is that of the layers, newest first; the order in the choice does not matter.
  std::vector<MergeChild> TakeInputs() {
    std::vector<MergeChild> children;
    for (const auto& run : parts_.runs) {
      if (!inputs_.contains(run->number())) continue;
      Count(*run);
      children.emplace_back(NewCursor(*run));
      children.back().name = FileName(FileKind::kRun, run->number());
      children.back().ranges = run->ranges();
      children.back().was_filtered = WasFiltered(*run);
    }
    for (const auto& tier : parts_.tiers) {
      // The files of a tier share no key, so the order of the two children does not matter.
      for (const bool was_filtered : {false, true}) TakeInputsOf(*tier, was_filtered, &children);
    }
    return children;
  }

  void TakeInputsOf(const Tier& tier, bool was_filtered, std::vector<MergeChild>* children) {
    auto runs = std::make_shared<RunList>();
    for (const auto& run : tier.runs()) {
      if (!inputs_.contains(run->number()) || WasFiltered(*run) != was_filtered) continue;
      Count(*run);
      runs->push_back(run);
    }
    if (runs->empty()) return;
    const std::shared_ptr<const RangeDeletes> ranges = cambium::RangesOf(parts_.comparator, *runs);
    children->emplace_back(std::make_unique<TierCursor>(parts_.comparator, std::move(runs),
                                                        [this](const cambium::Run& run) { return NewCursor(run); }));
    children->back().name = "level " + std::to_string(tier.level());
    children->back().ranges = ranges;
    children->back().was_filtered = was_filtered;
  }

  [[nodiscard]] bool WasFiltered(const cambium::Run& run) const {
    return in_.filtered != nullptr && in_.filtered->HasFile(run.number());
  }

  [[nodiscard]] RunWriterOptions WriterOptions() const {
    RunWriterOptions options(parts_.comparator);
    options.pool = parts_.pool;
    options.run = in_.run;
    options.run.kind = RunKind::kCompaction;
    options.create_file = in_.create_file;
    options.syncs = in_.syncs;
    options.target_bytes = in_.target_bytes;
    options.grandparent_bytes_max = std::numeric_limits<std::uint64_t>::max();
    return options;
  }

  // The keys in [begin, end) go to one place; null: no bound.
  struct Stretch {
    const std::string* begin = nullptr;
    const std::string* end = nullptr;
    bool is_through = false;
  };
  [[nodiscard]] std::vector<Stretch> Stretches() const {
    const std::string* const begin = choice_.begin.has_value() ? &*choice_.begin : nullptr;
    const std::string* const end = choice_.end.has_value() ? &*choice_.end : nullptr;
    if (!choice_.through.has_value()) return {{begin, end, false}};
    const std::string* const from = choice_.through->begin.has_value() ? &*choice_.through->begin : nullptr;
    const std::string* const to = choice_.through->end.has_value() ? &*choice_.through->end : nullptr;
    std::vector<Stretch> all;
    if (from != nullptr) all.push_back({begin, from, false});
    all.push_back({from == nullptr ? begin : from, to == nullptr ? end : to, true});
    if (to != nullptr) all.push_back({to, end, false});
    return all;
  }

  Status Merge(std::vector<MergeChild> children) {
    const RangeDeletes ranges = RangesOf(children);
    OlderFiles older(*in_.layers, choice_.level, inputs_);
    // kYield stops at covered keys too, so that keys beyond the end of the slice are not dropped.
    LayerMerge merge(
        parts_.comparator, std::move(children), [this](std::size_t, Slice, const Entry& e) { Drop(e); },
        LayerMerge::Covered::kYield);
    if (choice_.begin.has_value()) {
      merge.Seek(*choice_.begin);
    } else {
      merge.SeekToFirst();
    }
    for (const Stretch& stretch : Stretches()) CAMBIUM_RETURN_IF_ERROR(MergeStretch(stretch, ranges, &older, &merge));
    return Status::OK();
  }

  Status MergeStretch(const Stretch& stretch, const RangeDeletes& ranges, OlderFiles* older, LayerMerge* merge) {
    RunWriterOptions options = WriterOptions();
    options.target_bytes = stretch.is_through ? in_.target_bytes_through : in_.target_bytes;
    options.grandparents = stretch.is_through ? in_.grandparents_through : in_.grandparents;
    options.grandparent_bytes_max =
        stretch.is_through ? in_.grandparent_bytes_max_through : in_.grandparent_bytes_max;
    const bool cuts_ranges = !MutantIs(Mutant::kRangesHidePassedKeys);
    options.ranges = older->Needed(cuts_ranges ? Within(ranges, stretch.begin, stretch.end) : ranges);
    RunWriter writer(options);
    for (; merge->Valid() && (stretch.end == nullptr || order_.Compare(merge->key(), *stretch.end) < 0); merge->Next()) {
      if (merge->is_covered()) continue;  // Next() drops it
      const Entry entry = merge->entry();
      if (++out_.stats.entries_merged % kEntriesBetweenLooks == 0 && in_.is_abandoned && in_.is_abandoned()) {
        return Status::ShutdownInProgress("the compaction was abandoned");
      }
      if (entry.kind == EntryKind::kTombstone && !older->MayHold(merge->key())) {
        ++out_.stats.entries_dropped;
        continue;
      }
      if (entry.kind == EntryKind::kTombstone || in_.filter == nullptr) {
        CAMBIUM_RETURN_IF_ERROR(writer.Add(merge->key(), entry));
      } else {
        CAMBIUM_RETURN_IF_ERROR(AddValue(*merge, entry, older, &writer));
      }
    }
    CAMBIUM_RETURN_IF_ERROR(merge->status());
    CAMBIUM_TRY(RunList runs, writer.Finish());
    out_.stats.bytes_written += writer.bytes_written();
    for (auto& run : runs) {
      if (stretch.is_through) {
        out_.others.push_back({std::move(run), choice_.output_level + 1, choice_.through->tier, true});
      } else {
        out_.runs.push_back(std::move(run));
      }
    }
    return Status::OK();
  }

  Status AddValue(const LayerMerge& merge, const Entry& entry, OlderFiles* older, RunWriter* writer) {
    const Slice key = merge.key();
    FilterVerdict verdict;
    if (merge.was_filtered()) {
      verdict = in_.filter->Pass(key, entry);
    } else {
      CAMBIUM_TRY(verdict, in_.filter->Ask(key, entry));
    }
    if (verdict.kind == FilterVerdict::Kind::kKeep) return writer->Add(key, entry);
    if (entry.HasAddress()) out_.stats.value_bytes_filtered += entry.address.size();
    if (!MutantIs(Mutant::kFilteredStaysCharged)) Drop(entry);
    if (verdict.kind == FilterVerdict::Kind::kChange) {
      out_.accounts.Add(verdict.changed);
      return writer->Add(key, verdict.changed);
    }
    const bool is_needed = older->MayHold(key) && !MutantIs(Mutant::kFilterWithoutTombstones);
    return is_needed ? writer->Add(key, Entry::Tombstone()) : Status::OK();
  }

  [[nodiscard]] RangeDeletes RangesOf(const std::vector<MergeChild>& children) const {
    std::vector<const RangeDeletes*> parts;
    for (const MergeChild& child : children) {
      if (child.ranges != nullptr) parts.push_back(child.ranges.get());
    }
    return RangeDeletes::Union(parts_.comparator, parts);
  }

  static RangeDeletes Within(const RangeDeletes& ranges, const std::string* begin, const std::string* end) {
    const Slice from = begin == nullptr ? Slice() : Slice(*begin);
    const Slice to = end == nullptr ? Slice() : Slice(*end);
    return ranges.Within(begin == nullptr ? nullptr : &from, end == nullptr ? nullptr : &to);
  }

  // Removes from the accounts an entry that leaves the layers.
  void Drop(const Entry& entry) {
    if (!MutantIs(Mutant::kForgetDroppedAccounts)) out_.accounts.Remove(entry);
    ++out_.stats.entries_dropped;
    out_.stats.value_bytes_dropped += ValueBytesOf(entry);
  }

  // Only files of the input level can cross the slice's borders; those of the output tier never do.
  Status WriteRests() {
    if (!choice_.begin.has_value() && !choice_.end.has_value()) return Status::OK();
    for (const auto& tier : parts_.tiers) {
      if (tier->level() != choice_.level) continue;
      for (const auto& run : tier->runs()) {
        if (!inputs_.contains(run->number())) continue;
        if (choice_.begin.has_value() && order_.Compare(run->info().smallest_key, *choice_.begin) < 0) {
          CAMBIUM_RETURN_IF_ERROR(WriteRest(*tier, *run, nullptr, &*choice_.begin));
        }
        if (choice_.end.has_value() && !EndsBefore(order_, KeySpan::Of(run->info()), *choice_.end)) {
          CAMBIUM_RETURN_IF_ERROR(WriteRest(*tier, *run, &*choice_.end, nullptr));
        }
      }
    }
    return Status::OK();
  }

  // Rewrites the run's keys and ranges in [begin, end) into its own tier; null: no bound.
  Status WriteRest(const Tier& tier, const cambium::Run& run, const std::string* begin, const std::string* end) {
    RunWriterOptions options = WriterOptions();
    if (run.ranges() != nullptr) options.ranges = Within(*run.ranges(), begin, end);
    RunWriter writer(options);
    const std::unique_ptr<EntryCursor> cursor = NewCursor(run);
    begin == nullptr ? cursor->SeekToFirst() : cursor->Seek(*begin);
    for (; cursor->Valid() && (end == nullptr || order_.Compare(cursor->key(), *end) < 0); cursor->Next()) {
      CAMBIUM_RETURN_IF_ERROR(writer.Add(cursor->key(), cursor->entry()));
    }
    CAMBIUM_RETURN_IF_ERROR(cursor->status());
    CAMBIUM_TRY(const RunList runs, writer.Finish());
    out_.stats.bytes_written += writer.bytes_written();
    for (const auto& rest : runs) out_.others.push_back({rest, tier.level(), tier.number(), WasFiltered(run)});
    return Status::OK();
  }

  const LevelCompactionInput& in_;
  const CompactionChoice& choice_;
  const LsmLayers::Parts& parts_;
  const KeyOrder order_;
  PagePool pool_;  // outlives every cursor
  std::set<std::uint64_t> inputs_;  // including overlapped files
  std::size_t taken_ = 0;
  LevelCompactionOutput out_;
};

}  // namespace

Result<LevelCompactionOutput> CompactLevel(const LevelCompactionInput& input) { return LevelCompactor(input).Run(); }

}  // namespace cambium
