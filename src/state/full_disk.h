// FullDisk: whether the disk is full, and the reserve that the database keeps for that case. The rules are in
// gc/reserve.h; DiskKeeper applies them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "cambium/file_system.h"
#include "gc/reserve.h"
#include "util/mutex.h"

namespace cambium {

struct FullDisk {
  // The disk is full: the reserve has been released, and only deletes are accepted until there is space to make it
  // again.
  std::atomic<bool> is_on{false};
  std::atomic<bool> is_ticking{false};         // a check whether the disk is still full is scheduled
  std::atomic<bool> is_rescue_due{false};      // that check has asked for a rescue
  std::atomic<std::uint64_t> reserve_bytes{0};
  std::atomic<std::uint64_t> wanted_bytes{0};  // wanted size of the reserve; 0: the database is too small for one
  // The part of the reserve that is for the keys of values that log GC moves, and the bytes that the next Open needs for
  // its MANIFEST. Each measurement of space sets both.
  std::atomic<std::uint64_t> bytes_for_keys{0};
  std::atomic<std::uint64_t> bytes_for_open{0};
  // Writes leave this many bytes free for compactions of indexes (gc/compaction_room.h). Each measurement of space sets
  // it.
  std::atomic<std::uint64_t> compaction_room{0};
  // The number of compactions that may run at once and share the free space.
  std::atomic<std::uint64_t> compactions_at_once{1};
  // Flushes under way may write this many bytes into trees, beyond the bytes of their memtables.
  std::atomic<std::uint64_t> merging_bytes{0};
  // Writers that wait until compactions have made room, though the disk does not count as full. Until then compactions
  // are urgent.
  std::atomic<int> waiting_for_room{0};
  std::atomic<std::uint64_t> rescue_at{0};     // WriteHead::logged_bytes at which the next delete waits for a rescue
  std::atomic<int> quiet_ticks{0};             // checks in a row that found no job, and nothing changed since the last
  std::uint64_t free_at_tick = 0;              // the free bytes at the last check; only the tick uses them
  std::uint64_t logged_at_tick = 0;            // WriteHead::logged_bytes then; only the tick uses them
  std::atomic<std::uint64_t> look_at{0};       // WriteHead::logged_bytes at which a writer asks for the free space

  [[nodiscard]] bool IsFull() const { return is_on.load(std::memory_order_relaxed); }
  // The part of a reserve that is released on a full disk; the rest is kept for the next Open.
  [[nodiscard]] static std::uint64_t Releasable(std::uint64_t bytes) { return bytes - KeptForOpen(bytes); }
  // True if the job kReserve has work: to make or resize the reserve, or to check whether a full disk is still full.
  [[nodiscard]] bool IsReserveDue() const {
    return IsFull() || IsWorthResizing(reserve_bytes.load(std::memory_order_relaxed),
                                       wanted_bytes.load(std::memory_order_relaxed));
  }
  // The disk counts as full, or writers wait for compactions before it does.
  [[nodiscard]] bool IsShort() const { return IsFull() || waiting_for_room.load(std::memory_order_relaxed) > 0; }
  // Returns how many of `free` bytes are left once the reserve has its wanted size.
  [[nodiscard]] std::uint64_t FreeBeyondReserve(std::uint64_t free) const {
    const std::uint64_t wanted = wanted_bytes.load(std::memory_order_relaxed);
    const std::uint64_t needed = wanted - std::min(wanted, reserve_bytes.load(std::memory_order_relaxed));
    return free - std::min(free, needed);
  }
  // The most bytes that one step of a job may write on a full disk.
  [[nodiscard]] std::uint64_t StepBytes() const {
    constexpr std::uint64_t kLeast = 16u << 10;
    return std::max(kLeast, Releasable(wanted_bytes.load(std::memory_order_relaxed)) / 8);
  }

  // Held while the file is created, resized or removed. The caller holds no other lock; under it, only the locks of
  // Events and of the logger are taken.
  mutable Mutex mutex;
  std::uint64_t number CAMBIUM_GUARDED_BY(mutex) = 0;    // of the file; 0: no reserve
  std::unique_ptr<File> file CAMBIUM_GUARDED_BY(mutex);
};

}  // namespace cambium
