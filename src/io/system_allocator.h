// SystemAllocator: an allocator for containers that grow large and live for a short time, or are freed by another
// thread than the one that allocated them. From kSystemBytesMin on, their memory comes from the system and goes back to
// it: malloc would keep it for the thread that had allocated it. An LSM that was loaded with two flush and compaction
// threads left 39 MiB of such holes in 45 MiB.
#pragma once

#include <cstddef>
#include <new>

#include "io/system_memory.h"
#include "io/system_page.h"
#include "util/mutant.h"

namespace cambium {

// A request of this size costs a few hundred page faults at most, which filling the memory costs anyway.
inline constexpr std::size_t kSystemBytesMin = std::size_t{64} << 10;

// `bytes` at a multiple of `alignment`, at most 4096; null if memory is short. Freed by FreeLarge with the same
// `bytes`.
[[nodiscard]] void* AllocateLarge(std::size_t bytes, std::size_t alignment) noexcept;
void FreeLarge(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

template <typename T>
class SystemAllocator {
 public:
  using value_type = T;
  SystemAllocator() = default;
  template <typename U>
  SystemAllocator(const SystemAllocator<U>& /*other*/) {}  // NOLINT: allocators convert
  [[nodiscard]] T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    void* const memory = AllocateLarge(n * sizeof(T), alignof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) noexcept { FreeLarge(memory, n * sizeof(T), alignof(T)); }
  friend bool operator==(const SystemAllocator&, const SystemAllocator&) { return true; }
};

}  // namespace cambium
