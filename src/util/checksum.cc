#include "util/checksum.h"

#if CAMBIUM_HAS_XXH_DISPATCH
#include <xxh_x86dispatch.h>  // redefines the XXH3 names to pick the best version for this CPU
#else
#include <xxhash.h>
#endif

#include <new>

namespace cambium {

#ifndef CAMBIUM_TEST_HOOKS
static_assert(!MutantIs(Mutant::kEveryChecksumMatches), "only a test build can ignore checksums");
#endif

std::uint64_t Checksum64(Slice bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct Checksum64Stream::State {
  struct Free {
    void operator()(XXH3_state_t* s) const { XXH3_freeState(s); }
  };
  std::unique_ptr<XXH3_state_t, Free> xxh3{XXH3_createState()};
};

Checksum64Stream::Checksum64Stream(std::uint64_t seed) : state_(std::make_unique<State>()) {
  if (state_->xxh3 == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset_withSeed(state_->xxh3.get(), seed);
}
Checksum64Stream::~Checksum64Stream() = default;

void Checksum64Stream::Update(Slice bytes) { XXH3_64bits_update(state_->xxh3.get(), bytes.data(), bytes.size()); }
std::uint64_t Checksum64Stream::Digest() const { return XXH3_64bits_digest(state_->xxh3.get()); }

}  // namespace cambium
