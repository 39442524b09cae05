#include "io/system_allocator.h"

#include <cstdlib>

#include "util/sanitizer.h"

namespace cambium {
namespace {

// AddressSanitizer can check the ends only of blocks that its own allocator has handed out.
bool IsFromSystem(std::size_t bytes) {
  return !kUnderAddressSanitizer && bytes >= kSystemBytesMin && !MutantIs(Mutant::kBuffersFromMalloc);
}

std::size_t RoundUp(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void* AllocateLarge(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t page = SystemPageBytes();
  if (IsFromSystem(bytes)) return TakeSystemMemory(RoundUp(bytes, page), page, /*huge_pages=*/false);
  return ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
}

void FreeLarge(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  if (IsFromSystem(bytes)) return ReturnSystemMemory(memory, RoundUp(bytes, SystemPageBytes()));
  ::operator delete (memory, std::align_val_t{alignment});
}

}  // namespace cambium
