// RangeWatches: tells a transaction that commits whether a key in the ranges that it has read was written since it has
// looked at the memtables. So the commit looks without a lock, however large the ranges are, and with the append lock
// it tests one flag.
//
//   commit   append lock: begin a watch ▶ look at the memtables, without a lock ▶ append lock: was it hit? ▶ append
//   writer   append lock: batch to the memtables ▶ mark the watches that it hits ▶ publish
//
// A watch begins under the append lock. So each batch was published before, and then the look finds it, or it is
// appended after, and then it marks the watch.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "state/key_intervals.h"
#include "state/lock_roles.h"
#include "vlog/prepared_batch.h"

namespace cambium {

// The watched keys of each family, by its id.
using WatchedKeys = std::map<std::uint32_t, KeyIntervals>;

class RangeWatches {
 public:
  // Begins and ends by RangeWatches; has ended before it is destroyed.
  class Watch {
   public:
    explicit Watch(WatchedKeys keys) : keys_(std::move(keys)) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    // Whether a batch that was appended since it began has put, deleted or range-deleted a watched key. A range delete
    // hits if it overlaps a watched interval.
    [[nodiscard]] bool is_hit() const CAMBIUM_REQUIRES(append_lock) { return is_hit_; }

   private:
    friend class RangeWatches;
    const WatchedKeys keys_;
    bool is_hit_ CAMBIUM_GUARDED_BY(append_lock) = false;
    Watch* next_ CAMBIUM_GUARDED_BY(append_lock) = nullptr;
  };

  void Begin(Watch* watch) CAMBIUM_REQUIRES(append_lock);
  void End(Watch* watch) noexcept CAMBIUM_REQUIRES(append_lock);
  // Called for each batch between its addition to the memtables and its publication. Costs one test while nothing is
  // watched.
  void Note(const PreparedBatch& batch) noexcept CAMBIUM_REQUIRES(append_lock) {
    if (first_ != nullptr) NoteInAll(batch);
  }

 private:
  void NoteInAll(const PreparedBatch& batch) noexcept CAMBIUM_REQUIRES(append_lock);

  Watch* first_ CAMBIUM_GUARDED_BY(append_lock) = nullptr;
};

}  // namespace cambium
