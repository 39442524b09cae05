// ScarceMemory: memory that runs out at a place of one's choice.
//
//   for (std::uint64_t n = 0, met = 1; met != 0; ++n) {      // every allocation of the call fails once
//     ScarceMemory scarce(n);
//     try { call(); } catch (const std::bad_alloc&) {}
//     met = scarce.End();
//     ...
//   }
//
// A program that uses it has scarce_memory.cc among its sources, which replaces operator new.
#pragma once

#include <cstdint>

namespace cambium::testing {

// Of one thread: after `granted` allocations the next one throws std::bad_alloc, and `count` - 1 behind it.
class ScarceMemory {
 public:
  explicit ScarceMemory(std::uint64_t granted, std::uint64_t count = 1);
  ~ScarceMemory() { End(); }
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

  // There is memory again. How often there was none.
  std::uint64_t End();
};

}  // namespace cambium::testing
