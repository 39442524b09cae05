// DbIterator: the user's cursor. It merges the memtables and layers of one view, skips tombstones and keys outside the
// bounds, and reads a value only when the user asks for it.
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

// The parts of a database that its iterators use.
struct IteratorSource {
  DbState* state = nullptr;
  TraceSwitch* traces = nullptr;
  Clusterer* clusterer = nullptr;  // counts how often scans jump from value to value
};

class DbIterator final : public Iterator {
 public:
  // *source, and all that it refers to, outlives the iterator. The bounds are copied. The view has the family.
  DbIterator(const IteratorSource* source, std::shared_ptr<const Family> family, const ReadOptions& options,
             std::shared_ptr<const View> view, SequenceNumber sequence);
  ~DbIterator() override;
  // In a forked child nothing is destroyed, as with the database.
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
  // Moves the cursor in the direction to the nearest visible entry, which may be the current one.
  void SkipHidden(Direction direction) const;
  // True in a forked child; then sets status_ to an error.
  [[nodiscard]] bool IsForked() const;
  // Called before the iterator moves to a place other than the next or previous entry.
  void Leave();
  void ToLast();
  // Called when a seek begins. Records the end of the previous scan, if it was traced.
  void Trace(TraceType type, Slice key) {
    if (traced_ != nullptr) [[unlikely]] traced_.reset();
    if (IsTraced()) [[unlikely]] BeginTracedScan(type, key);
  }
  [[nodiscard]] bool IsTraced() const;
  void BeginTracedScan(TraceType type, Slice key);
  // Counts a call that has moved the iterator, and the entry that it has found, if any.
  void Count(Tickers calls, Tickers found) const;
  void Move(Direction direction);
  void MoveCursor(Direction direction) const;
  // True if the iterator is at the first entry that was read ahead, not at the cursor.
  [[nodiscard]] bool IsAhead() const { return ahead_ != nullptr && !ahead_->empty(); }
  [[nodiscard]] Entry entry() const { return IsAhead() ? ahead_->entry() : cursor_->entry(); }
  // Estimates how many values the user will ask for from here on.
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
  std::unique_ptr<TracedScan> traced_;  // null: the scan is not traced
  std::size_t streak_ = 0;  // number of consecutive values before this position that the user has asked for
  // Mutable, because value() is const and may read. One thread at a time uses an iterator.
  mutable std::optional<MergeCursor> cursor_;  // over memtables and layers; empty only at the end of the destructor
  mutable bool inside_ = false;  // the cursor is at a visible entry
  mutable std::unique_ptr<ScanAhead> ahead_;  // null until the user asks for consecutive values
  mutable Status status_;
  mutable std::string key_;  // of the cursor's entry, if has_key_
  mutable bool has_key_ = false;
  mutable bool fetched_ = false;
  mutable std::size_t prefetched_ = 0;  // number of values ahead that were prefetched into the processor's caches
  mutable std::string buffer_;
  mutable Slice value_;
};

}  // namespace cambium
