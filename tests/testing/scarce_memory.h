// ScarceMemory: makes chosen allocations fail. AllocatedBytes: counts what a thread allocates.
//
//   for (std::uint64_t n = 0, met = 1; met != 0; ++n) {      // every allocation of the call fails once
//     ScarceMemory scarce(n);
//     try { call(); } catch (const std::bad_alloc&) {}
//     met = scarce.End();
//     ...
//   }
//
// A program that uses them must have scarce_memory.cc among its sources, which replaces operator new.
#pragma once

#include <cstdint>

#include "util/sanitizer.h"

namespace cambium::testing {

// False in builds that have an operator new of their own: those of clang with ThreadSanitizer.
#ifdef __clang__
inline constexpr bool kMemoryCanBeScarce = !kUnderThreadSanitizer;
#else
inline constexpr bool kMemoryCanBeScarce = true;
#endif
inline constexpr const char* kMemoryIsAmple =
    "SKIPPED under clang's ThreadSanitizer: its operator new cannot be replaced";

// In the calling thread, after `granted` allocations the next `count` ones throw std::bad_alloc.
class ScarceMemory {
 public:
  explicit ScarceMemory(std::uint64_t granted, std::uint64_t count = 1);
  ~ScarceMemory() { End(); }
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

  // Stops refusing allocations. Returns how many were refused.
  std::uint64_t End();
  // How many of the granted allocations were not made.
  [[nodiscard]] std::uint64_t left() const;
};

// During its life, the calling thread gets all memory, and no allocation counts. May be nested.
class AmpleMemory {
 public:
  AmpleMemory();
  ~AmpleMemory();
  AmpleMemory(const AmpleMemory&) = delete;
  AmpleMemory& operator=(const AmpleMemory&) = delete;
};

// The bytes that the calling thread has allocated since the object was made. Memory that is freed counts too.
class AllocatedBytes {
 public:
  AllocatedBytes();
  [[nodiscard]] std::uint64_t get() const;

 private:
  const std::uint64_t before_;
};

}  // namespace cambium::testing
