// PageFrame: the memory of one page in the pool, and its pins. Only PagePool and PageRef use it.
#pragma once

#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "index/frame_memory.h"
#include "index/page_format.h"
#include "index/page_table.h"
#include "index/passing_reads.h"

namespace cambium {

// Frames live as long as the pool, because a thread may reach a frame late: it has loaded a cell (the pointer to the
// frame in PageTable), and meanwhile the frame was given to another page. Such a thread adds a pin, finds that the
// frame is closed or now belongs to another cell, and removes its pin. So a plain store never changes the state: pins
// are added and subtracted, and the closed bit is set and cleared, each in one atomic operation. A lookup reads members
// that are not atomic only while it holds a pin.
//
//   closed ──publish──▶ open, n pins ──n = 0: evict──▶ closed
//                                    ──file closed───▶ closed, n pins ──n = 0──▶ closed
struct alignas(64) PageFrame {
  static constexpr std::uint32_t kClosed = std::uint32_t{1} << 31;
  static constexpr std::uint8_t kLeafWarmth = 1;
  static constexpr std::uint8_t kBranchWarmth = 3;
  static constexpr std::size_t kAlignment = FrameMemory::kAlignment;

  // The frame in which a child of a branch was last seen. Only a hint: the reader pins the frame and checks that it
  // still holds that page. Frames are never freed, so the pointer is always safe to follow.
  struct Child {
    std::atomic<PageFrame*> frame{nullptr};
    // Where the bytes begin that a lookup in the child reads first: its heads, or its filter's blocks. Used only to
    // prefetch. For a filter, the low bits hold kIsFilter, and below it the logarithm of the number of blocks.
    std::atomic<std::uintptr_t> first{0};
    static constexpr std::uintptr_t kIsFilter = 32;
    static_assert(kIsFilter < kAlignment && kFilterBlockSize == kAlignment);

    void Remember(PageFrame* its_frame) {
      const BranchFilter& filter = its_frame->view.filter();
      const auto blocks = reinterpret_cast<std::uintptr_t>(filter.blocks);
      const auto heads = reinterpret_cast<std::uintptr_t>(its_frame->view.search_begin());
      const bool is_aligned = filter.count > 0 && blocks % kAlignment == 0;
      first.store(is_aligned ? blocks | kIsFilter | static_cast<unsigned>(std::countr_zero(filter.count))
                             : heads & ~(kAlignment - 1),
                  std::memory_order_relaxed);
      frame.store(its_frame, std::memory_order_release);
    }
    void PrefetchFirst(std::optional<std::uint64_t> hash) const {
      constexpr std::uintptr_t kBytes = 512;
      const std::uintptr_t at = first.load(std::memory_order_relaxed);
      const auto* const line = reinterpret_cast<const char*>(at & ~(kAlignment - 1));
      if ((at & kIsFilter) != 0) {
        if (hash.has_value()) __builtin_prefetch(line + FilterBlockOf(*hash, std::size_t{1} << (at % kIsFilter)) * kAlignment);
      } else {
        for (std::size_t i = 0; i < kBytes; i += kAlignment) __builtin_prefetch(line + i);
      }
    }
  };
  static_assert(sizeof(Child) == 16, "one per child of a branch, in addition to the page");

  PageFrame() = default;
  PageFrame(const PageFrame&) = delete;
  PageFrame& operator=(const PageFrame&) = delete;

  [[nodiscard]] bool TryPin() {
    if ((state.fetch_add(1, std::memory_order_acquire) & kClosed) == 0) return true;
    Unpin();
    return false;
  }
  // A lookup needs both of the frame's cache lines.
  void Prefetch() const { __builtin_prefetch(reinterpret_cast<const char*>(this) + kAlignment); }
  void Unpin() {
    [[maybe_unused]] const std::uint32_t before = state.fetch_sub(1, std::memory_order_release);
    assert((before & ~kClosed) > 0);
  }
  // Opens a closed frame with `pins` pins.
  void Publish(std::uint32_t pins) {
    [[maybe_unused]] const std::uint32_t before = state.fetch_sub(kClosed - pins, std::memory_order_release);
    assert((before & kClosed) != 0);
  }
  // Closes the frame if it is open and unpinned; returns whether it did.
  [[nodiscard]] bool TryClose() {
    std::uint32_t unpinned = 0;
    return state.compare_exchange_strong(unpinned, kClosed, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // Writes only if something changes: the line of a hot page stays shared, and only its pins move between cores.
  void Warm() {
    const std::uint8_t full = view.is_leaf() ? kLeafWarmth : kBranchWarmth;
    if (warmth.load(std::memory_order_relaxed) == full || PassingReads::AreOn()) return;
    warmth.store(full, std::memory_order_relaxed);
  }

  void TakeBytes(std::size_t n, FrameMemory* memory) {
    bytes = memory->Allocate(n);
    size = n;
  }
  void FreeBytes(FrameMemory* memory) {
    if (bytes != nullptr) memory->Free(bytes, size);
    bytes = nullptr;
    size = 0;
    children.reset();
  }

  std::atomic<std::uint32_t> state{kClosed};         // pins, and the closed bit
  std::atomic<std::uint8_t> warmth{0};               // rounds of the clock that it survives
  bool is_passing = false;                           // guarded by the pool's mutex; see passing_reads.h
  bool is_transit = false;                           // set once, before any page; see transit_frames.h
  std::atomic<PageTable::Cell*> cell{nullptr};       // the cell that points here, or null
  PagePointer pointer;                               // the page it holds
  PageView view;
  char* bytes = nullptr;
  std::size_t size = 0;
  std::unique_ptr<Child[]> children;  // of a branch: one per child
};
// Lookups do not need value_bytes_, the last member of a view.
static_assert(offsetof(PageFrame, view) + sizeof(PageView) - sizeof(std::uint64_t) <= 2 * PageFrame::kAlignment,
              "a lookup reads two cache lines of a frame");

}  // namespace cambium
