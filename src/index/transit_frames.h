// TransitFrames: the frames of pages that are copied out of a mapped file for one use, and do not enter the pool.
//
//   unpinned ──Take──▶ closed: the taker copies a page into it ──Publish──▶ pinned ──Unpin──▶ unpinned
//
// Each stripe of threads has frames of its own, so taking one needs no lock and moves no cache line between cores. No
// cell points to them, and no branch remembers them. A frame that was given to this object is never used for a page of
// the pool: a thread that has found a pointer here and comes late can only take a frame that any thread may take.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "index/page_frame.h"
#include "util/thread_stripe.h"

namespace cambium {

class TransitFrames {
 public:
  // Enough for a MultiGet, which pins many pages, or for a few iterators. If all are pinned, pages enter the pool.
  static constexpr std::size_t kPerStripe = 64;

  // Returns a frame of the stripe with room for `size` bytes, and closes it. Null if it has none that is not pinned.
  // Any thread.
  [[nodiscard]] PageFrame* Take(ThreadStripe stripe, std::size_t size) {
    for (const auto& place : stripes_[stripe.index()]) {
      PageFrame* const frame = place.load(std::memory_order_acquire);
      if (frame == nullptr) return nullptr;
      if (frame->state.load(std::memory_order_relaxed) != 0 || !frame->TryClose()) continue;
      if (frame->size >= size) return frame;
      frame->Publish(0);
    }
    return nullptr;
  }

  [[nodiscard]] bool HasRoom(ThreadStripe stripe) const {
    return stripes_[stripe.index()].back().load(std::memory_order_relaxed) == nullptr;
  }
  // Requires HasRoom. One thread at a time; others may call Take.
  void Add(ThreadStripe stripe, PageFrame* frame) {
    for (auto& place : stripes_[stripe.index()]) {
      if (place.load(std::memory_order_relaxed) != nullptr) continue;
      place.store(frame, std::memory_order_release);
      return;
    }
  }

  // Removes all frames that are not pinned, and calls `visit` with each, closed. One thread at a time; others may call
  // Take.
  template <typename Visitor>
  void RemoveUnused(Visitor visit) {
    for (Stripe& stripe : stripes_) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < kPerStripe; ++i) {
        PageFrame* const frame = stripe[i].load(std::memory_order_relaxed);
        if (frame == nullptr) break;
        stripe[i].store(nullptr, std::memory_order_relaxed);
        if (frame->TryClose()) {
          visit(frame);
        } else {
          stripe[kept++].store(frame, std::memory_order_release);
        }
      }
    }
  }

 private:
  using Stripe = std::array<std::atomic<PageFrame*>, kPerStripe>;  // its frames, then nulls
  std::array<Stripe, ThreadStripe::kCount> stripes_{};
};

}  // namespace cambium
