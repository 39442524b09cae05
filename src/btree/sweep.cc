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
        layers_(in_.comparator, std::move(in_.layers), [this](std::size_t, Slice, const Entry& e) { Drop(e); }),
        tree_(&sink_, in_.comparator, in_.pages) {}

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
      CAMBIUM_RETURN_IF_ERROR(Visit(root, in_.root.height - 1, {}, nullptr));
    }
    CAMBIUM_RETURN_IF_ERROR(TakeBelow(nullptr));
    CAMBIUM_RETURN_IF_ERROR(layers_.status());
    CAMBIUM_TRY(out_.root, tree_.Finish());
    out_.stats.bytes_written = sink_.bytes();
    return std::move(out_);
  }

 private:
  // The layers have one more key for this step, and it is below `*upper`, if given.
  [[nodiscard]] bool HasKeyBelow(const Slice* upper) const {
    return !out_.cursor.has_value() && layers_.Valid() &&
           (upper == nullptr || order_.Compare(layers_.key(), *upper) < 0);
  }

  // One page of the old tree and what hangs from it. All keys of the layers below `lower` have been taken.
  Status Visit(const ChildRef& child, unsigned level, Slice lower, const Slice* upper) {
    const bool is_touched = HasKeyBelow(upper);
    CAMBIUM_RETURN_IF_ERROR(layers_.status());
    bool is_evacuated = false;
    if (!is_touched) {
      CAMBIUM_TRY(is_evacuated, HasVictim(child, level));
      if (!is_evacuated) {
        CAMBIUM_TRY(const bool can_graft, tree_.CanGraft(level));
        if (can_graft) return tree_.Graft(child, level, lower, upper);
      }
    }
    CAMBIUM_TRY(const PageRef page, GetTreePage(in_.files, in_.pool, child.page, level));
    const std::uint64_t page_bytes = page->bytes().size();
    out_.freed_units[FileNumberOf(child.page.id)] += UnitsOf(child.page.id);
    out_.stats.bytes_read += page_bytes;
    if (is_evacuated) out_.stats.bytes_evacuated += page_bytes;
    return level == 0 ? MergeLeaf(*page, upper) : VisitChildren(*page, level, lower, upper);
  }

  Status VisitChildren(const PageView& branch, unsigned level, Slice lower, const Slice* upper) {
    std::string left = lower.ToString();
    std::string right;
    for (std::uint32_t i = 0; i < branch.count(); ++i) {
      const bool is_last = i + 1 == branch.count();
      if (!is_last) {
        const Slice separator = branch.key(i, &right);
        if (separator.data() != right.data()) right.assign(separator.data(), separator.size());
      }
      const Slice right_slice(right);
      CAMBIUM_RETURN_IF_ERROR(Visit(branch.child(i), level - 1, left, is_last ? upper : &right_slice));
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
      if (HasKeyBelow(nullptr) && order_.Compare(layers_.key(), key) == 0) {
        if (MutantIs(Mutant::kReplayFlushed) && entry.address == layers_.entry().address) out_.accounts.Remove(entry);
        Drop(entry);
        CAMBIUM_RETURN_IF_ERROR(Take());
      } else {
        CAMBIUM_RETURN_IF_ERROR(tree_.Add(key, entry));
      }
    }
    return TakeBelow(upper);
  }

  Status TakeBelow(const Slice* upper) {
    while (HasKeyBelow(upper)) CAMBIUM_RETURN_IF_ERROR(Take());
    return layers_.status();
  }

  // The key that the layers stand on goes into the tree.
  Status Take() {
    const Entry entry = layers_.entry();
    if (in_.newest_is_memtable && layers_.source() == 0) out_.accounts.Add(entry);
    ++out_.stats.entries_merged;
    if (entry.kind == EntryKind::kTombstone) {
      ++out_.stats.entries_dropped;
    } else {
      CAMBIUM_RETURN_IF_ERROR(tree_.Add(layers_.key(), entry));
    }
    layers_.Next();  // drops what older layers say of the key
    // The empty key cannot be a cursor: there it means that nothing has arrived.
    if (sink_.bytes() >= in_.max_output_bytes && layers_.Valid() && !layers_.key().empty()) {
      out_.cursor = layers_.key().ToString();
    }
    return layers_.status();
  }

  // An entry that is in the accounts leaves the layers. A memtable's is never shadowed: it is the newest.
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
  LayerMerge layers_;
  TreeRebuilder tree_;
  SweepOutput out_;
};

}  // namespace

Result<SweepOutput> Sweep(SweepInput input, PageSink* sink) { return Sweeper(std::move(input), sink).Run(); }

}  // namespace cambium
