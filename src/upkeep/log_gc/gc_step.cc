#include "upkeep/log_gc/gc_step.h"

#include <cassert>

namespace cambium {

void GcPick::AddFamilies() {
  assert(view != nullptr && families.empty());
  for (const FamilyView& each : view->families) {
    const OptionsInForce& options = each.family->in_force();
    families.push_back({each.family->id, options.options.comparator, each.family->equal_by, each.layers,
                        options.separate_from, options.codec});
  }
}

}  // namespace cambium
