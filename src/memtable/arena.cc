#include "memtable/arena.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "io/system_allocator.h"
#include "io/system_memory.h"
#include "memtable/write_budget.h"

namespace cambium {
namespace {

// Chunks double from 2 KiB to the size of a huge page, or to a small part of the budget. They begin small because there
// may be thousands of families with a few keys each. With huge pages a million keys need some 30 address translations
// instead of 15,000.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// No machine has more memory: a larger request is a wrong size, and fails without a system call.
constexpr std::size_t kReserveMax = std::size_t{1} << 46;

// Large chunks go back to the system when their memtable is destroyed. malloc would keep them for the thread that
// wrote.
void* AllocateDefault(std::size_t bytes) {
  return bytes < kHugePage ? AllocateLarge(bytes, Arena::kChunkAlignment)
                           : TakeSystemMemory(bytes, kHugePage, /*huge_pages=*/true);
}

}  // namespace

// The header of a chunk, at the start of its memory.
struct alignas(Arena::kCacheLine) Arena::Chunk {
  Chunk* next;
  std::size_t bytes;  // this header included

  char* begin() { return reinterpret_cast<char*>(this + 1); }
  char* end() { return reinterpret_cast<char*>(this) + bytes; }
  [[nodiscard]] std::size_t room() const { return bytes - sizeof(Chunk); }
};

Arena::Arena() : Arena(&AllocateDefault) {}
Arena::Arena(TableCharge* charge) : Arena(&AllocateDefault, charge) {}

Arena::~Arena() {
  Free(spare_);
  while (chunks_ != nullptr) Free(std::exchange(chunks_, chunks_->next));
}

void Arena::Free(Chunk* chunk) {
  if (chunk == nullptr) return;
  const std::size_t bytes = chunk->bytes;
  if (allocate_ != &AllocateDefault) {
    std::free(chunk);
  } else if (bytes >= kHugePage) {
    ReturnSystemMemory(chunk, bytes);
  } else {
    FreeLarge(chunk, bytes, kChunkAlignment);
  }
}

Status Arena::ReserveSpare(std::size_t bytes, BudgetClaim claim) {
  if (spare_ != nullptr && bytes <= spare_->room()) return {};
  if (bytes > kReserveMax) {
    return Status::OutOfMemory(std::to_string(bytes) + " bytes at once for a memtable");
  }
  const WriteBudget* const budget = charge_ == nullptr ? nullptr : charge_->budget();
  const std::size_t largest = budget == nullptr ? kHugePage : budget->ChunkBytesMax();
  std::size_t chunk_bytes = std::max(bytes + sizeof(Chunk), std::min(next_chunk_bytes_, largest));
  const std::size_t unit = chunk_bytes < kHugePage ? kCacheLine : kHugePage;
  chunk_bytes = (chunk_bytes + unit - 1) / unit * unit;
  if (charge_ != nullptr && !charge_->Add(chunk_bytes, claim)) {
    return Status::Busy("the write buffer budget has no room for " + std::to_string(chunk_bytes) + " bytes");
  }
  void* memory = allocate_(chunk_bytes);
  if (memory == nullptr) {
    if (charge_ != nullptr) charge_->Remove(chunk_bytes);
    return Status::OutOfMemory("a chunk of " + std::to_string(chunk_bytes) + " bytes for a memtable");
  }
  DropSpare();
  spare_ = new (memory) Chunk{nullptr, chunk_bytes};
  assert(spare_->room() >= bytes);
  return {};
}

void Arena::DropSpare() {
  if (spare_ == nullptr) return;
  const std::size_t bytes = spare_->bytes;
  Free(std::exchange(spare_, nullptr));
  if (charge_ != nullptr) charge_->Remove(bytes);
}

// The rest of the old chunk is wasted: less than the piece that did not fit.
void Arena::SwitchToSpare(std::size_t needed) {
  assert(spare_ != nullptr && needed <= spare_->room());  // else a bug: a Take without a Reserve
  if (spare_ == nullptr || needed > spare_->room()) std::abort();  // better than overwriting other memory
  spare_->next = chunks_;
  chunks_ = spare_;
  spare_ = nullptr;
  front_ = chunks_->begin();
  back_ = chunks_->end();
  next_chunk_bytes_ = std::min(2 * next_chunk_bytes_, kHugePage);
}

void* Arena::TakeLines(std::size_t bytes) {
  assert(bytes % kCacheLine == 0);
  if (bytes > static_cast<std::size_t>(back_ - front_)) SwitchToSpare(bytes);
  void* taken = front_;
  assert(reinterpret_cast<std::uintptr_t>(taken) % kCacheLine == 0);
  front_ += bytes;
  used_bytes_ += bytes;
  return taken;
}

char* Arena::TakeBytes(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(back_ - front_)) SwitchToSpare(bytes);
  back_ -= bytes;
  used_bytes_ += bytes;
  return back_;
}

}  // namespace cambium
