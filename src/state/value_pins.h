// ValuePins: counts the values that users hold in mappings of segments (ReadOptions::pin_mapped_values). The database
// cannot be closed while there are any: the release of a slice writes here, and may queue the file of its segment for
// removal.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "cambium/pinnable_slice.h"
#include "util/fork_guard.h"
#include "util/thread_stripe.h"
#include "vlog/segment.h"

namespace cambium {

// Any thread. A pin may be made by one thread and released by another.
class ValuePins {
 public:
  // *slice refers to `value`, and keeps the segment until it is changed or destroyed. If memory runs out, nothing has
  // changed.
  void Pin(PinnableSlice* slice, Slice value, std::shared_ptr<Segment> segment) {
    std::function<void()> release = Release{this, std::move(segment)};
    const ThreadStripe mine = ThreadStripe::OfThisThread();
    mine.Add(&lines_[mine.index()].pinned, 1);
    slice->PinSlice(value, std::move(release));
  }
  // Exact while no other thread pins or releases. If it is 0, the effects of all releases are visible to the caller.
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const Line& line : lines_) {
      // In this order: a pin that is released meanwhile counts at most once too often.
      const std::uint64_t released = line.released.load(std::memory_order_acquire);
      sum += line.pinned.load(std::memory_order_relaxed) - released;
    }
    return sum;
  }

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> pinned{0};
    std::atomic<std::uint64_t> released{0};
  };
  struct Release {
    ValuePins* pins;
    std::shared_ptr<Segment> segment;
    std::uint64_t fork_generation = ForkGeneration();

    void operator()() {
      // In a forked child nothing of the parent's database is destroyed.
      if (ForkGeneration() != fork_generation) {
        alignas(std::shared_ptr<Segment>) std::byte kept[sizeof(segment)];
        new (kept) std::shared_ptr<Segment>(std::move(segment));
        return;
      }
      segment.reset();
      pins->lines_[ThreadStripe::OfThisThread().index()].released.fetch_add(1, std::memory_order_release);
    }
  };

  std::array<Line, ThreadStripe::kCount> lines_;
};

}  // namespace cambium
