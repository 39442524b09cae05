// Mutants: each is one known defect, the absence of a rule. A test switches it on to show that a test fails without the
// rule; otherwise the rule is not tested. Without CAMBIUM_TEST_HOOKS MutantIs is constant false.
//
//   if (!MutantIs(Mutant::kSkipDirectorySync)) CAMBIUM_RETURN_IF_ERROR(fs->SyncDirectory(path));
#pragma once

#include <atomic>

namespace cambium {

// A name says what the defective build does. Its string has the names of the rules that are switched off, as
// docs/TESTING.md lists them.
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

// Return, for example, "kSkipDirectorySync" and "H17".
[[nodiscard]] const char* MutantName(Mutant m);
[[nodiscard]] const char* MutantRule(Mutant m);

}  // namespace cambium
