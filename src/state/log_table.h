// LogTable: a memtable that knows where in the log recovery would have to start in order to fill it again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include "cambium/types.h"
#include "manifest/state.h"
#include "memtable/memtable.h"
#include "util/mutant.h"

namespace cambium {

// A place in the log between two batches.
struct LogPlace {
  LogPosition position;         // where the next batch begins
  SequenceNumber sequence = 0;  // of the last operation before it
  friend bool operator==(const LogPlace&, const LogPlace&) = default;
};

// The bytes of the memtables that only readers keep.
using ReaderTableBytes = std::atomic<std::size_t>;

class LogTable final : public MemTable {
 public:
  using MemTable::MemTable;
  ~LogTable() {
    if (counted_in_ == nullptr || MutantIs(Mutant::kReaderTablesStayCounted)) return;
    counted_in_->fetch_sub(counted_bytes_, std::memory_order_relaxed);
  }

  // Called by the writer before the first Add: the batch of that Add begins at `place`, and
  // WriteHead::logged_bytes was `log_bytes_before` before this batch.
  void StartAt(const LogPlace& place, std::uint64_t log_bytes_before) {
    assert(!started() && empty() && "a memtable begins before its first operation");
    segment_.store(place.position.segment, std::memory_order_relaxed);
    offset_.store(place.position.offset, std::memory_order_relaxed);
    sequence_.store(place.sequence, std::memory_order_relaxed);
    log_bytes_before_.store(log_bytes_before, std::memory_order_relaxed);
    started_.store(true, std::memory_order_release);
  }
  // Any thread. The functions below may be called once this is true.
  [[nodiscard]] bool started() const { return started_.load(std::memory_order_acquire); }
  [[nodiscard]] LogPlace begin() const {
    assert(started());
    return {{segment_.load(std::memory_order_relaxed), offset_.load(std::memory_order_relaxed)},
            sequence_.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] std::uint64_t log_bytes_before() const { return log_bytes_before_.load(std::memory_order_relaxed); }
  // True if a reader at `sequence` sees nothing of the memtable, now or later.
  [[nodiscard]] bool IsNewerThan(SequenceNumber sequence) const { return !started() || begin().sequence >= sequence; }

  // The memory that the memtable counts for: what it uses, or what it has taken from its budget.
  [[nodiscard]] std::size_t counted_bytes() const { return std::max(memory_bytes(), charge().bytes()); }
  // The current view no longer has the memtable: only readers keep it, and nothing will flush it. Its memory is counted
  // in `bytes` until it is freed. Called once, and no writer uses the memtable any more.
  void LeaveToReaders(std::shared_ptr<ReaderTableBytes> bytes) const {
    assert(counted_in_ == nullptr && "a memtable leaves the current view once");
    charge().Flushed();
    counted_bytes_ = counted_bytes();
    counted_in_ = std::move(bytes);
    counted_in_->fetch_add(counted_bytes_, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> started_{false};
  std::atomic<std::uint64_t> segment_{0};
  std::atomic<std::uint64_t> offset_{0};
  std::atomic<SequenceNumber> sequence_{0};
  std::atomic<std::uint64_t> log_bytes_before_{0};
  // Set by LeaveToReaders and read by the destructor. Null: the memtable is in the current view, or in none.
  mutable std::shared_ptr<ReaderTableBytes> counted_in_;
  mutable std::size_t counted_bytes_ = 0;
};

}  // namespace cambium
