// Arena: memory for a table, taken in chunks and given back all at once.
//
//   chunk:  next | front ->   free   <- back
//
// Nodes are taken from the front, because they want cache lines of their own; records, which have any size and no
// alignment, from the back. So neither pays padding for the other.
//
// Reserve() is the only call that may fail; what it promised, the Take*() calls hand out without asking the system.
// Threads: one at a time. Memory handed out stays where it is until the arena dies.
#pragma once

#include <cstddef>

#include "cambium/status.h"

namespace cambium {

class Arena {
 public:
  // Returns memory aligned to kChunkAlignment, or nullptr; std::free() gives it back. A test puts a failing one here.
  using Allocate = void* (*)(std::size_t bytes);

  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kChunkAlignment = kCacheLine;

  Arena();
  explicit Arena(Allocate allocate) : allocate_(allocate) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Makes sure that `bytes` in all can be taken, in pieces of any size. Aborted if memory is short; then nothing has
  // changed. Without a Take in between a second promise replaces the first: the larger holds.
  Status Reserve(std::size_t bytes) {
    if (bytes <= static_cast<std::size_t>(back_ - front_)) return {};
    return ReserveSpare(bytes);
  }

  // `bytes` a multiple of kCacheLine; the result is aligned to it.
  [[nodiscard]] void* TakeLines(std::size_t bytes);
  [[nodiscard]] char* TakeBytes(std::size_t bytes);

  // What was taken. Reserved memory is not counted: nobody has touched it, so the system has not given it.
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  struct Chunk;

  Status ReserveSpare(std::size_t bytes);
  void SwitchToSpare(std::size_t needed);

  Allocate allocate_;
  char* front_ = nullptr;
  char* back_ = nullptr;
  Chunk* chunks_ = nullptr;  // the one between front_ and back_ first, then older ones
  Chunk* spare_ = nullptr;   // reserved and untouched
  std::size_t next_chunk_bytes_ = std::size_t{8} << 10;
  std::size_t used_bytes_ = 0;
};

}  // namespace cambium
