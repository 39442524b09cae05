#include "util/mutant.h"

namespace cambium {

const char* MutantName(Mutant m) {
  switch (m) {
#define CAMBIUM_MUTANT(name, rule) \
  case Mutant::name: return #name;
#include "util/mutants.def"
#undef CAMBIUM_MUTANT
    default: return "kNone";
  }
}

const char* MutantRule(Mutant m) {
  switch (m) {
#define CAMBIUM_MUTANT(name, rule) \
  case Mutant::name: return rule;
#include "util/mutants.def"
#undef CAMBIUM_MUTANT
    default: return "";
  }
}

}  // namespace cambium
