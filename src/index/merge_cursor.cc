#include "index/merge_cursor.h"

#include <algorithm>
#include <cassert>

#include "util/mutant.h"

namespace cambium {
namespace {

// Keys in messages: their first bytes tell them apart well enough.
std::string Shown(Slice key) {
  constexpr std::size_t kShown = 32;
  if (key.size() <= kShown) return key.ToString(true);
  return key.substr(0, kShown).ToString(true) + "... (" + std::to_string(key.size()) + " bytes)";
}

}  // namespace

MergeCursor::MergeCursor(const Comparator* comparator, std::vector<MergeChild> children) : key_order_(comparator) {
  children_.reserve(children.size());
  for (MergeChild& child : children) children_.push_back({std::move(child), {}, {}});
  order_.reserve(children_.size());
}

void MergeCursor::SeekToFirst() {
  Begin(true);
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    Child& child = children_[i];
    bool ahead;
    if (child.its.first_visible) {
      ahead = SeekChild(&child, *child.its.first_visible);
    } else {
      child.its.cursor->SeekToFirst();
      ahead = Arrive(&child);
    }
    if (ahead) Enter(i);
  }
}

void MergeCursor::SeekToLast() {
  Begin(false);
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    children_[i].its.cursor->SeekToLast();
    if (Arrive(&children_[i])) Enter(i);
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

// The target is copied: it may be the key of a child, which is about to move.
void MergeCursor::SeekAll(Slice target) {
  sought_.assign(target.data(), target.size());
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    if (SeekChild(&children_[i], sought_)) Enter(i);
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
  order_.clear();
  status_ = Status::OK();
}

// The older holders of the key go first, while the newest still shows it.
void MergeCursor::StepOverCurrentKey() {
  while (order_.size() > 1 && CompareForward(children_[order_[1]].key, key()) == 0) {
    const Child& older = children_[order_[1]];
    if (on_shadowed_ != nullptr) (*on_shadowed_)(order_[1], older.key, older.its.cursor->entry());
    StepAt(1);
    if (!status_.ok()) return;
  }
  StepAt(0);
}

// In the other direction all children but the current one stand anywhere behind us, or are at an end: they are sought
// anew from the current key, and leave it if they have it too.
void MergeCursor::Turn() {
  const std::size_t current = order_[0];
  sought_.assign(key().data(), key().size());
  forward_ = !forward_;
  order_.clear();
  for (std::size_t i = 0; i < children_.size() && status_.ok(); ++i) {
    Child& child = children_[i];
    bool ahead;
    if (i == current) {
      ahead = StepChild(&child);
    } else {
      ahead = SeekChild(&child, sought_);
      if (ahead && CompareForward(child.key, sought_) == 0) ahead = StepChild(&child);
    }
    if (ahead) Enter(i);
  }
}

bool MergeCursor::IsBefore(std::size_t a, std::size_t b) const {
  const int order = CompareAhead(children_[a].key, children_[b].key);
  return order != 0 ? order < 0 : a < b;
}

void MergeCursor::Enter(std::size_t index) {
  const auto place = std::upper_bound(order_.begin(), order_.end(), index,
                                      [this](std::size_t a, std::size_t b) { return IsBefore(a, b); });
  order_.insert(place, index);
}

// Moves the child that stands at `place` in order_, and gives it the place of its new key.
void MergeCursor::StepAt(std::size_t place) {
  const std::size_t index = order_[place];
  const auto at = order_.begin() + static_cast<std::ptrdiff_t>(place);
  if (!StepChild(&children_[index])) {
    if (status_.ok()) order_.erase(at);
    return;
  }
  if (at + 1 == order_.end() || IsBefore(index, at[1])) return;
  const auto behind = std::upper_bound(at + 2, order_.end(), index,
                                       [this](std::size_t a, std::size_t b) { return IsBefore(a, b); });
  std::rotate(at, at + 1, behind);
}

bool MergeCursor::Arrive(Child* child) {
  const EntryCursor& cursor = *child->its.cursor;
  if (!cursor.Valid()) {
    Status status = cursor.status();
    if (!status.ok()) Fail(child->its.name.empty() ? std::move(status) : status.WithContext(child->its.name));
    return false;
  }
  child->key = cursor.key();
  // Forward, the walk began behind what is hidden.
  return forward_ || !child->its.first_visible || CompareForward(child->key, *child->its.first_visible) >= 0;
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
    FailOrder(*child, "is the wrong answer to", target);
    return false;
  }
  return true;
}

bool MergeCursor::StepChild(Child* child) {
  child->last.assign(child->key.data(), child->key.size());
  forward_ ? child->its.cursor->Next() : child->its.cursor->Prev();
  if (!Arrive(child)) return false;
  if (CompareAhead(child->key, child->last) <= 0 && !MutantIs(Mutant::kSkipOrderCheck)) {
    FailOrder(*child, forward_ ? "does not come after" : "does not come before", child->last);
    return false;
  }
  return true;
}

void MergeCursor::Fail(Status status) {
  status_ = std::move(status);
  order_.clear();
}

void MergeCursor::FailOrder(const Child& child, const char* what, Slice other) {
  const std::string where = child.its.name.empty() ? "layer" : child.its.name;
  Fail(Status::Corruption(where + ": keys out of order: " + Shown(child.key) + " " + what + " " + Shown(other)));
}

LayerMerge::LayerMerge(const Comparator* comparator, std::vector<MergeChild> children, OnShadowed on_shadowed)
    : on_shadowed_(std::move(on_shadowed)), cursor_(comparator, std::move(children)) {
  if (on_shadowed_) cursor_.on_shadowed_ = &on_shadowed_;
}

}  // namespace cambium
