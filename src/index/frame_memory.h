// FrameMemory: the memory of the pages in a pool. It comes from the system in regions of 1 MiB, and goes back to it.
//
//   region:  header | block | block | ...      all of one size, a multiple of 512 bytes
//
// Not from malloc: pages come and go in different threads, and malloc keeps what was freed for the thread that had
// allocated it. A tree of small values that was loaded with a pool of 256 MiB left 600 MiB of such holes.
//
// A region goes back when its last block is freed. While pages of one size replace pages of another size, the pool holds
// regions of both sizes: at most about twice the bytes in use.
#pragma once

#include <array>
#include <cstddef>

namespace cambium {

// One thread at a time.
class FrameMemory {
 public:
  static constexpr std::size_t kAlignment = 64;  // a cache line

  FrameMemory() = default;
  ~FrameMemory();  // all blocks have been freed
  FrameMemory(const FrameMemory&) = delete;
  FrameMemory& operator=(const FrameMemory&) = delete;

  // Returns `size` > 0 bytes, aligned to kAlignment. Throws std::bad_alloc.
  [[nodiscard]] char* Allocate(std::size_t size);
  // `size` as for Allocate.
  void Free(char* block, std::size_t size) noexcept;

  // The bytes taken from the system.
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }

 private:
  static constexpr std::size_t kRegionBytes = std::size_t{1} << 20;
  static constexpr std::size_t kClassBytes = 512;
  static constexpr std::size_t kClasses = 128;  // sizes up to 64 KiB; a larger block has a region of its own

  struct FreeBlock;
  struct Region;

  // Takes a region for blocks of this size, and links it.
  Region* AddRegion(std::size_t block_bytes);
  void Link(Region* region) noexcept;
  void Unlink(Region* region) noexcept;

  std::array<Region*, kClasses> with_room_ = {};  // by class: the first of the regions that have a free block
  Region* spare_ = nullptr;                       // an empty region for the next block of any class
  std::size_t held_bytes_ = 0;
};

}  // namespace cambium
