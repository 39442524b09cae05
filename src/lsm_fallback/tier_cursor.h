// TierCursor: walks the runs of a tier one behind the other, each opened when the walk comes to it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "lsm_fallback/tier.h"
#include "memtable/entry_cursor.h"

namespace cambium {

using NewRunCursor = std::function<std::unique_ptr<EntryCursor>(const Run& run)>;

// `runs` are in order and share no key; the cursor keeps them open. An error of any run is the cursor's. One thread.
class TierCursor final : public EntryCursor {
 public:
  // `new_cursor`, if given, makes the cursors of the runs; else they are Run::NewCursor's.
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
  // To the next run that has a key, if this one has none any more. An error stays where it is.
  void SettleForward();
  void SettleBackward();

  const KeyOrder order_;
  const std::shared_ptr<const RunList> runs_;
  const NewRunCursor new_cursor_;
  std::size_t at_ = 0;                   // the run of cursor_
  std::unique_ptr<EntryCursor> cursor_;  // null: not positioned, or beyond an end
};

}  // namespace cambium
