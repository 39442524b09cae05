#include "btree/sweep.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <utility>

#include "btree/tree_rebuilder.h"
#include "index/key_for_message.h"
#include "index/merge_cursor.h"
#include "index/page_format.h"
#include "index/tree_cursor.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Counts the bytes appended.
class CountingSink final : public PageSink {
 public:
  explicit CountingSink(PageSink* sink) : sink_(sink) {}
  Result<Place> Reserve(unsigned units) override { return sink_->Reserve(units); }
  Status Append(PagePointer page, Slice bytes) override {
    bytes_ += bytes.size();
    return sink_->Append(page, bytes);
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  PageSink* const sink_;
  std::uint64_t bytes_ = 0;
};

class Sweeper {
 public:
  Sweeper(SweepInput input, PageSink* sink)
      : in_(std::move(input)),
        order_(in_.comparator),
        sink_(sink),
        ranges_(RangesOf(in_)),
        layers_(in_.comparator, std::move(in_.layers), [this](std::size_t, Slice, const Entry& e) { Drop(e); },
                LayerMerge::Covered::kYield),
        tree_(&sink_, in_.comparator, in_.pages, [this](const ChildRef& leaf) { return HashKeysOf(leaf); }) {}

  Result<SweepOutput> Run() && {
    if (in_.cursor.empty()) {
      layers_.SeekToFirst();
    } else {
      layers_.Seek(in_.cursor);
    }
    if (in_.root.height > kMaxTreeHeight) {
      return Status::Corruption("tree of " + std::to_string(in_.root.height) + " levels");
    }
    if (in_.root.height > 0) {
      const ChildRef root{in_.root.page, in_.root.entry_count, in_.root.value_bytes};
      CAMBIUM_RETURN_IF_ERROR(Visit(root, in_.root.height - 1, nullptr, nullptr, nullptr));
    }
    CAMBIUM_RETURN_IF_ERROR(TakeBelow(nullptr));
    CAMBIUM_RETURN_IF_ERROR(layers_.status());
    CAMBIUM_TRY(out_.root, tree_.Finish());
    out_.stats.bytes_written = sink_.bytes();
    return std::move(out_);
  }

 private:
  // The ranges that this sweep cuts out of the tree, from its cursor on: earlier steps have cut the rest.
  static RangeDeletes RangesOf(const SweepInput& in) {
    std::vector<const RangeDeletes*> parts;
    for (const MergeChild& layer : in.layers) {
      if (layer.ranges != nullptr) parts.push_back(layer.ranges.get());
    }
    RangeDeletes all = RangeDeletes::Union(in.comparator, parts);
    if (in.cursor.empty() || MutantIs(Mutant::kRangesIgnoreSweepCursor)) return all;
    const Slice cursor(in.cursor);
    return all.Within(&cursor, nullptr);
  }

  // True if the layers have another key for this step, below `*upper` if given.
  [[nodiscard]] bool HasKeyBelow(const Slice* upper) const {
    return !out_.cursor.has_value() && layers_.Valid() &&
           (upper == nullptr || order_.Compare(layers_.key(), *upper) < 0);
  }

  // Processes a page of the old tree and everything below it, between the separators `*lower` and `*upper`; null at the
  // tree's edges. The layers' keys before `*lower` have been taken.
  Status Visit(const ChildRef& child, unsigned level, const Slice* lower, const Slice* upper,
               const std::shared_ptr<const LeafKeys>& keys) {
    if (in_.walk.has_value()) return VisitOnWalk(child, level, lower, upper, keys);
    if (lower != nullptr) EndAt(*lower);
    const bool has_key = HasKeyBelow(upper);
    CAMBIUM_RETURN_IF_ERROR(layers_.status());
    bool is_touched = has_key;
    if (!is_touched && !ranges_.empty() && ranges_.Overlaps(lower, upper)) {
      // At the ends of a range, and where an earlier sweep has cut, a leaf may have no covered key left.
      CAMBIUM_TRY(is_touched, level > 0 ? Result<bool>(true) : HasCoveredKey(child));
    }
    bool is_evacuated = false;
    if (!is_touched) {
      CAMBIUM_TRY(is_evacuated, HasVictim(child, level));
      if (!is_evacuated) {
        CAMBIUM_TRY(const bool can_graft, tree_.CanGraft(level));
        if (can_graft) return AtPage(child.page.id, tree_.Graft(child, level, lower, upper, keys));
      }
    }
    CAMBIUM_TRY(const PageRef page, GetTreePage(in_.files, in_.pool, child.page, level));
    const std::uint64_t page_bytes = page->bytes().size();
    out_.freed_units[FileNumberOf(child.page.id)] += UnitsOf(child.page.id);
    out_.stats.bytes_read += page_bytes;
    if (is_evacuated) out_.stats.bytes_evacuated += page_bytes;
    if (level > 0) return VisitChildren(*page, level, lower, upper);
    if (!has_key && is_touched && ranges_.CoversAllOf(lower, upper)) return CutLeaf(*page);
    return MergeLeaf(*page, upper);
  }

  // Visit for a walk: there are no layers, and the filter sees the values in the walk's range.
  Status VisitOnWalk(const ChildRef& child, unsigned level, const Slice* lower, const Slice* upper,
                     const std::shared_ptr<const LeafKeys>& keys) {
    if (lower != nullptr && has_walked_ && IsEnough() && IsOnWalk(lower, upper)) {
      // The step may only end where the page can be kept by address. A page that must be rewritten is filtered now: its
      // file will be new, so the next step would take it for a page that the filter has seen.
      CAMBIUM_TRY(const bool can_end, tree_.CanGraft(level));
      if (can_end) out_.walked_to = lower->ToString();
    }
    const bool is_new = level == 0 && in_.filtered != nullptr && in_.filtered->HasFile(FileNumberOf(child.page.id));
    bool is_walked = IsOnWalk(lower, upper) && !is_new;
    PageRef page;
    verdicts_.clear();
    if (is_walked && level == 0) {
      CAMBIUM_TRY(page, GetTreePage(in_.files, in_.pool, child.page, level));
      has_walked_ = true;
      if (in_.filter != nullptr) {
        CAMBIUM_TRY(is_walked, AskAboutLeaf(*page));
      }
      is_walked = is_walked || in_.walk->rewrites;
      if (!is_walked) skipped_bytes_ += page->bytes().size();
    }
    if (!is_walked) {
      CAMBIUM_TRY(const bool can_graft, tree_.CanGraft(level));
      if (can_graft) return AtPage(child.page.id, tree_.Graft(child, level, lower, upper, keys));
    }
    if (verdicts_.empty()) {
      CAMBIUM_TRY(page, GetTreePage(in_.files, in_.pool, child.page, level));
    }
    out_.freed_units[FileNumberOf(child.page.id)] += UnitsOf(child.page.id);
    out_.stats.bytes_read += page->bytes().size();
    return level > 0 ? VisitChildren(*page, level, lower, upper) : RewriteLeaf(*page);
  }

  // Whether a page between the two separators (null: none) may hold keys of the rest of the walk.
  [[nodiscard]] bool IsOnWalk(const Slice* lower, const Slice* upper) const {
    if (out_.walked_to.has_value()) return false;
    const FilterWalk& walk = *in_.walk;
    return (upper == nullptr || !walk.begin.has_value() || order_.Compare(*upper, *walk.begin) > 0) &&
           (lower == nullptr || !walk.end.has_value() || order_.Compare(*lower, *walk.end) <= 0);
  }

  // Asks the filter about all values of the leaf, before any entry is written, because most leaves do not change.
  // Returns true if the filter removes or changes one.
  Result<bool> AskAboutLeaf(const PageView& leaf) {
    const FilterWalk& walk = *in_.walk;
    bool is_changed = false;
    std::string scratch;
    inline_values_.clear();
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const Slice key = leaf.key(i, &scratch);
      FilterVerdict verdict;
      const bool is_in_range = (!walk.begin.has_value() || order_.Compare(key, *walk.begin) >= 0) &&
                               (!walk.end.has_value() || order_.Compare(key, *walk.end) <= 0);
      if (is_in_range) {
        CAMBIUM_TRY(verdict, in_.filter->Ask(key, leaf.entry(i)));
      }
      is_changed = is_changed || verdict.kind != FilterVerdict::Kind::kKeep;
      if (verdict.changed.kind == EntryKind::kInline) {
        inline_values_.push_back(verdict.changed.inline_value.ToString());
        verdict.changed = Entry::Inline(inline_values_.back(), verdict.changed.version());
      }
      verdicts_.push_back(verdict);
    }
    return is_changed;
  }

  // Adds the place of a page of the old tree to Corruption: its keys contradict what was added before.
  [[nodiscard]] Status AtPage(PageId page, const Status& s) const {
    const IndexFile* const file = s.IsCorruption() ? in_.files.Find(FileNumberOf(page)) : nullptr;
    return file == nullptr ? s : s.WithContext(PagePlaceName(file->path(), file->OffsetOf(page)));
  }

  // Rewrites the leaf, with the verdicts of the filter if the filter was asked.
  Status RewriteLeaf(const PageView& leaf) {
    assert(verdicts_.empty() || verdicts_.size() == leaf.count());
    std::string scratch;
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const FilterVerdict verdict = verdicts_.empty() ? FilterVerdict() : verdicts_[i];
      CAMBIUM_RETURN_IF_ERROR(AtPage(leaf.id(), Apply(verdict, leaf.key(i, &scratch), leaf.entry(i))));
    }
    return Status::OK();
  }

  // Adds a value to the new tree, unless the filter drops it.
  Status AddValue(Slice key, const Entry& entry, bool was_filtered) {
    if (in_.filter == nullptr) return tree_.Add(key, entry);
    if (was_filtered) return Apply(in_.filter->Pass(key, entry), key, entry);
    CAMBIUM_TRY(const FilterVerdict verdict, in_.filter->Ask(key, entry));
    return Apply(verdict, key, entry);
  }

  // A removed key needs no tombstone: the tree is the lowest layer.
  Status Apply(const FilterVerdict& verdict, Slice key, const Entry& entry) {
    if (verdict.kind == FilterVerdict::Kind::kKeep) return tree_.Add(key, entry);
    if (entry.HasAddress()) out_.stats.value_bytes_filtered += entry.address.size();
    if (!MutantIs(Mutant::kFilteredStaysCharged)) Drop(entry);
    if (verdict.kind == FilterVerdict::Kind::kRemove) {
      skipped_bytes_ += key.size() + kWordBytes;
      return Status::OK();
    }
    out_.accounts.Add(verdict.changed);
    return tree_.Add(key, verdict.changed);
  }

  // Reads the keys of a kept leaf for the filter of its new branch, if known hashes and filters do not suffice: the
  // option has changed, or too many keys below the branch are gone. If the leaf cannot be read, that is no error,
  // because the leaf is not rewritten.
  std::shared_ptr<const LeafKeys> HashKeysOf(const ChildRef& leaf) {
    const Result<PageRef> page = GetTreePage(in_.files, in_.pool, leaf.page, 0);
    if (!page.ok()) return nullptr;
    out_.stats.bytes_read += (*page)->bytes().size();
    auto keys = std::make_shared<LeafKeys>();
    std::string scratch;
    for (std::uint32_t i = 0; i < (*page)->count(); ++i) keys->hashes.push_back(FilterHash((*page)->key(i, &scratch)));
    return keys;
  }

  Result<bool> HasCoveredKey(const ChildRef& leaf) {
    CAMBIUM_TRY(const PageRef page, GetTreePage(in_.files, in_.pool, leaf.page, 0));
    std::string scratch;
    for (std::uint32_t i = 0; i < page->count(); ++i) {
      if (IsCovered(page->key(i, &scratch))) return true;
    }
    out_.stats.bytes_read += page->bytes().size();
    return false;
  }

  Status VisitChildren(const PageView& branch, unsigned level, const Slice* lower, const Slice* upper) {
    std::string left = lower == nullptr ? std::string() : lower->ToString();
    std::string right;
    std::shared_ptr<const LeafKeys> keys;
    if (branch.filter().count > 0 && in_.pages.filter_bits_per_key > 0) keys = LeafKeys::InFilter(branch.filter());
    for (std::uint32_t i = 0; i < branch.count(); ++i) {
      const bool is_last = i + 1 == branch.count();
      if (!is_last) {
        const Slice separator = branch.key(i, &right);
        if (separator.data() != right.data()) right.assign(separator.data(), separator.size());
      }
      const Slice left_slice(left);
      const Slice right_slice(right);
      CAMBIUM_RETURN_IF_ERROR(Visit(branch.child(i), level - 1, i == 0 ? lower : &left_slice,
                                    is_last ? upper : &right_slice, keys));
      left.swap(right);
    }
    return Status::OK();
  }

  Status MergeLeaf(const PageView& leaf, const Slice* upper) {
    std::string scratch;
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const Slice key = leaf.key(i, &scratch);
      CAMBIUM_RETURN_IF_ERROR(TakeBelow(&key));
      const Entry entry = leaf.entry(i);
      const bool is_replaced = HasKeyBelow(nullptr) && order_.Compare(layers_.key(), key) == 0;
      if (is_replaced || IsCovered(key)) {
        if (is_replaced) CAMBIUM_RETURN_IF_ERROR(CheckReplaces(key, entry));
        Drop(entry);
        if (!is_replaced) skipped_bytes_ += key.size() + kWordBytes;
      } else {
        const bool was_filtered = in_.filtered != nullptr && in_.filtered->HasInTree(FileNumberOf(leaf.id()), key);
        CAMBIUM_RETURN_IF_ERROR(AtPage(leaf.id(), AddValue(key, entry, was_filtered)));
      }
      if (is_replaced) CAMBIUM_RETURN_IF_ERROR(Take());
    }
    return TakeBelow(upper);
  }

  // Each reference is counted once, when its entry enters the layers. If the tree had an entry that the layers have
  // too, one of the two would be subtracted, and a value that the other one needs would count as dead.
  [[nodiscard]] Status CheckReplaces(Slice key, const Entry& entry) const {
    if (!RefersToSame(entry, layers_.entry())) return Status::OK();
    return Status::Corruption("the tree and the runs of a sweep both refer to one value, of the key " +
                              KeyForMessage(key));
  }

  // Leaves out a leaf whose keys are all covered; the layers have no keys to put in their place.
  Status CutLeaf(const PageView& leaf) {
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      if (!MutantIs(Mutant::kCutSubtreeStaysCharged)) Drop(leaf.entry(i));
    }
    skipped_bytes_ += leaf.bytes().size();
    return Status::OK();
  }

  // Most calls ask in key order, so the last answer usually holds for the next key.
  [[nodiscard]] bool IsCovered(Slice key) {
    if (ranges_.empty()) return false;
    if (!stretch_.has_value() || (stretch_->from.has_value() && order_.Compare(key, *stretch_->from) < 0) ||
        (stretch_->to.has_value() && order_.Compare(key, *stretch_->to) >= 0)) {
      stretch_ = ranges_.StretchOf(key);
    }
    return stretch_->covered;
  }

  Status TakeBelow(const Slice* upper) {
    while (HasKeyBelow(upper)) CAMBIUM_RETURN_IF_ERROR(Take());
    return layers_.status();
  }

  // Takes the layers' current key into the tree, unless a range of a newer layer covers it.
  Status Take() {
    const Entry entry = layers_.entry();
    if (layers_.is_covered()) {
      skipped_bytes_ += layers_.key().size() + kWordBytes;
    } else {
      if (in_.newest_is_memtable && layers_.source() == 0) out_.accounts.Add(entry);
      ++out_.stats.entries_merged;
      if (entry.kind == EntryKind::kTombstone) {
        ++out_.stats.entries_dropped;
      } else {
        CAMBIUM_RETURN_IF_ERROR(AddValue(layers_.key(), entry, layers_.was_filtered()));
      }
    }
    layers_.Next();  // drops the older layers' entries of the key
    if (IsEnough() && layers_.Valid() && !layers_.key().empty()) SetCursor(layers_.key());
    return layers_.status();
  }

  [[nodiscard]] bool IsEnough() const {
    const std::uint64_t of_filter = in_.filter == nullptr ? 0 : in_.filter->value_bytes();
    if (!in_.max_merged_bytes.has_value()) return sink_.bytes() + skipped_bytes_ + of_filter >= in_.max_output_bytes;
    const std::uint64_t merged = sink_.bytes() - std::min(sink_.bytes(), out_.stats.bytes_evacuated);
    return merged >= *in_.max_merged_bytes || merged + skipped_bytes_ + of_filter >= in_.max_output_bytes;
  }

  // Lets the step also end at a separator of the tree, if it has skipped pages and so has made progress. All keys of
  // the layers below `key` have been taken. If a later cursor was set already, the range deletes between the two keys
  // are left to the next step.
  //
  // Left of the cursor of the step before, pages are evacuated, and a filter may drop entries in them. The step cannot
  // end there: the layers' keys between the two cursors are in the tree, and would be merged, and counted, again.
  void EndAt(Slice key) {
    if (skipped_bytes_ == 0 || !IsEnough() || key.empty() || !IsBeyondLastCursor(key)) return;
    if (out_.cursor.has_value() && order_.Compare(key, *out_.cursor) >= 0) return;
    const bool has_more = ranges_.Overlaps(&key, nullptr) || (!out_.cursor.has_value() && layers_.Valid());
    if (has_more) SetCursor(key);
  }

  // True if a step that ends at this key makes progress.
  [[nodiscard]] bool IsBeyondLastCursor(Slice key) const {
    return in_.cursor.empty() || order_.Compare(key, in_.cursor) > 0 || MutantIs(Mutant::kStepEndsLeftOfItsCursor);
  }

  // From this key on, the step takes and cuts nothing. The empty key cannot be a cursor, because an empty cursor means
  // that no step has run.
  void SetCursor(Slice key) {
    assert(!key.empty());
    out_.cursor = key.ToString();
    ranges_ = ranges_.Within(nullptr, &key);
    stretch_.reset();
  }

  // Called when an entry leaves the layers: removes it from the accounts. An entry of the memtable is the newest, so it
  // never leaves.
  void Drop(const Entry& entry) {
    if (!MutantIs(Mutant::kForgetDroppedAccounts)) out_.accounts.Remove(entry);
    ++out_.stats.entries_dropped;
    out_.stats.value_bytes_dropped += ValueBytesOf(entry);
  }

  // True if the page or one below it is in a victim file. Reads branch pages only.
  Result<bool> HasVictim(const ChildRef& child, unsigned level) {
    if (in_.victims.empty()) return false;
    if (in_.victims.contains(FileNumberOf(child.page.id))) return true;
    if (level == 0) return false;
    CAMBIUM_TRY(const PageRef page, GetTreePage(in_.files, in_.pool, child.page, level));
    for (std::uint32_t i = 0; i < page->count(); ++i) {
      CAMBIUM_TRY(const bool has_victim, HasVictim(page->child(i), level - 1));
      if (has_victim) return true;
    }
    return false;
  }

  SweepInput in_;
  const KeyOrder order_;
  CountingSink sink_;
  RangeDeletes ranges_;  // of the layers, as far as this step applies them
  std::optional<RangeDeletes::Stretch> stretch_;  // around the last key that IsCovered looked up
  LayerMerge layers_;
  TreeRebuilder tree_;
  std::uint64_t skipped_bytes_ = 0;  // bytes read but not rewritten: cut, removed, or kept by a walk
  bool has_walked_ = false;        // the step has processed a leaf of the walk
  std::vector<FilterVerdict> verdicts_;     // one per entry of the current leaf; empty: the filter was not asked
  std::deque<std::string> inline_values_;   // the inline values that the verdicts refer to
  SweepOutput out_;
};

}  // namespace

Result<SweepOutput> Sweep(SweepInput input, PageSink* sink) { return Sweeper(std::move(input), sink).Run(); }

}  // namespace cambium
