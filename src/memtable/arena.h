// Arena: the memory of a memtable, allocated in chunks and freed all at once.
//
//   chunk:  next | front ->   free   <- back
//
// Nodes are taken from the front, because they need whole cache lines; records, which have any size and no alignment,
// from the back. So neither costs the other padding.
//
// Only Reserve() may fail: the Take*() calls hand out reserved memory without a system call. One thread at a time.
// Memory handed out stays valid, and does not move, until the arena is destroyed.
#pragma once

#include <cstddef>

#include "cambium/status.h"
#include "memtable/budget_charges.h"

namespace cambium {

class Arena {
 public:
  // Returns memory aligned to kChunkAlignment, or nullptr. Tests pass a function that may fail, and whose memory
  // std::free() can free.
  using Allocate = void* (*)(std::size_t bytes);

  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kChunkAlignment = kCacheLine;

  // `bytes`, rounded up to whole cache lines.
  [[nodiscard]] static constexpr std::size_t LinesOf(std::size_t bytes) {
    return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  }

  Arena();
  // All chunks are charged to *charge, which outlives the arena; null: to nothing.
  explicit Arena(TableCharge* charge);
  explicit Arena(Allocate allocate, TableCharge* charge = nullptr) : allocate_(allocate), charge_(charge) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Ensures that `bytes` in all can be taken, in pieces of any size. Returns Aborted and changes nothing if memory is
  // short, and Busy if the budget refuses the claim. Two calls without a Take between them do not add up: the larger one
  // counts.
  Status Reserve(std::size_t bytes, BudgetClaim claim = BudgetClaim::kExceeds) {
    if (bytes <= static_cast<std::size_t>(back_ - front_)) return {};
    return ReserveSpare(bytes, claim);
  }
  // Gives back reserved memory that is not taken, except the rest of a chunk that is in use.
  void DropSpare();

  // `bytes` must be a multiple of kCacheLine; the result is aligned to it.
  [[nodiscard]] void* TakeLines(std::size_t bytes);
  [[nodiscard]] char* TakeBytes(std::size_t bytes);

  // The bytes taken. Reserved memory is not counted: it is untouched, so the kernel has not backed it with pages.
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  struct Chunk;

  void Free(Chunk* chunk);
  Status ReserveSpare(std::size_t bytes, BudgetClaim claim);
  void SwitchToSpare(std::size_t needed);

  Allocate allocate_;
  TableCharge* const charge_;
  char* front_ = nullptr;
  char* back_ = nullptr;
  Chunk* chunks_ = nullptr;  // first the one that front_ and back_ are in, then older ones
  Chunk* spare_ = nullptr;   // reserved and untouched
  std::size_t next_chunk_bytes_ = std::size_t{2} << 10;  // twice the last chunk that was needed
  std::size_t used_bytes_ = 0;
};

}  // namespace cambium
