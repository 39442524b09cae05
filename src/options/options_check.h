// Options as a caller gave them, checked against their ranges.
#pragma once

#include <string>

#include "cambium/options.h"
#include "cambium/status.h"

namespace cambium {

// InvalidArgument naming the option, its value and what is legal; NotSupported for what this version does not have.
Status CheckDbOptions(const DBOptions& options);
Status CheckColumnFamilyOptions(const ColumnFamilyOptions& options);
Status CheckOptions(const Options& options);  // both
Status CheckFamilyName(const std::string& name);

// Null surroundings replaced by the library's own, 0 by the defaults they stand for. `executor` and `info_log` are left
// to Open, which alone knows threads and directory.
[[nodiscard]] DBOptions FillInDefaults(const DBOptions& options);

// The value size from which a value is separated under these options: min_blob_size, unless values of a quarter of a
// page unit come first. At least 1: an empty value is never separated.
[[nodiscard]] std::uint64_t SeparateFrom(const ColumnFamilyOptions& options, std::uint64_t page_size);

}  // namespace cambium
