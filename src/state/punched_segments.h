// PunchedSegments: what is known of segments that log GC has looked at for values to punch, and those whose holes can be
// made now.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "gc/punch.h"
#include "util/mutex.h"

namespace cambium {

// Bytes of one segment.
struct PunchedBytes {
  std::uint64_t holes = 0;            // that are made, or will be when the last reader has gone
  std::uint64_t kept = 0;             // that stay of the records in question
  std::uint64_t pending = 0;          // of `holes`: not made yet
  std::uint64_t garbage_at_look = 0;  // that was left after the last look
};

// Any thread.
class PunchedSegments {
 public:
  // `on_ready` is called, outside any lock of this class, whenever a segment's holes can be made. May run in a reader's
  // thread, so it must do no more than schedule.
  explicit PunchedSegments(std::function<void()> on_ready) : on_ready_(std::move(on_ready)) {}

  [[nodiscard]] PunchedBytes Of(std::uint64_t number) const {
    const MutexLock lock(mutex_);
    const auto found = known_.find(number);
    return found == known_.end() ? PunchedBytes{} : found->second;
  }
  // False: its holes were made by an earlier opening, or were to be, and have not been counted yet.
  [[nodiscard]] bool Knows(std::uint64_t number) const {
    const MutexLock lock(mutex_);
    return known_.contains(number);
  }
  void Set(std::uint64_t number, const PunchedBytes& bytes) {
    const MutexLock lock(mutex_);
    known_[number] = bytes;
  }
  void Forget(std::uint64_t number) {
    const MutexLock lock(mutex_);
    known_.erase(number);
  }

  // Values of a segment that nobody reads any more.
  struct ReadyHoles {
    std::uint64_t number = 0;
    PunchPlan plan;
  };
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
  std::vector<ReadyHoles> ready_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
