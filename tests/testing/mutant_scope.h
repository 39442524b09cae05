// MutantScope: switches one mutant on for its own lifetime.
#pragma once

#include "util/mutant.h"

namespace cambium::testing {

class MutantScope {
 public:
  explicit MutantScope(Mutant m) { active_mutant.store(m); }
  ~MutantScope() { active_mutant.store(Mutant::kNone); }
  MutantScope(const MutantScope&) = delete;
  MutantScope& operator=(const MutantScope&) = delete;
};

}  // namespace cambium::testing
