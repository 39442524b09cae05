// TierCursor: walks the runs of a tier one after the other, and opens each run when the walk reaches it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "lsm_fallback/tier.h"
#include "memtable/entry_cursor.h"

namespace cambium {

using NewRunCursor = std::function<std::unique_ptr<EntryCursor>(const Run& run)>;

// `runs` are in key order and do not overlap; the cursor keeps them open. If a run fails, the cursor fails. One thread.
class TierCursor final : public EntryCursor {
 public:
  // `new_cursor` makes the cursors of the runs; null: Run::NewCursor does.
  TierCursor(const Comparator* comparator, std::shared_ptr<const RunList> runs, NewRunCursor new_cursor = nullptr);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice target) override;
  void SeekForPrev(Slice target) override;
  void Next() override;
  void Prev() override;

  [[nodiscard]] bool Valid() const override { return cursor_ != nullptr && cursor_->Valid(); }
  [[nodiscard]] Slice key() const override { return cursor_->key(); }
  [[nodiscard]] Entry entry() const override { return cursor_->entry(); }
  [[nodiscard]] Status status() const override { return cursor_ == nullptr ? Status::OK() : cursor_->status(); }
  std::size_t PeekAhead(bool forward, std::span<Entry> out) const override { return cursor_->PeekAhead(forward, out); }

 private:
  void Open(std::size_t run);
  void Close() { cursor_.reset(); }
  // Moves to the next run with a key, if the current one has no more. If a run has failed, stays there.
  void SkipEndedRunsForward();
  void SkipEndedRunsBackward();

  const KeyOrder order_;
  const std::shared_ptr<const RunList> runs_;
  const NewRunCursor new_cursor_;
  std::size_t at_ = 0;                   // the index of the run that cursor_ walks
  std::unique_ptr<EntryCursor> cursor_;  // null: not positioned, or beyond an end
};

}  // namespace cambium
