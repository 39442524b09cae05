#include "index/merge_cursor.h"

#include <algorithm>
#include <cassert>

#include "index/key_for_message.h"
#include "util/mutant.h"

namespace cambium {

MergeCursor::MergeCursor(const Comparator* comparator, std::vector<MergeChild> children) : key_order_(comparator) {
  children_.reserve(children.size());
  for (MergeChild& child : children) {
    if (child.Cover() != nullptr && !child.Cover()->empty()) with_ranges_.push_back(children_.size());
    const bool checks_order = child.cursor->ChecksOrder();
    children_.push_back({std::move(child), checks_order, {}, {}, {}});
  }
  order_.reserve(children_.size());
}

void MergeCursor::SeekToFirst() {
  Begin(true);
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    Child& child = children_[i];
    bool ahead;
    if (child.its.first_visible) {
      ahead = SeekShown(&child, *child.its.first_visible);
    } else {
      child.uncovered.reset();
      child.its.cursor->SeekToFirst();
      ahead = Arrive(&child) && LeaveRanges(&child);
    }
    if (ahead) Enter(i);
  }
}

void MergeCursor::SeekToLast() {
  Begin(false);
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    children_[i].uncovered.reset();
    children_[i].its.cursor->SeekToLast();
    if (Arrive(&children_[i]) && LeaveRanges(&children_[i])) Enter(i);
  }
}

void MergeCursor::Seek(Slice target) {
  Begin(true);
  SeekAll(target);
}

void MergeCursor::SeekForPrev(Slice target) {
  Begin(false);
  SeekAll(target);
}

// Copies the target: it may be the key of a child, which is about to move.
void MergeCursor::SeekAll(Slice target) {
  sought_.assign(target.data(), target.size());
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    if (SeekShown(&children_[i], sought_)) Enter(i);
  }
}

void MergeCursor::Next() {
  assert(Valid());
  forward_ ? StepOverCurrentKey() : Turn();
}

void MergeCursor::Prev() {
  assert(Valid());
  forward_ ? Turn() : StepOverCurrentKey();
}

void MergeCursor::Begin(bool forward) {
  forward_ = forward;
  is_alone_ = false;
  order_.clear();
  status_ = Status::OK();
}

// The older children with this key step first, while the newest child still holds the key.
void MergeCursor::StepOverCurrentKey() {
  while (!is_alone_ && order_.size() > 1 && CompareForward(children_[order_[1]].key, key()) == 0) {
    const Child& older = children_[order_[1]];
    if (on_shadowed_ != nullptr && !ReportShadowed(older)) return;
    StepAt(1);
    if (!status_.ok()) return;
  }
  StepAt(0);
}

// If two layers have the same entry, the accounts count its reference once. So the reference must not be dropped with
// one of the layers.
bool MergeCursor::ReportShadowed(const Child& older) {
  const Entry dropped = older.its.cursor->entry();
  if (RefersToSame(dropped, entry())) {
    Fail(Status::Corruption(older.its.name + ": a newer layer refers to the same value of the key " +
                            KeyForMessage(older.key)));
    return false;
  }
  (*on_shadowed_)(order_[1], older.key, dropped);
  return true;
}

// In the new direction, all children but the current one are at unknown places or at an end. They seek the current key
// again, and step past it if they have it.
void MergeCursor::Turn() {
  assert(!order_.empty());
  const std::size_t current = order_[0];
  sought_.assign(key().data(), key().size());
  forward_ = !forward_;
  is_alone_ = false;
  order_.clear();
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    Child& child = children_[i];
    bool ahead;
    if (i == current) {
      ahead = StepShown(&child);
    } else {
      ahead = SeekShown(&child, sought_);
      if (ahead && CompareForward(child.key, sought_) == 0) ahead = StepShown(&child);
    }
    if (ahead) Enter(i);
  }
}

bool MergeCursor::IsBefore(std::size_t a, std::size_t b) const {
  const int order = CompareAhead(children_[a].key, children_[b].key);
  return order != 0 ? order < 0 : a < b;
}

void MergeCursor::Enter(std::size_t index) {
  assert(index < children_.size() && order_.size() < children_.size());
  const auto place = std::upper_bound(order_.begin(), order_.end(), index,
                                      [this](std::size_t a, std::size_t b) { return IsBefore(a, b); });
  order_.insert(place, index);
}

// Moves the child at order_[place] on, and reorders it by its new key.
void MergeCursor::StepAt(std::size_t place) {
  assert(place < order_.size());
  const std::size_t index = order_[place];
  const auto at = order_.begin() + static_cast<std::ptrdiff_t>(place);
  is_alone_ = false;
  if (!StepShown(&children_[index])) {
    if (status_.ok()) order_.erase(at);
    return;
  }
  if (at + 1 == order_.end()) return;
  const int order = CompareAhead(children_[index].key, children_[at[1]].key);
  is_alone_ = order < 0 && place == 0;
  if (order < 0 || (order == 0 && index < at[1])) return;
  const auto behind = std::upper_bound(at + 2, order_.end(), index,
                                       [this](std::size_t a, std::size_t b) { return IsBefore(a, b); });
  std::rotate(at, at + 1, behind);
}

bool MergeCursor::Arrive(Child* child) {
  const EntryCursor& cursor = *child->its.cursor;
  if (!cursor.Valid()) return Depart(*child);
  child->key = cursor.key();
  return IsVisible(*child);
}

bool MergeCursor::Depart(const Child& child) {
  Status status = child.its.cursor->status();
  if (!status.ok()) Fail(child.its.name.empty() ? std::move(status) : status.WithContext(child.its.name));
  return false;
}

bool MergeCursor::IsVisible(const Child& child) const {
  // Hidden keys are below first_visible. A forward walk starts at or above it; only a backward walk may reach them.
  return forward_ || !child.its.first_visible || CompareForward(child.key, *child.its.first_visible) >= 0;
}

bool MergeCursor::SeekChild(Child* child, Slice target) {
  EntryCursor* cursor = child->its.cursor;
  if (child->its.first_visible && CompareForward(target, *child->its.first_visible) < 0) {
    if (!forward_) return false;
    target = *child->its.first_visible;
  }
  forward_ ? cursor->Seek(target) : cursor->SeekForPrev(target);
  if (!Arrive(child)) return false;
  if (CompareAhead(child->key, target) < 0 && !MutantIs(Mutant::kSkipOrderCheck)) {
    FailOrder(*child, "is the wrong result of seeking", target);
    return false;
  }
  return true;
}

bool MergeCursor::StepChild(Child* child) {
  if (!child->checks_order) child->last.assign(child->key.data(), child->key.size());
  if (!child->its.cursor->Advance(forward_, &child->key)) return Depart(*child);
  if (!IsVisible(*child)) return false;
  if (child->checks_order) return true;
  if (CompareAhead(child->key, child->last) <= 0 && !MutantIs(Mutant::kSkipOrderCheck)) {
    FailOrder(*child, forward_ ? "is not after" : "is not before", child->last);
    return false;
  }
  return true;
}

bool MergeCursor::SeekShown(Child* child, Slice target) {
  child->uncovered.reset();
  return SeekChild(child, target) && LeaveRanges(child);
}

bool MergeCursor::StepShown(Child* child) { return StepChild(child) && LeaveRanges(child); }

bool MergeCursor::LeaveRanges(Child* child) {
  if (with_ranges_.empty() || on_shadowed_ != nullptr) return true;
  // A seek costs as much as several steps, and most ranges of an old layer cover few keys of another.
  constexpr int kStepsBeforeJump = 8;
  for (int steps = 0; IsCovered(child); ++steps) {
    if (steps < kStepsBeforeJump) {
      if (!StepChild(child)) return false;
      continue;
    }
    if (!JumpOut(child, StretchOf(*child))) return false;
    steps = 0;
  }
  return true;
}

bool MergeCursor::JumpOut(Child* child, const Stretch& covered) {
  if (!SeekChild(child, forward_ ? *covered.to : *covered.from)) return false;
  // A range includes its begin but not its end.
  if (!forward_ && CompareForward(child->key, *covered.from) == 0) return StepChild(child);
  return true;
}

bool MergeCursor::IsCovered(Child* child) {
  if (with_ranges_.empty()) return false;
  if (child->uncovered.has_value()) {
    const Stretch& stretch = *child->uncovered;
    if ((!stretch.from.has_value() || CompareForward(*stretch.from, child->key) <= 0) &&
        (!stretch.to.has_value() || CompareForward(child->key, *stretch.to) < 0)) {
      return false;
    }
  }
  const Stretch stretch = StretchOf(*child);
  if (stretch.covered) return true;
  child->uncovered = stretch;
  return false;
}

// The stretch around the child's key, according to the ranges of newer children.
MergeCursor::Stretch MergeCursor::StretchOf(const Child& child) const {
  const auto index = static_cast<std::size_t>(&child - children_.data());
  Stretch result;
  const auto narrow = [&](const Stretch& by) {
    if (by.from.has_value() && (!result.from.has_value() || CompareForward(*result.from, *by.from) < 0)) {
      result.from = by.from;
    }
    if (by.to.has_value() && (!result.to.has_value() || CompareForward(*by.to, *result.to) < 0)) result.to = by.to;
  };
  for (const std::size_t i : with_ranges_) {
    if (i == index) continue;
    if (i > index && !MutantIs(Mutant::kOldRangesHideNewer)) break;
    const MergeChild& newer = children_[i].its;
    const bool has_mask = newer.first_visible.has_value() && !MutantIs(Mutant::kRangesIgnoreSweepCursor);
    if (has_mask && CompareForward(child.key, *newer.first_visible) < 0) {
      narrow({false, std::nullopt, Slice(*newer.first_visible)});
      continue;
    }
    Stretch stretch = newer.Cover()->StretchOf(child.key);
    if (has_mask && (!stretch.from.has_value() || CompareForward(*stretch.from, *newer.first_visible) < 0)) {
      stretch.from = Slice(*newer.first_visible);
    }
    if (stretch.covered) return stretch;
    narrow(stretch);
  }
  return result;
}

void MergeCursor::Fail(Status status) {
  status_ = std::move(status);
  order_.clear();
}

void MergeCursor::FailOrder(const Child& child, const char* what, Slice other) {
  const std::string where = child.its.name.empty() ? "layer" : child.its.name;
  Fail(Status::Corruption(where + ": keys out of order: " + KeyForMessage(child.key) + " " + what + " " + KeyForMessage(other)));
}

LayerMerge::LayerMerge(const Comparator* comparator, std::vector<MergeChild> children, OnShadowed on_shadowed,
                       Covered covered)
    : on_shadowed_(std::move(on_shadowed)), covered_(covered), cursor_(comparator, std::move(children)) {
  if (on_shadowed_) cursor_.on_shadowed_ = &on_shadowed_;
}

void LayerMerge::SeekToFirst() {
  cursor_.SeekToFirst();
  SkipCovered();
}

void LayerMerge::Seek(Slice target) {
  cursor_.Seek(target);
  SkipCovered();
}

void LayerMerge::Next() {
  assert(Valid());
  if (is_covered_ && on_shadowed_) on_shadowed_(source(), key(), entry());
  cursor_.Next();
  SkipCovered();
}

// Among equal keys the newest is first. If a range covers the newest entry, it covers the older ones too.
void LayerMerge::SkipCovered() {
  is_covered_ = false;
  while (cursor_.Valid()) {
    MergeCursor::Child& front = cursor_.children_[cursor_.order_[0]];
    is_covered_ = cursor_.IsCovered(&front);
    if (!is_covered_ || covered_ == Covered::kYield) return;
    if (on_shadowed_) on_shadowed_(source(), key(), entry());
    cursor_.Next();
  }
}

}  // namespace cambium
