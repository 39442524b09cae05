// RandomSource: random bytes for identifiers that must not repeat.
#pragma once

#include <cstddef>
#include <memory>

namespace cambium {

// Any thread may call it. The default one asks the kernel; tests use one with a seed.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  static std::shared_ptr<RandomSource> Default();
  virtual void Fill(char* out, std::size_t n) = 0;
};

}  // namespace cambium
