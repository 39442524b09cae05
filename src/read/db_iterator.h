// DbIterator: the user's cursor. It merges the memtables and layers of one view, and skips tombstones and keys outside
// the bounds. A move reads the value of the entry that it finds; with allow_unprepared_value, PrepareValue reads it.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "cambium/iterator.h"
#include "cambium/options.h"
#include "cambium/statistics.h"
#include "index/merge_cursor.h"
#include "read/scan_ahead.h"
#include "read/scan_piece.h"
#include "state/db_state.h"
#include "trace/tracer.h"
#include "upkeep/log_gc/clusterer.h"

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
  void Next() override { Move(Direction::kForward); }
  void Prev() override { Move(Direction::kBackward); }
  [[nodiscard]] Slice key() const override;
  [[nodiscard]] Slice value() const override;
  bool PrepareValue() override;
  [[nodiscard]] std::uint64_t ValueSize() const override;
  [[nodiscard]] Status status() const override;

 private:
  enum class Direction : bool { kForward, kBackward };
  // The frame of every seek: `find` moves the cursor.
  template <typename Find>
  void SeekWith(TraceType type, Slice traced_key, Find find);
  // Runs a part of a move, and calls Lose if it throws.
  template <typename Part>
  void OrLose(Part part);
  // Called if memory has run out while the cursor moved, so that its position is undefined. The iterator becomes
  // invalid until it seeks, so that it neither repeats nor skips entries.
  void Lose() noexcept;
  // Moves the cursor in the direction to the nearest visible entry, which may be the current one.
  void SkipHidden(Direction direction);
  // Called when a move has found its entry, if any.
  void Arrive();
  // True in a forked child; then sets status_ to an error.
  [[nodiscard]] bool IsForked();
  // Called before the iterator moves to a place other than the next or previous entry.
  void Leave();
  void FindLast();
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
  void MoveOn(Direction direction);
  // Moves the cursor, which is ahead of the iterator, back to the iterator's entry. False: it cannot.
  bool Return();
  void MoveCursor(Direction direction);
  // True if the iterator is at the first entry that was read ahead, not at the cursor.
  [[nodiscard]] bool IsAhead() const { return ahead_ != nullptr && !ahead_->empty(); }
  [[nodiscard]] Entry entry() const { return IsAhead() ? ahead_->entry() : cursor_->entry(); }
  [[nodiscard]] bool IsInline() const { return (IsAhead() ? ahead_->kind() : cursor_->kind()) == EntryKind::kInline; }
  // Estimates how many values the user will want from here on.
  [[nodiscard]] std::size_t Expected() const;
  // The same for values in memory. It is lower: reading them later costs less, and reading one that is not used costs
  // more.
  [[nodiscard]] std::size_t ExpectedInMemory() const;
  void FetchAhead(std::size_t count, bool first_is_missing = false);
  Status ReadHere();
  void PrefetchMapped(std::size_t expected, const Entry& here);
  // Reads the value, which is not inline. False: it cannot be read, and status_ says why.
  bool FetchValue();
  [[nodiscard]] bool IsBelowLower(Slice key) const;
  [[nodiscard]] bool IsAtOrAboveUpper(Slice key) const;

  const IteratorSource& source_;
  const DbContext& db_;
  const std::shared_ptr<const Family> family_;
  const ReadOptions options_;
  const std::shared_ptr<const View> view_;
  const SequenceNumber sequence_;
  std::optional<std::string> lower_;
  std::optional<std::string> upper_;
  Direction direction_ = Direction::kForward;
  std::unique_ptr<TracedScan> traced_;  // null: the scan is not traced
  std::size_t streak_ = 0;              // number of consecutive values before this position that were read
  std::optional<MergeCursor> cursor_;   // over memtables and layers; empty only at the end of the destructor
  bool inside_ = false;                 // the cursor is at a visible entry
  std::unique_ptr<ScanAhead> ahead_;    // null until several values are read together
  ScanPiece piece_;                     // values in memory that lie near each other
  Status status_;
  bool is_lost_ = false;     // since Lose; an error that needs no memory
  mutable std::string key_;  // of the cursor's entry, if has_key_
  mutable bool has_key_ = false;
  bool fetched_ = false;        // value_ is the entry's value, which is not inline
  std::size_t prefetched_ = 0;  // number of values ahead that were prefetched into the processor's caches
  std::string buffer_;
  Slice value_;
};

}  // namespace cambium
