// Mutants: one known defect each, switched on by a test to show that some test sees the rule behind it broken.
// A rule whose mutant nobody catches is not tested. Without CAMBIUM_TEST_HOOKS the whole of this is constant false.
//
//   if (!MutantIs(Mutant::kSkipDirectorySync)) CAMBIUM_RETURN_IF_ERROR(fs->SyncDirectory(path));
#pragma once

#include <atomic>

namespace cambium {

// Names say what the defective build does. The comment names the rule or hazard; docs/TESTING.md lists them all.
enum class Mutant : int {
  kNone = 0,
#define CAMBIUM_MUTANT(name, rule) name,
#include "util/mutants.def"
#undef CAMBIUM_MUTANT
  kCount
};

#ifdef CAMBIUM_TEST_HOOKS
inline std::atomic<Mutant> active_mutant{Mutant::kNone};
[[nodiscard]] inline bool MutantIs(Mutant m) { return active_mutant.load(std::memory_order_relaxed) == m; }
#else
[[nodiscard]] constexpr bool MutantIs(Mutant) { return false; }
#endif

// "kSkipDirectorySync" and "H17".
[[nodiscard]] const char* MutantName(Mutant m);
[[nodiscard]] const char* MutantRule(Mutant m);

}  // namespace cambium
