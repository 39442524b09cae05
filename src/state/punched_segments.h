// PunchedSegments: for each segment, how many of its bytes are punched or live; and the queue of holes that can be made
// now, because the punched values have no reader any more.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gc/punch.h"
#include "util/mutex.h"

namespace cambium {

// The figures of one segment, in bytes.
struct PunchedBytes {
  std::uint64_t holes = 0;            // of punched records and of the cut: made, or to be made after the last reader
  std::uint64_t kept = 0;             // of punched records, not in holes: header, key, and parts of blocks at both ends
  std::uint64_t pending = 0;          // the part of `holes` that is not made yet
  std::uint64_t garbage_at_look = 0;  // garbage that was left by the last look for values to punch
  // The live bytes that log GC found when it last looked all records up. Since then they can only have become fewer.
  // The account may give more bytes, since it counts hidden entries.
  std::uint64_t live_most = std::numeric_limits<std::uint64_t>::max();
};

// Any thread.
class PunchedSegments {
 public:
  // `on_ready` is called each time holes can be made, with no lock of this class held. It may run in a reader's thread,
  // so it must only schedule a job. It throws nothing.
  explicit PunchedSegments(std::function<void()> on_ready) : on_ready_(std::move(on_ready)) {}

  [[nodiscard]] PunchedBytes Of(std::uint64_t number) const {
    const MutexLock lock(mutex_);
    const auto found = known_.find(number);
    return found == known_.end() ? PunchedBytes{} : found->second;
  }
  // False if the figures of the segment are not set yet. Then holes from before this Open, made or planned, are not
  // counted.
  [[nodiscard]] bool Knows(std::uint64_t number) const {
    const MutexLock lock(mutex_);
    return known_.contains(number);
  }
  void Set(std::uint64_t number, const PunchedBytes& bytes) {
    assert(bytes.pending <= bytes.holes);
    const MutexLock lock(mutex_);
    changed_.insert(number);  // first: a change must be known even if memory runs out now
    known_[number] = bytes;
  }
  void Forget(std::uint64_t number) {
    const MutexLock lock(mutex_);
    known_.erase(number);
    changed_.erase(number);
  }
  // The segments whose figures were set since the last call.
  [[nodiscard]] std::set<std::uint64_t> TakeChanged() {
    const MutexLock lock(mutex_);
    return std::exchange(changed_, {});
  }

  // The parts of a segment that no reader needs any more: punched records, and all bytes before a cut.
  struct ReadyHoles {
    std::uint64_t number = 0;
    PunchPlan plan;  // hole_bytes and kept_bytes are those of both
    std::uint64_t cut = 0;
  };
  // Queues holes to be made.
  void Ready(ReadyHoles holes) {
    {
      const MutexLock lock(mutex_);
      ready_.push_back(std::move(holes));
    }
    on_ready_();
  }
  [[nodiscard]] std::vector<ReadyHoles> TakeReady() {
    const MutexLock lock(mutex_);
    return std::exchange(ready_, {});
  }

 private:
  const std::function<void()> on_ready_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, PunchedBytes> known_ CAMBIUM_GUARDED_BY(mutex_);  // by number
  std::set<std::uint64_t> changed_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<ReadyHoles> ready_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
