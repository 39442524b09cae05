#include "btree/sweep.h"

#include <deque>
#include <utility>

#include "btree/tree_rebuilder.h"
#include "index/merge_cursor.h"
#include "index/page_format.h"
#include "index/tree_cursor.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Counts what passes.
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
  // What this sweep cuts out of the tree, from its cursor on: before that, earlier steps have.
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

  // The layers have one more key for this step, and it is below `*upper`, if given.
  [[nodiscard]] bool HasKeyBelow(const Slice* upper) const {
    return !out_.cursor.has_value() && layers_.Valid() &&
           (upper == nullptr || order_.Compare(layers_.key(), *upper) < 0);
  }

  // One page of the old tree and what hangs from it. All keys of the layers below `*lower` have been taken. No `lower`:
  // nothing is left of it.
  Status Visit(const ChildRef& child, unsigned level, const Slice* lower, const Slice* upper,
               const std::shared_ptr<const LeafKeys>& keys) {
    if (in_.walk.has_value()) return VisitOnWalk(child, level, lower, upper, keys);
    if (lower != nullptr) EndAt(*lower);
    const bool has_key = HasKeyBelow(upper);
    CAMBIUM_RETURN_IF_ERROR(layers_.status());
    bool is_touched = has_key;
    if (!is_touched && !ranges_.empty() && ranges_.Overlaps(lower, upper)) {
      // At the ends of a range, and where it has been before, there may be nothing to cut.
      CAMBIUM_TRY(is_touched, level > 0 ? Result<bool>(true) : HasCoveredKey(child));
    }
    bool is_evacuated = false;
    if (!is_touched) {
      CAMBIUM_TRY(is_evacuated, HasVictim(child, level));
      if (!is_evacuated) {
        CAMBIUM_TRY(const bool can_graft, tree_.CanGraft(level));
        if (can_graft) return tree_.Graft(child, level, lower == nullptr ? Slice() : *lower, upper, keys);
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

  // The same where there are no layers, and the filter shall see what lies in the stretch.
  Status VisitOnWalk(const ChildRef& child, unsigned level, const Slice* lower, const Slice* upper,
                     const std::shared_ptr<const LeafKeys>& keys) {
    if (lower != nullptr && has_walked_ && IsEnough() && IsOnWalk(lower, upper)) {
      // Only where the page can be taken over: what has to be written anew is asked about, since it will look as if it
      // was.
      CAMBIUM_TRY(const bool can_end, tree_.CanGraft(level));
      if (can_end) out_.walked_to = lower->ToString();
    }
    const bool is_new = level == 0 && FileNumberOf(child.page.id) >= in_.walk->first_new_file;
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
      if (!is_walked) left_behind_ += page->bytes().size();
    }
    if (!is_walked) {
      CAMBIUM_TRY(const bool can_graft, tree_.CanGraft(level));
      if (can_graft) return tree_.Graft(child, level, lower == nullptr ? Slice() : *lower, upper, keys);
    }
    if (verdicts_.empty()) {
      CAMBIUM_TRY(page, GetTreePage(in_.files, in_.pool, child.page, level));
    }
    out_.freed_units[FileNumberOf(child.page.id)] += UnitsOf(child.page.id);
    out_.stats.bytes_read += page->bytes().size();
    return level > 0 ? VisitChildren(*page, level, lower, upper) : RewriteLeaf(*page);
  }

  // Whether a page between these two, either of which may be null, may hold keys of the stretch that is left.
  [[nodiscard]] bool IsOnWalk(const Slice* lower, const Slice* upper) const {
    if (out_.walked_to.has_value()) return false;
    const FilterWalk& walk = *in_.walk;
    return (upper == nullptr || !walk.begin.has_value() || order_.Compare(*upper, *walk.begin) > 0) &&
           (lower == nullptr || !walk.end.has_value() || order_.Compare(*lower, *walk.end) <= 0);
  }

  // True if something of it goes or changes. All answers come before the first entry is written, because mostly the
  // leaf stays as it is.
  Result<bool> AskAboutLeaf(const PageView& leaf) {
    const FilterWalk& walk = *in_.walk;
    bool is_changed = false;
    std::string scratch;
    inline_values_.clear();
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const Slice key = leaf.key(i, &scratch);
      FilterVerdict verdict;
      const bool is_meant = (!walk.begin.has_value() || order_.Compare(key, *walk.begin) >= 0) &&
                            (!walk.end.has_value() || order_.Compare(key, *walk.end) <= 0);
      if (is_meant) {
        CAMBIUM_TRY(verdict, in_.filter->Ask(key, leaf.entry(i)));
      }
      is_changed = is_changed || verdict.kind != FilterVerdict::Kind::kKeep;
      if (verdict.changed.kind == EntryKind::kInline) {
        inline_values_.push_back(verdict.changed.inline_value.ToString());
        verdict.changed = Entry::Inline(inline_values_.back());
      }
      verdicts_.push_back(verdict);
    }
    return is_changed;
  }

  // By the answers, if it was asked about.
  Status RewriteLeaf(const PageView& leaf) {
    std::string scratch;
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const FilterVerdict verdict = verdicts_.empty() ? FilterVerdict() : verdicts_[i];
      CAMBIUM_RETURN_IF_ERROR(Carry(leaf.key(i, &scratch), leaf.entry(i), verdict));
    }
    return Status::OK();
  }

  // A value goes into the new tree, if the filter does not mind.
  Status AddValue(Slice key, const Entry& entry) {
    if (in_.filter == nullptr) return tree_.Add(key, entry);
    CAMBIUM_TRY(const FilterVerdict verdict, in_.filter->Ask(key, entry));
    return Carry(key, entry, verdict);
  }

  // The tree is the lowest layer, so nothing has to tell that a key was removed.
  Status Carry(Slice key, const Entry& entry, const FilterVerdict& verdict) {
    if (verdict.kind == FilterVerdict::Kind::kKeep) return tree_.Add(key, entry);
    if (entry.HasAddress()) out_.stats.value_bytes_filtered += entry.address.size();
    if (!MutantIs(Mutant::kFilterUncharged)) Drop(entry);
    if (verdict.kind == FilterVerdict::Kind::kRemove) {
      left_behind_ += key.size() + kWordBytes;
      return Status::OK();
    }
    out_.accounts.Add(verdict.changed);
    return tree_.Add(key, verdict.changed);
  }

  // For a filter that cannot be made of what is known: the option changed, or too much has gone from below it. A leaf
  // that cannot be read is no reason to fail, as it is only taken over.
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
        const bool is_same = is_replaced && entry.HasAddress() && entry.address == layers_.entry().address;
        if (is_same && MutantIs(Mutant::kReplayFlushed)) out_.accounts.Remove(entry);
        Drop(entry);
        if (!is_replaced) left_behind_ += key.size() + kWordBytes;
      } else {
        CAMBIUM_RETURN_IF_ERROR(AddValue(key, entry));
      }
      if (is_replaced) CAMBIUM_RETURN_IF_ERROR(Take());
    }
    return TakeBelow(upper);
  }

  // All of its keys are covered, and the layers have none to put in their place.
  Status CutLeaf(const PageView& leaf) {
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      if (!MutantIs(Mutant::kCutSubtreeUncharged)) Drop(leaf.entry(i));
    }
    left_behind_ += leaf.bytes().size();
    return Status::OK();
  }

  // Keys mostly come in order, so the last answer holds for a while.
  [[nodiscard]] bool IsCovered(Slice key) {
    if (ranges_.empty()) return false;
    if (!stretch_.has_value() || (stretch_->from != nullptr && order_.Compare(key, *stretch_->from) < 0) ||
        (stretch_->to != nullptr && order_.Compare(key, *stretch_->to) >= 0)) {
      stretch_ = ranges_.StretchOf(key);
    }
    return stretch_->covered;
  }

  Status TakeBelow(const Slice* upper) {
    while (HasKeyBelow(upper)) CAMBIUM_RETURN_IF_ERROR(Take());
    return layers_.status();
  }

  // The key that the layers stand on goes into the tree, unless a range of a newer layer covers it.
  Status Take() {
    const Entry entry = layers_.entry();
    if (layers_.is_covered()) {
      left_behind_ += layers_.key().size() + kWordBytes;
    } else {
      if (in_.newest_is_memtable && layers_.source() == 0) out_.accounts.Add(entry);
      ++out_.stats.entries_merged;
      if (entry.kind == EntryKind::kTombstone) {
        ++out_.stats.entries_dropped;
      } else {
        CAMBIUM_RETURN_IF_ERROR(AddValue(layers_.key(), entry));
      }
    }
    layers_.Next();  // drops what older layers say of the key
    if (IsEnough() && layers_.Valid() && !layers_.key().empty()) SetCursor(layers_.key());
    return layers_.status();
  }

  [[nodiscard]] bool IsEnough() const {
    const std::uint64_t of_filter = in_.filter == nullptr ? 0 : in_.filter->value_bytes();
    return sink_.bytes() + left_behind_ + of_filter >= in_.max_output_bytes;
  }

  // The step may end at a page of the tree too, once it has left pages behind, so that it has come further than to where
  // it began. All keys of the layers below `key` have been taken. If it was to end at a later key anyway, then what
  // ranges cover before that one is for the next step.
  void EndAt(Slice key) {
    if (left_behind_ == 0 || !IsEnough() || key.empty()) return;
    if (out_.cursor.has_value() && order_.Compare(key, *out_.cursor) >= 0) return;
    const bool has_more = ranges_.Overlaps(&key, nullptr) || (!out_.cursor.has_value() && layers_.Valid());
    if (has_more) SetCursor(key);
  }

  // From here on nothing is taken, nothing cut: that is for the next step. The empty key cannot be a cursor: there it
  // means that nothing has arrived.
  void SetCursor(Slice key) {
    out_.cursor = key.ToString();
    ranges_ = ranges_.Within(nullptr, &key);
    stretch_.reset();
  }

  // An entry that is in the accounts leaves the layers. A memtable's is neither shadowed nor covered: it is the newest.
  void Drop(const Entry& entry) {
    if (!MutantIs(Mutant::kForgetDroppedAccounts)) out_.accounts.Remove(entry);
    ++out_.stats.entries_dropped;
    out_.stats.value_bytes_dropped += ValueBytesOf(entry);
  }

  // True if the page, or one below it, lies in a file that is to be emptied. Looks at branch pages only.
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
  RangeDeletes ranges_;  // of the layers, as far as this step carries them out
  std::optional<RangeDeletes::Stretch> stretch_;  // around the key that was looked at last
  LayerMerge layers_;
  TreeRebuilder tree_;
  std::uint64_t left_behind_ = 0;  // bytes that were read and not written again, because ranges cover them or they stay
  bool has_walked_ = false;        // a leaf was asked about
  std::vector<FilterVerdict> verdicts_;     // about the entries of the leaf at hand; empty: nobody asked
  std::deque<std::string> inline_values_;   // that they speak of
  SweepOutput out_;
};

}  // namespace

Result<SweepOutput> Sweep(SweepInput input, PageSink* sink) { return Sweeper(std::move(input), sink).Run(); }

}  // namespace cambium
