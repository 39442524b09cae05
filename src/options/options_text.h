// Parses "name=value;name=value", and applies named values to options.
#pragma once

#include <map>
#include <span>
#include <string>

#include "options/option_table.h"
#include "cambium/options.h"
#include "cambium/slice.h"
#include "util/result.h"

namespace cambium {

using OptionTexts = std::map<std::string, std::string>;  // by name

// Splits text of the syntax in convenience.h. Does not check the names. InvalidArgument if the syntax is wrong or a
// name is given twice.
Result<OptionTexts> SplitOptionText(Slice text);

struct ApplyRules {
  std::span<const Comparator* const> comparators;  // found by name, in addition to the library's own
  bool dynamic_only = false;                       // an option that is fixed while open is InvalidArgument
  bool ignore_unknown = false;
};

// Sets the named options one by one; an error leaves the earlier ones changed. An unknown name is InvalidArgument
// unless the rules ignore it. Does not check ranges: see options_check.h. Struct is DBOptions or ColumnFamilyOptions.
template <typename Struct>
Status ApplyOptionTexts(const OptionTexts& texts, const ApplyRules& rules, Struct* options);

// Returns the text without white space at its ends.
[[nodiscard]] Slice Trimmed(Slice text);

}  // namespace cambium
