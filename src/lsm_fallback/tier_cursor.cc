#include "lsm_fallback/tier_cursor.h"

#include <cassert>
#include <utility>

namespace cambium {

TierCursor::TierCursor(const Comparator* comparator, std::shared_ptr<const RunList> runs, NewRunCursor new_cursor)
    : order_(comparator), runs_(std::move(runs)), new_cursor_(std::move(new_cursor)) {}

void TierCursor::Open(std::size_t run) {
  assert(run < runs_->size());
  if (cursor_ != nullptr && at_ == run) return;
  const Run& opened = *(*runs_)[run];
  cursor_ = new_cursor_ ? new_cursor_(opened) : opened.NewCursor();
  at_ = run;  // only now: if memory has run out, the cursor is still that of another run
}

void TierCursor::SeekToFirst() {
  if (runs_->empty()) return Close();
  Open(0);
  cursor_->SeekToFirst();
  SkipEndedRunsForward();
}

void TierCursor::SeekToLast() {
  if (runs_->empty()) return Close();
  Open(runs_->size() - 1);
  cursor_->SeekToLast();
  SkipEndedRunsBackward();
}

void TierCursor::Seek(Slice target) {
  const std::size_t run = FirstNotBefore(order_, *runs_, target);
  if (run == runs_->size()) return Close();
  Open(run);
  cursor_->Seek(target);
  SkipEndedRunsForward();
}

void TierCursor::SeekForPrev(Slice target) {
  std::size_t run = FirstNotBefore(order_, *runs_, target);
  if (run == runs_->size() || order_.Compare((*runs_)[run]->info().smallest_key, target) > 0) {
    if (run == 0) return Close();
    --run;
  }
  Open(run);
  cursor_->SeekForPrev(target);
  SkipEndedRunsBackward();
}

void TierCursor::Next() {
  assert(Valid());
  cursor_->Next();
  SkipEndedRunsForward();
}

void TierCursor::Prev() {
  assert(Valid());
  cursor_->Prev();
  SkipEndedRunsBackward();
}

void TierCursor::SkipEndedRunsForward() {
  assert(cursor_ != nullptr);
  while (!cursor_->Valid() && cursor_->status().ok()) {
    if (at_ + 1 == runs_->size()) return Close();
    Open(at_ + 1);
    cursor_->SeekToFirst();
  }
}

void TierCursor::SkipEndedRunsBackward() {
  assert(cursor_ != nullptr);
  while (!cursor_->Valid() && cursor_->status().ok()) {
    if (at_ == 0) return Close();
    Open(at_ - 1);
    cursor_->SeekToLast();
  }
}

}  // namespace cambium
