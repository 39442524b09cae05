// DbIterator: the user's cursor. Merges memory tables and layers of one view, hides tombstones and what lies outside the
// bounds, and fetches a value only when somebody asks for it.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "api/scan_ahead.h"
#include "trace/tracer.h"
#include "state/view.h"
#include "cambium/iterator.h"
#include "cambium/options.h"
#include "cambium/statistics.h"
#include "index/merge_cursor.h"

namespace cambium {

class DbImpl;

class DbIterator final : public Iterator {
 public:
  // `db` must outlive the iterator. The bounds are copied.
  // The view has the family.
  DbIterator(DbImpl* db, std::shared_ptr<const Family> family, const ReadOptions& options,
             std::shared_ptr<const View> view, SequenceNumber sequence);
  ~DbIterator() override;
  // As DbImpl's: in a forked child it stays.
  static void operator delete(DbIterator* it, std::destroying_delete_t);

  [[nodiscard]] bool Valid() const override { return (IsAhead() || inside_) && status_.ok(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice target) override;
  void SeekForPrev(Slice target) override;
  void Next() override;
  void Prev() override;
  [[nodiscard]] Slice key() const override;
  [[nodiscard]] Slice value() const override;
  bool PrepareValue() override;
  [[nodiscard]] std::uint64_t ValueSize() const override;
  [[nodiscard]] Status status() const override { return status_; }

 private:
  enum class Direction : bool { kForward, kBackward };
  // Moves the cursor from where it is to the nearest entry that is visible, in the direction.
  void Settle(Direction direction) const;
  [[nodiscard]] bool IsForked() const;  // and then status_ says so
  // The iterator is about to stand somewhere else than beside where it stood.
  void Leave();
  void ToLast();
  // A seek begins: of the scan before it, if it was traced, the end is recorded.
  void Trace(TraceType type, Slice key) {
    if (traced_ != nullptr) [[unlikely]] traced_.reset();
    if (IsTraced()) [[unlikely]] BeginTracedScan(type, key);
  }
  [[nodiscard]] bool IsTraced() const;
  void BeginTracedScan(TraceType type, Slice key);
  // For the statistics: a call has moved the iterator, and what is there now.
  void Count(Tickers calls, Tickers found) const;
  void Move(Direction direction);
  void MoveCursor(Direction direction) const;
  // Whether the entries in front, and not the cursor, say where the iterator stands.
  [[nodiscard]] bool IsAhead() const { return ahead_ != nullptr && !ahead_->empty(); }
  [[nodiscard]] Entry entry() const { return IsAhead() ? ahead_->entry() : cursor_->entry(); }
  // How many values will be asked for from here on, as far as anybody can tell.
  [[nodiscard]] std::size_t Expected() const;
  void FetchAhead(std::size_t count, bool first_is_missing = false) const;
  Status ReadHere() const;
  void PrefetchMapped(std::size_t expected, const Entry& here) const;
  bool FetchValue() const;
  [[nodiscard]] bool IsBelowLower(Slice key) const;
  [[nodiscard]] bool IsAtOrAboveUpper(Slice key) const;

  DbImpl* const db_;
  const std::shared_ptr<const Family> family_;
  const ReadOptions options_;
  const std::shared_ptr<const View> view_;
  std::optional<std::string> lower_;
  std::optional<std::string> upper_;
  mutable Direction direction_ = Direction::kForward;
  std::unique_ptr<TracedScan> traced_;  // null: nobody records it
  std::size_t streak_ = 0;  // values that were asked for, one after the other, before this position
  // Fetching is part of looking, so value() may do it; one thread at a time uses an iterator.
  mutable std::optional<MergeCursor> cursor_;  // over all layers; empty at the end of the destructor only
  mutable bool inside_ = false;  // the cursor is at an entry that is visible
  mutable std::unique_ptr<ScanAhead> ahead_;  // null until values are asked for one after the other
  mutable Status status_;
  mutable std::string key_;  // of the cursor's entry, once somebody has asked for it
  mutable bool has_key_ = false;
  mutable bool fetched_ = false;
  mutable std::size_t prefetched_ = 0;  // values in front that the processor's caches were asked for
  mutable std::string buffer_;
  mutable Slice value_;
};

}  // namespace cambium
