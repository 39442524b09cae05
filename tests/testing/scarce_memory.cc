#include "testing/scarce_memory.h"

#include <cstdlib>
#include <new>

namespace {

struct Scarcity {
  bool on = false;
  std::uint64_t granted = 0;
  std::uint64_t count = 0;
  std::uint64_t refused = 0;
  int pauses = 0;
};
thread_local constinit Scarcity scarcity;
thread_local constinit std::uint64_t allocated_bytes = 0;

}  // namespace

#ifdef __clang__
#if __has_feature(thread_sanitizer)
#define CAMBIUM_OPERATOR_NEW_IS_TAKEN  // as kMemoryCanBeScarce says
#endif
#endif
#ifndef CAMBIUM_OPERATOR_NEW_IS_TAKEN
void* operator new(std::size_t size) {
  if (scarcity.on && scarcity.pauses == 0) {
    if (scarcity.granted > 0) {
      --scarcity.granted;
    } else if (scarcity.refused < scarcity.count) {
      ++scarcity.refused;
      throw std::bad_alloc();
    }
  }
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  allocated_bytes += size;
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
// std::stable_sort allocates with these operators. Our operator delete frees the memory, so our operator new must have
// allocated it: AddressSanitizer compares the two.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace cambium::testing {

ScarceMemory::ScarceMemory(std::uint64_t granted, std::uint64_t count) { scarcity = {true, granted, count, 0, 0}; }

std::uint64_t ScarceMemory::End() {
  scarcity.on = false;
  return scarcity.refused;
}

std::uint64_t ScarceMemory::left() const { return scarcity.granted; }

AmpleMemory::AmpleMemory() { ++scarcity.pauses; }
AmpleMemory::~AmpleMemory() { --scarcity.pauses; }

AllocatedBytes::AllocatedBytes() : before_(allocated_bytes) {}

std::uint64_t AllocatedBytes::get() const { return allocated_bytes - before_; }

}  // namespace cambium::testing
