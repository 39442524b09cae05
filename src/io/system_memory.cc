#include "io/system_memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace cambium {
namespace {

char* Map(std::size_t bytes) {
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
}

}  // namespace

void* TakeSystemMemory(std::size_t bytes, std::size_t alignment, bool huge_pages) noexcept {
  char* memory = Map(bytes);
  if (memory == nullptr) return nullptr;
  // The kernel puts mappings next to each other, so one of the same size and alignment as the last is aligned too, and
  // joins it. Only the first needs room to choose from.
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) {
    ::munmap(memory, bytes);
    char* const mapped = Map(bytes + alignment);
    if (mapped == nullptr) return nullptr;
    const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(mapped) % alignment) % alignment;
    memory = mapped + before;
    if (before > 0) ::munmap(mapped, before);
    if (before < alignment) ::munmap(memory + bytes, alignment - before);
  }
  if (huge_pages) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));  // a hint
  return memory;
}

void ReturnSystemMemory(void* memory, std::size_t bytes) noexcept { ::munmap(memory, bytes); }

}  // namespace cambium
