// Options from names and values, and "name=value;name=value" from and to them.
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

// As convenience.h has it; names are not compared with any table. InvalidArgument if it is no such text.
Result<OptionTexts> SplitOptionText(Slice text);

struct ApplyRules {
  std::span<const Comparator* const> comparators;  // known by name, beside the library's own
  bool dynamic_only = false;                       // others are InvalidArgument
  bool ignore_unknown = false;
};

// Changes options field by field; after an error some are changed. An unknown name is InvalidArgument. The result is
// not checked against ranges: see options_check.h. For DBOptions and ColumnFamilyOptions.
template <typename Struct>
Status ApplyOptionTexts(const OptionTexts& texts, const ApplyRules& rules, Struct* options);

// Text without space around it.
[[nodiscard]] Slice Trimmed(Slice text);

}  // namespace cambium
