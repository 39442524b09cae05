// Comparators like those that users write.
#pragma once

#include <string>

#include "cambium/comparator.h"

namespace cambium::testing {

// Upper and lower case letters are equal, so keys with different bytes may be the same key.
[[nodiscard]] const Comparator* CaseFoldingComparator();
// Shorter keys first. Different bytes are different keys, but no byte order may be assumed.
[[nodiscard]] const Comparator* LengthFirstComparator();

// Returns the same bytes for all keys that compare equal.
[[nodiscard]] std::string CanonicalKey(const Comparator* comparator, Slice key);

}  // namespace cambium::testing
