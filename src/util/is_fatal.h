// IsFatal: returns whether an error ends all writing.
#pragma once

#include "cambium/status.h"

namespace cambium {

[[nodiscard]] inline bool IsFatal(const Status& s) { return s.severity() == Status::Severity::kFatal; }

}  // namespace cambium
