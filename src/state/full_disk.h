// FullDisk: what the database knows of a disk without space, and the reserve that it keeps for it. The rules are in
// gc/reserve.h; DiskKeeper carries them out.
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
  // The disk is full: the reserve has been given back, and only deletes are taken until it can be made again.
  std::atomic<bool> is_on{false};
  std::atomic<bool> is_ticking{false};         // a look at whether it still is, is scheduled
  std::atomic<bool> is_rescue_due{false};      // that look has asked for one
  std::atomic<std::uint64_t> reserve_bytes{0};
  std::atomic<std::uint64_t> wanted_bytes{0};  // of the reserve, for the database of now; 0: it is too small for one
  std::atomic<std::uint64_t> rescue_at{0};     // in WriteHead::logged_bytes: when deletes wait for a rescue again
  std::atomic<std::uint64_t> look_at{0};       // in WriteHead::logged_bytes: when a writer asks again how much is free

  [[nodiscard]] bool IsFull() const { return is_on.load(std::memory_order_relaxed); }
  // The part of a reserve that is given back; the rest is for the next Open.
  [[nodiscard]] static std::uint64_t Releasable(std::uint64_t bytes) { return bytes - KeptForOpening(bytes); }
  // The reserve is to be made, resized, or, on a full disk, looked at.
  [[nodiscard]] bool IsReserveDue() const {
    return IsFull() || IsWorthResizing(reserve_bytes.load(std::memory_order_relaxed),
                                       wanted_bytes.load(std::memory_order_relaxed));
  }
  // What a step of a job may take on a full disk.
  [[nodiscard]] std::uint64_t StepBytes() const {
    constexpr std::uint64_t kLeast = 16u << 10;
    return std::max(kLeast, Releasable(wanted_bytes.load(std::memory_order_relaxed)) / 4);
  }

  // Held while the file is created, resized or removed. No other lock is held when it is taken; under it, only those of
  // Events and of the logger are taken.
  mutable Mutex mutex;
  std::uint64_t number CAMBIUM_GUARDED_BY(mutex) = 0;    // of the file; 0: there is none
  std::unique_ptr<File> file CAMBIUM_GUARDED_BY(mutex);
};

}  // namespace cambium
