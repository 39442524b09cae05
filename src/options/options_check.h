// Checks options that a caller passes, and fills in defaults.
#pragma once

#include <string>

#include "cambium/options.h"
#include "cambium/status.h"

namespace cambium {

// InvalidArgument if a value is not legal; the message has the option, its value and the legal values. NotSupported if
// this version does not have what the value asks for.
Status CheckDbOptions(const DBOptions& options);
Status CheckColumnFamilyOptions(const ColumnFamilyOptions& options);
Status CheckOptions(const Options& options);  // both
// InvalidArgument if the family may have values in its index for which this ceiling (max_space_amplification) would not
// hold.
Status CheckCeiling(double ceiling, const ColumnFamilyOptions& options);
Status CheckFamilyName(const std::string& name);

// Returns the options with defaults in place of null objects and of zeros that stand for a default. Open sets
// `executor` and `info_log`, since it alone knows the threads and the directory.
[[nodiscard]] DBOptions FillInDefaults(const DBOptions& options);

// Whether compactions of a family with these options ask a filter.
[[nodiscard]] inline bool HasFilter(const ColumnFamilyOptions& options) {
  return options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
}

// Returns the size from which these options separate a value: min_blob_size, but no more than a quarter of `page_size`
// plus one byte. At least 1: an empty value is never separated.
[[nodiscard]] std::uint64_t SeparateFrom(const ColumnFamilyOptions& options, std::uint64_t page_size);

}  // namespace cambium
