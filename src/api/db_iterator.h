// DbIterator: the user's cursor. It merges the memtables and layers of one view, hides tombstones and keys outside the bounds,
// and fetches a value only when it is asked for.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "api/scan_ahead.h"
#include "trace/tracer.h"
#include "state/db_state.h"
#include "cambium/iterator.h"
#include "cambium/options.h"
#include "cambium/statistics.h"
#include "index/merge_cursor.h"
#include "upkeep/clusterer.h"

namespace cambium {

// What iterators of a database use of it.
struct IteratorSource {
  DbState* state = nullptr;
  TraceSwitch* traces = nullptr;
  Clusterer* clusterer = nullptr;  // counts how often scans jump from value to value
};

class DbIterator final : public Iterator {
 public:
  // What *source refers to, and *source itself, outlive the iterator. The bounds are copied. The view has the family.
  DbIterator(const IteratorSource* source, std::shared_ptr<const Family> family, const ReadOptions& options,
             std::shared_ptr<const View> view, SequenceNumber sequence);
  ~DbIterator() override;
  // In a forked child nothing is destroyed, as for the database.
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
  // Moves the cursor to the nearest visible entry in the direction, which may be the one where it stands.
  void SkipHidden(Direction direction) const;
  // True in a forked child; then status_ says so.
  [[nodiscard]] bool IsForked() const;
  // The iterator is about to move to another place than the next or the previous entry.
  void Leave();
  void ToLast();
  // A seek begins. The end of the scan before it is recorded, if it was traced.
  void Trace(TraceType type, Slice key) {
    if (traced_ != nullptr) [[unlikely]] traced_.reset();
    if (IsTraced()) [[unlikely]] BeginTracedScan(type, key);
  }
  [[nodiscard]] bool IsTraced() const;
  void BeginTracedScan(TraceType type, Slice key);
  // Counts a call that has moved the iterator, and the entry that it found.
  void Count(Tickers calls, Tickers found) const;
  void Move(Direction direction);
  void MoveCursor(Direction direction) const;
  // The iterator stands at the first of the entries that were read ahead, and not at the cursor.
  [[nodiscard]] bool IsAhead() const { return ahead_ != nullptr && !ahead_->empty(); }
  [[nodiscard]] Entry entry() const { return IsAhead() ? ahead_->entry() : cursor_->entry(); }
  // An estimate of how many values will be asked for from here on.
  [[nodiscard]] std::size_t Expected() const;
  void FetchAhead(std::size_t count, bool first_is_missing = false) const;
  Status ReadHere() const;
  void PrefetchMapped(std::size_t expected, const Entry& here) const;
  bool FetchValue() const;
  [[nodiscard]] bool IsBelowLower(Slice key) const;
  [[nodiscard]] bool IsAtOrAboveUpper(Slice key) const;

  const IteratorSource& source_;
  const DbContext& db_;
  const std::shared_ptr<const Family> family_;
  const ReadOptions options_;
  const std::shared_ptr<const View> view_;
  std::optional<std::string> lower_;
  std::optional<std::string> upper_;
  mutable Direction direction_ = Direction::kForward;
  std::unique_ptr<TracedScan> traced_;  // null: it is not traced
  std::size_t streak_ = 0;  // values that were asked for in a row before this position
  // value() is const and may fetch; one thread at a time uses an iterator.
  mutable std::optional<MergeCursor> cursor_;  // over all layers; empty at the end of the destructor only
  mutable bool inside_ = false;  // the cursor is at an entry that is visible
  mutable std::unique_ptr<ScanAhead> ahead_;  // null until values are asked for in a row
  mutable Status status_;
  mutable std::string key_;  // of the cursor's entry, once it was asked for
  mutable bool has_key_ = false;
  mutable bool fetched_ = false;
  mutable std::size_t prefetched_ = 0;  // values ahead that were prefetched into the processor's caches
  mutable std::string buffer_;
  mutable Slice value_;
};

}  // namespace cambium
