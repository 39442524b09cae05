#include "btree/sweep.h"

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
        CAMBIUM_RETURN_IF_ERROR(tree_.Add(key, entry));
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
        CAMBIUM_RETURN_IF_ERROR(tree_.Add(layers_.key(), entry));
      }
    }
    layers_.Next();  // drops what older layers say of the key
    if (IsEnough() && layers_.Valid() && !layers_.key().empty()) SetCursor(layers_.key());
    return layers_.status();
  }

  [[nodiscard]] bool IsEnough() const { return sink_.bytes() + left_behind_ >= in_.max_output_bytes; }

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
  std::uint64_t left_behind_ = 0;  // bytes that were read and not written again, because ranges cover them
  SweepOutput out_;
};

}  // namespace

Result<SweepOutput> Sweep(SweepInput input, PageSink* sink) { return Sweeper(std::move(input), sink).Run(); }

}  // namespace cambium
