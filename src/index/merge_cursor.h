// Several layers in key order as if they were one: MergeCursor to read them, LayerMerge to make a new layer of them.
//
//   newest   memtable    . b . d .        a key of several layers is yielded once, from the newest that has it;
//            run 12      a b . . .        tombstones are yielded too: hiding them is for whoever knows that nothing
//            run 9       a [---) d .      lies below; range deletes hide what older layers have, so that c is not yielded
//   oldest   tree        a . c d e
//
// The children that have an entry ahead are kept in order of their keys, the newest first among equals. Mostly one
// child is far larger than the others, so most steps end with one comparison to the next child; otherwise its new place
// is found by halving. With a dozen children a tree of losers would not compare less.
//
// A child that stands on a key which a newer child's ranges cover is moved out of the range, by a few steps and then by
// a search, so that a range over a million keys costs a reader as much as one over ten.
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
  // The cursor is the merge's own, or only lent: then it must outlive the merge, and nobody else may move it.
  explicit MergeChild(std::unique_ptr<EntryCursor> its_cursor) : owned(std::move(its_cursor)), cursor(owned.get()) {}
  explicit MergeChild(EntryCursor* lent) : cursor(lent) {}

  std::unique_ptr<EntryCursor> owned;
  EntryCursor* cursor;
  // For messages: the file, or what else it is.
  std::string name;
  // Keys below are hidden, as if the layer did not have them: a sweep that has come this far has carried them into the
  // tree, where they may have been moved since. The same holds for the part of its ranges that lies below.
  std::optional<std::string> first_visible = std::nullopt;
  // The layer's range deletes: they hide what older children say. Null: there are none. What the cursor itself yields
  // they do not touch.
  std::shared_ptr<const RangeDeletes> ranges = nullptr;
};

// Reports an entry that a newer layer hides, by the same key or by a range delete: the number of its child, the key, and
// what is dropped with it.
using OnShadowed = std::function<void(std::size_t child, Slice key, const Entry& entry)>;

// An error of any child is the merge's error. So is a child that yields a key which is not strictly beyond its last
// one, or which is on the wrong side of what was sought: Corruption, because a merge of what is out of order loses
// keys. One thread.
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
  // Those of the child that the entry is from: where most keys are, most of these come next.
  std::size_t PeekAhead(bool forward, std::span<Entry> out) const override {
    return children_[order_[0]].its.cursor->PeekAhead(forward, out);
  }
  // Which child the entry is from. Requires Valid().
  [[nodiscard]] std::size_t source() const { return order_[0]; }

 private:
  friend class LayerMerge;

  // Between two bounds, of which either may be absent, the ranges of newer children cover all keys or none.
  using Stretch = RangeDeletes::Stretch;

  struct Child {
    MergeChild its;
    bool checks_order;  // its steps lead beyond where it was, and it says so itself if not
    Slice key;         // where it stands, if it is in order_
    std::string last;  // where it stood before its last step; kept for its memory
    std::optional<Stretch> uncovered;  // around where it stood, if that was looked up
  };

  void Begin(bool forward);
  void SeekAll(Slice target);
  void Enter(std::size_t index);
  void StepAt(std::size_t place);
  void StepOverCurrentKey();
  void Turn();
  // These move one child in the direction of the merge. True if it has an entry there; false at its end and after Fail.
  [[nodiscard]] bool Arrive(Child* child);
  [[nodiscard]] bool Depart(const Child& child);  // false, and its error is ours
  [[nodiscard]] bool IsVisible(const Child& child) const;
  [[nodiscard]] bool SeekChild(Child* child, Slice target);
  [[nodiscard]] bool StepChild(Child* child);
  // The same, and on to the next entry that no newer child's ranges cover, unless covered entries are reported.
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
  std::vector<std::size_t> with_ranges_;  // children that have some, newest first
  std::vector<std::size_t> order_;  // children with an entry ahead; the first one is the current
  bool forward_ = true;
  bool is_alone_ = false;  // known: no other child has the current key
  std::string sought_;
  const OnShadowed* on_shadowed_ = nullptr;
  Status status_;
};

// The same, forward only, for making a new layer of old ones: tells which entries the new layer drops, because each of
// them holds a reference that somebody's account counts. So it walks also what ranges cover. The new layer has the ranges
// of all its children, as far as they were visible (see RangeDeletes::Union and Within), unless nothing lies below it.
class LayerMerge {
 public:
  // What to do at a key of which all entries are covered by ranges of newer children.
  enum class Covered : bool {
    kSkip,   // on to the next key; its entries are reported on the way
    kYield,  // stop there, for those who must know how far the merge has come: is_covered() says so
  };
  // `on_shadowed` is called by the Next() that leaves a key, for each older entry of that key, and for the newest too if
  // a range covers it. So a merge that stops in front of a key has reported nothing of it, and of all keys before it
  // everything. What a child hides below its first_visible is not reported: it was, when it was merged. If the merge
  // fails, what was reported is void.
  LayerMerge(const Comparator* comparator, std::vector<MergeChild> children, OnShadowed on_shadowed,
             Covered covered = Covered::kSkip);
  LayerMerge(const LayerMerge&) = delete;
  LayerMerge& operator=(const LayerMerge&) = delete;

  void SeekToFirst();
  void Seek(Slice target);
  void Next();

  [[nodiscard]] bool Valid() const { return cursor_.Valid(); }
  // With kYield: true if the new layer does not get this key, because a range of a newer child covers it. The entry is
  // then only what on_shadowed is going to report.
  [[nodiscard]] bool is_covered() const { return is_covered_; }
  [[nodiscard]] Slice key() const { return cursor_.key(); }
  [[nodiscard]] Entry entry() const { return cursor_.entry(); }
  [[nodiscard]] std::size_t source() const { return cursor_.source(); }
  [[nodiscard]] Status status() const { return cursor_.status(); }

 private:
  void Settle();

  const OnShadowed on_shadowed_;
  const Covered covered_;
  MergeCursor cursor_;
  bool is_covered_ = false;
};

}  // namespace cambium
