// SimRandomSource: identifiers that depend only on the seed, so that a run is repeatable.
#pragma once

#include "cambium/random.h"
#include "util/mutex.h"
#include "util/prng.h"

namespace cambium {

// Any thread may call Fill.
class SimRandomSource final : public RandomSource {
 public:
  explicit SimRandomSource(std::uint64_t seed) : prng_(seed) {}

  void Fill(char* out, std::size_t n) override {
    const MutexLock guard(mutex_);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<char>(prng_.Next() >> 56);
  }

 private:
  Mutex mutex_;
  Prng prng_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
