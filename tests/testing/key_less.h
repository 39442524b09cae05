// KeyLess: a comparator as the order of a std::map.
#pragma once

#include <string>

#include "cambium/comparator.h"

namespace cambium::testing {

struct KeyLess {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
};

}  // namespace cambium::testing
