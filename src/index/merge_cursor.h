// Several layers in key order as if they were one: MergeCursor reads them, LayerMerge makes a new layer of them.
//
//   newest   memtable    . b . d .        A key of several layers is yielded once, from the newest layer that has it.
//            run 12      a b . . .        Tombstones are yielded too: only the caller knows whether an older layer lies
//            run 9       a [---) d .      below. Range deletes hide what older layers have: c is not yielded.
//   oldest   tree        a . c d e
//
// The children with a current entry are kept in the order of their keys; among equal keys the newest is first. Usually
// one child is far larger than the others, so after most steps one comparison with the next child shows that the order
// still holds. If not, a binary search finds the child's new place. With a dozen children, a loser tree would save no
// comparisons.
//
// If a child's key is covered by a range delete of a newer child, the child is moved out of the range: first by a few
// steps, then by a seek. So a range over a million keys costs a reader as much as one over ten.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cambium/comparator.h"
#include "index/page_format.h"
#include "memtable/entry_cursor.h"
#include "memtable/range_deletes.h"

namespace cambium {

// One layer of a merge.
struct MergeChild {
  // The cursor is either owned, or lent: then it must outlive the merge, and nothing else may move it.
  explicit MergeChild(std::unique_ptr<EntryCursor> its_cursor) : owned(std::move(its_cursor)), cursor(owned.get()) {}
  explicit MergeChild(EntryCursor* lent) : cursor(lent) {}

  std::unique_ptr<EntryCursor> owned;
  EntryCursor* cursor;
  // For error messages: a file name, or another description of the layer.
  std::string name;
  // Keys below this are hidden, as if the layer did not have them: a sweep in progress has already merged them into the
  // tree, where they may have changed since. The same holds for the part of the layer's ranges below this key.
  std::optional<std::string> first_visible = std::nullopt;
  // The layer's range deletes: they hide entries of older children. Null: none. They do not affect the entries of
  // `cursor` itself.
  std::shared_ptr<const RangeDeletes> ranges = nullptr;
  // The same for a reader, in place of `ranges`: the cover of a memtable, which need not be copied. A merge that makes a
  // new layer needs `ranges`.
  std::shared_ptr<const RangeCover> cover = nullptr;
  [[nodiscard]] const RangeCover* Cover() const { return cover != nullptr ? cover.get() : ranges.get(); }
  // A compaction filter was asked about all values of the layer (see filtered_part.h).
  bool was_filtered = false;
};

// Reports an entry that a newer layer hides, by the same key or by a range delete: the index of its child, its key, and
// the entry that is dropped.
using OnShadowed = std::function<void(std::size_t child, Slice key, const Entry& entry)>;

// If a child fails, the merge fails with its error. If a child yields a key that is not strictly beyond its previous
// key, or that is on the wrong side of a seek target, the merge fails with Corruption: merging keys that are out of
// order would lose keys. One thread.
class MergeCursor final : public EntryCursor {
 public:
  // Newest child first.
  MergeCursor(const Comparator* comparator, std::vector<MergeChild> children);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice target) override;
  void SeekForPrev(Slice target) override;
  void Next() override;
  void Prev() override;

  [[nodiscard]] bool Valid() const override { return !order_.empty(); }
  [[nodiscard]] Slice key() const override { return children_[order_[0]].key; }
  [[nodiscard]] Entry entry() const override { return children_[order_[0]].its.cursor->entry(); }
  [[nodiscard]] EntryKind kind() const override { return children_[order_[0]].its.cursor->kind(); }
  [[nodiscard]] Status status() const override { return status_; }
  // Peeks only into the child that the current entry is from: if one child has most of the keys, it also has most of
  // the next entries.
  std::size_t PeekAhead(bool forward, std::span<Entry> out) const override {
    return children_[order_[0]].its.cursor->PeekAhead(forward, out);
  }
  // The index of the child that the entry is from. Requires Valid().
  [[nodiscard]] std::size_t source() const { return order_[0]; }

 private:
  friend class LayerMerge;

  // An interval of keys, possibly unbounded on either side. The ranges of newer children cover all of its keys or none.
  using Stretch = RangeDeletes::Stretch;

  struct Child {
    MergeChild its;
    bool checks_order;  // the cursor itself reports steps that do not ascend
    Slice key;         // its current key, if it is in order_
    std::string last;  // its key before the last step; a member to reuse the memory
    std::optional<Stretch> uncovered;  // the uncovered stretch around its key, if known
  };

  void Begin(bool forward);
  void SeekAll(Slice target);
  void Enter(std::size_t index);
  void StepAt(std::size_t place);
  void StepOverCurrentKey();
  // Reports the entry of the child at order_[1], which the current entry hides. False after Fail.
  [[nodiscard]] bool ReportShadowed(const Child& older);
  void Turn();
  // These move one child in the direction of the merge. They return true if it then has an entry, false at its end and
  // after Fail.
  [[nodiscard]] bool Arrive(Child* child);
  [[nodiscard]] bool Depart(const Child& child);  // always false; copies the child's error
  [[nodiscard]] bool IsVisible(const Child& child) const;
  [[nodiscard]] bool SeekChild(Child* child, Slice target);
  [[nodiscard]] bool StepChild(Child* child);
  // These do the same, and then go on to the next entry that no range of a newer child covers. In a merge that reports
  // covered entries, these functions do not skip covered entries.
  [[nodiscard]] bool SeekShown(Child* child, Slice target);
  [[nodiscard]] bool StepShown(Child* child);
  [[nodiscard]] bool LeaveRanges(Child* child);
  [[nodiscard]] bool JumpOut(Child* child, const Stretch& covered);
  [[nodiscard]] bool IsCovered(Child* child);
  [[nodiscard]] Stretch StretchOf(const Child& child) const;

  [[nodiscard]] int CompareForward(Slice a, Slice b) const { return key_order_.Compare(a, b); }
  [[nodiscard]] int CompareAhead(Slice a, Slice b) const {
    return forward_ ? CompareForward(a, b) : CompareForward(b, a);
  }
  [[nodiscard]] bool IsBefore(std::size_t a, std::size_t b) const;
  void Fail(Status status);
  void FailOrder(const Child& child, const char* what, Slice other);

  const KeyOrder key_order_;
  std::vector<Child> children_;
  std::vector<std::size_t> with_ranges_;  // indices of children with range deletes, newest first
  std::vector<std::size_t> order_;  // indices of children with an entry, in key order; the first is current
  bool forward_ = true;
  bool is_alone_ = false;  // true: no other child has the current key; false: unknown
  std::string sought_;
  const OnShadowed* on_shadowed_ = nullptr;
  Status status_;
};

// A forward merge that makes a new layer of old ones. It reports every entry that the new layer drops, because the
// accounts count the entry's reference; so it also visits entries that range deletes cover. The new layer gets the
// range deletes of all children, as far as they are visible (see RangeDeletes::Union and Within), unless no layer is
// below it.
class LayerMerge {
 public:
  // What to do at a key if ranges of newer children cover all its entries.
  enum class Covered : bool {
    kSkip,   // report its entries and go on to the next key
    kYield,  // stop at it, with is_covered() true, for callers that must know how far the merge has come
  };
  // Next() calls `on_shadowed` when it leaves a key: for each older entry of the key, and also for the newest if a
  // range covers it. So a merge that stops at a key has reported all dropped entries of the keys before it and none of
  // this key. Entries below a child's first_visible are not reported: the merge that moved first_visible reported them.
  // If the merge fails, discard what it has reported.
  LayerMerge(const Comparator* comparator, std::vector<MergeChild> children, OnShadowed on_shadowed,
             Covered covered = Covered::kSkip);
  LayerMerge(const LayerMerge&) = delete;
  LayerMerge& operator=(const LayerMerge&) = delete;

  void SeekToFirst();
  void Seek(Slice target);
  void Next();

  [[nodiscard]] bool Valid() const { return cursor_.Valid(); }
  // With kYield: true if a range of a newer child covers this key, so that the new layer does not get it. entry() is
  // then only what on_shadowed will report.
  [[nodiscard]] bool is_covered() const { return is_covered_; }
  [[nodiscard]] Slice key() const { return cursor_.key(); }
  [[nodiscard]] Entry entry() const { return cursor_.entry(); }
  [[nodiscard]] std::size_t source() const { return cursor_.source(); }
  [[nodiscard]] bool was_filtered() const { return cursor_.children_[source()].its.was_filtered; }
  [[nodiscard]] Status status() const { return cursor_.status(); }

 private:
  // Sets is_covered_ for the entry at the cursor. Unless kYield, skips covered entries first.
  void SkipCovered();

  const OnShadowed on_shadowed_;
  const Covered covered_;
  MergeCursor cursor_;
  bool is_covered_ = false;
};

}  // namespace cambium
