// Memory that comes from the system, and goes back to it, without malloc: malloc keeps freed memory for the thread that
// allocated it.
#pragma once

#include <cstddef>

namespace cambium {

// Returns `bytes` zeros at a multiple of `alignment`, or null. Both are multiples of the system's page size. With
// `huge_pages`, asks the kernel for huge pages.
[[nodiscard]] void* TakeSystemMemory(std::size_t bytes, std::size_t alignment, bool huge_pages) noexcept;
void ReturnSystemMemory(void* memory, std::size_t bytes) noexcept;

}  // namespace cambium
