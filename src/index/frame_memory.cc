#include "index/frame_memory.h"

#include <cassert>
#include <cstdint>
#include <new>
#include <utility>

#include "io/system_memory.h"
#include "io/system_page.h"
#include "util/mutant.h"
#include "util/sanitizer.h"

namespace cambium {
namespace {

// AddressSanitizer can check the ends only of blocks that its own allocator has handed out.
bool IsEachBlockAlone() { return kUnderAddressSanitizer || MutantIs(Mutant::kPagesFromMalloc); }

std::size_t RoundUp(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

}  // namespace

struct FrameMemory::FreeBlock {
  FreeBlock* next;
};

// At the start of its memory, which lies at a multiple of kRegionBytes.
struct alignas(FrameMemory::kAlignment) FrameMemory::Region {
  std::size_t block_bytes = 0;
  std::size_t used = 0;        // blocks in use
  FreeBlock* freed = nullptr;  // blocks that were used before
  char* untouched = nullptr;   // blocks from here on were never used, so the system has not backed them with memory
  Region* next = nullptr;      // in its list, if it has a free block
  Region* previous = nullptr;

  [[nodiscard]] char* end() { return reinterpret_cast<char*>(this) + kRegionBytes; }
  [[nodiscard]] bool HasRoom() { return freed != nullptr || untouched + block_bytes <= end(); }
  static Region* Of(char* block) {
    return reinterpret_cast<Region*>(reinterpret_cast<std::uintptr_t>(block) / kRegionBytes * kRegionBytes);
  }
};

FrameMemory::~FrameMemory() {
  if (spare_ != nullptr) {
    ReturnSystemMemory(spare_, kRegionBytes);
    held_bytes_ -= kRegionBytes;
  }
  assert(held_bytes_ == 0);
}

void FrameMemory::Link(Region* region) noexcept {
  Region*& first = with_room_[region->block_bytes / kClassBytes - 1];
  region->previous = nullptr;
  region->next = first;
  if (first != nullptr) first->previous = region;
  first = region;
}

void FrameMemory::Unlink(Region* region) noexcept {
  if (region->next != nullptr) region->next->previous = region->previous;
  if (region->previous != nullptr) {
    region->previous->next = region->next;
  } else {
    with_room_[region->block_bytes / kClassBytes - 1] = region->next;
  }
}

FrameMemory::Region* FrameMemory::AddRegion(std::size_t block_bytes) {
  void* memory = std::exchange(spare_, nullptr);
  if (memory == nullptr) {
    memory = TakeSystemMemory(kRegionBytes, kRegionBytes, /*huge_pages=*/false);
    if (memory == nullptr) throw std::bad_alloc();
    held_bytes_ += kRegionBytes;
  }
  auto* const region = new (memory) Region;
  region->block_bytes = block_bytes;
  region->untouched = static_cast<char*>(memory) + sizeof(Region);
  Link(region);
  return region;
}

char* FrameMemory::Allocate(std::size_t size) {
  if (IsEachBlockAlone()) return static_cast<char*>(::operator new (size, std::align_val_t{kAlignment}));
  const std::size_t block_bytes = RoundUp(size, kClassBytes);
  if (block_bytes > kClasses * kClassBytes) {
    const std::size_t bytes = RoundUp(size, SystemPageBytes());
    void* const memory = TakeSystemMemory(bytes, SystemPageBytes(), /*huge_pages=*/false);
    if (memory == nullptr) throw std::bad_alloc();
    held_bytes_ += bytes;
    return static_cast<char*>(memory);
  }
  Region* region = with_room_[block_bytes / kClassBytes - 1];
  if (region == nullptr) region = AddRegion(block_bytes);
  char* block = nullptr;
  if (region->freed != nullptr) {
    block = reinterpret_cast<char*>(std::exchange(region->freed, region->freed->next));
  } else {
    block = std::exchange(region->untouched, region->untouched + block_bytes);
  }
  ++region->used;
  if (!region->HasRoom()) Unlink(region);
  return block;
}

void FrameMemory::Free(char* block, std::size_t size) noexcept {
  if (IsEachBlockAlone()) return ::operator delete (block, std::align_val_t{kAlignment});
  if (RoundUp(size, kClassBytes) > kClasses * kClassBytes) {
    const std::size_t bytes = RoundUp(size, SystemPageBytes());
    assert(held_bytes_ >= bytes);
    ReturnSystemMemory(block, bytes);
    held_bytes_ -= bytes;
    return;
  }
  Region* const region = Region::Of(block);
  assert(region->block_bytes == RoundUp(size, kClassBytes) && region->used > 0);
  if (!region->HasRoom()) Link(region);
  region->freed = new (block) FreeBlock{region->freed};
  if (--region->used > 0) return;
  Unlink(region);
  if (spare_ != nullptr) {
    ReturnSystemMemory(region, kRegionBytes);
    held_bytes_ -= kRegionBytes;
  } else {
    spare_ = region;
  }
}

}  // namespace cambium
