// The options of the column family of prepared transactions. It exists from the first Prepare on, and every Open opens
// it, named or not.
#pragma once

#include "cambium/comparator.h"
#include "cambium/options.h"

namespace cambium {

// `options`: those of the default family. The order is bytewise, and nothing filters the entries.
[[nodiscard]] inline ColumnFamilyOptions OptionsOfPreparedFamily(ColumnFamilyOptions options) {
  options.comparator = BytewiseComparator();
  options.compaction_filter = nullptr;
  options.compaction_filter_factory = nullptr;
  return options;
}

}  // namespace cambium
