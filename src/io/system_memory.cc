#include "io/system_memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace cambium {

void* TakeSystemMemory(std::size_t bytes, std::size_t alignment, bool huge_pages) noexcept {
  const std::size_t mapped_bytes = bytes + alignment;
  void* const mapped =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // The ends that the alignment leaves over go back at once.
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = (alignment - begin % alignment) % alignment;
  char* const memory = static_cast<char*>(mapped) + before;
  if (before > 0) ::munmap(mapped, before);
  ::munmap(memory + bytes, mapped_bytes - before - bytes);
  if (huge_pages) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));  // a hint
  return memory;
}

void ReturnSystemMemory(void* memory, std::size_t bytes) noexcept { ::munmap(memory, bytes); }

}  // namespace cambium
