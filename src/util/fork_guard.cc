#include "util/fork_guard.h"

#include <pthread.h>

#include <atomic>

#include "util/mutant.h"

namespace cambium {
namespace {

std::atomic<std::uint64_t> generation{0};

void AfterForkInChild() { generation.fetch_add(1, std::memory_order_relaxed); }

const bool registered = [] {
  ::pthread_atfork(nullptr, nullptr, AfterForkInChild);
  return true;
}();

}  // namespace

std::uint64_t ForkGeneration() {
  static_cast<void>(registered);
  if (MutantIs(Mutant::kForkUnnoticed)) return 0;
  return generation.load(std::memory_order_relaxed);
}

}  // namespace cambium
