// FilterCall: one call of CompactRange in a family with a compaction filter. While it lives, all compactions of the
// family note what they ask the filter about (see filtered_part.h), so that each value is asked about once.
#pragma once

#include <memory>
#include <utility>

#include "state/db_state.h"

namespace cambium {

class FilterCall {
 public:
  FilterCall(DbState* state, std::shared_ptr<Family> family) : state_(*state), family_(std::move(family)) {}
  ~FilterCall();
  FilterCall(const FilterCall&) = delete;
  FilterCall& operator=(const FilterCall&) = delete;

  // Waits until an earlier call in the family has ended, because each call asks the filter about every value. Makes the
  // compaction step that is under way end without a commit: this call asks again about the values of that step, so a
  // commit of the step would apply the filter twice.
  Status Begin() CAMBIUM_EXCLUDES_ROLES;

 private:
  DbState& state_;
  const std::shared_ptr<Family> family_;
  bool has_claim_ = false;
};

}  // namespace cambium
