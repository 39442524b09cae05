// LogTable: a memtable that knows where in the log recovery would have to start in order to fill it again.
#pragma once

#include <atomic>
#include <cassert>

#include "cambium/types.h"
#include "manifest/state.h"
#include "memtable/memtable.h"

namespace cambium {

// A place in the log between two batches.
struct LogPlace {
  LogPosition position;         // where the next batch begins
  SequenceNumber sequence = 0;  // of the last operation before it
  friend bool operator==(const LogPlace&, const LogPlace&) = default;
};

class LogTable final : public MemTable {
 public:
  using MemTable::MemTable;

  // Called by the writer before the first Add: the batch of that Add begins at `place`, and
  // WriteHead::logged_bytes was `log_bytes_before` before this batch.
  void StartAt(const LogPlace& place, std::uint64_t log_bytes_before) {
    assert(!started() && empty() && "a table begins before its first operation");
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

 private:
  std::atomic<bool> started_{false};
  std::atomic<std::uint64_t> segment_{0};
  std::atomic<std::uint64_t> offset_{0};
  std::atomic<SequenceNumber> sequence_{0};
  std::atomic<std::uint64_t> log_bytes_before_{0};
};

}  // namespace cambium
